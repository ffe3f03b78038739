import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';

/**
 * What the official schemas say of a request of events (`envEvento`, `eventoCTe`): of the whole, and of each detEvento, which the first
 * skips. Undefined where the schemas are not there.
 *
 * @returns a function for `SimulatorOptions.inspectEvents`
 */
export function eventSchemas(): ((request: string) => string | null) | undefined {
  if (NO_SCHEMAS !== undefined) return undefined;
  const nfe = nfeSchemas();
  const cte = cteSchemas();
  return (request) => (request.startsWith('<eventoCTe') ? cte : nfe)(request);
}

function cteSchemas(): (eventoCTe: string) => string | null {
  const whole = schemaOf('cte/eventoCTe_v4.00.xsd');
  const disagreement = schemaOf('cte/evPrestDesacordo_v4.00.xsd');
  const cancellation = schemaOf('cte/evCancPrestDesacordo_v4.00.xsd');
  return (eventoCTe) => {
    const fault = whole(eventoCTe);
    if (fault !== null) return fault;
    const details = /<detEvento[^>]*>([\s\S]*)<\/detEvento>/.exec(eventoCTe)?.[1] ?? '';
    const schema = details.startsWith('<evPrestDesacordo') ? disagreement : cancellation;
    return schema(details.replace(/^<\w+/, '$& xmlns="http://www.portalfiscal.inf.br/cte"'));
  };
}

function nfeSchemas(): (envEvento: string) => string | null {
  const whole = schemaOf('nfe/envEvento_v1.00.xsd');
  const ofType = new Map<string, (xml: string) => string | null>();
  return (envEvento) => {
    const fault = whole(envEvento);
    if (fault !== null) return fault;
    for (const event of envEvento.match(/<evento[\s>][\s\S]*?<\/evento>/g) ?? []) {
      const type = /<tpEvento>(\d{6})/.exec(event)?.[1] ?? '';
      const details = /<detEvento[\s\S]*<\/detEvento>/.exec(event)?.[0] ?? '';
      // NT 2025.002 v1.40 has this group; the published schema has its predecessor.
      if (details.includes('<gCredPresOper')) continue;
      const schema = ofType.get(type) ?? schemaOf(`nfe/e${type}_v1.00.xsd`);
      ofType.set(type, schema);
      const own = schema(details.replace('<detEvento', '<detEvento xmlns="http://www.portalfiscal.inf.br/nfe"'));
      if (own !== null) return `${type}: ${own}`;
    }
    return null;
  };
}
