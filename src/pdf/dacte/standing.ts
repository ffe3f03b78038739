import type { Situation } from '../situation.js';
import { authorizationNotice, cancellationNotices, fateOf, type Standing } from '../standing.js';
import type { Cte } from './cte.js';

/** cStat of protocols: CT-e were denied up to layout 3.00. */
const DENIED: ReadonlySet<string> = new Set(['110', '205', '301', '302', '303', '304', '305', '306']);

/** tpEmis other than the normal one. */
const CONTINGENCIES: ReadonlyMap<string, string> = new Map([
  ['3', 'EMITIDO EM REGIME ESPECIAL DA NOTA FISCAL FÁCIL'],
  ['4', 'EMITIDO EM CONTINGÊNCIA (EPEC)'],
  ['5', 'EMITIDO EM CONTINGÊNCIA (FS-DA)'],
  ['7', 'EMITIDO EM CONTINGÊNCIA (SVC-RS)'],
  ['8', 'EMITIDO EM CONTINGÊNCIA (SVC-SP)'],
]);

/** What the form has to warn of: cancelled, denied, replaced, a test. */
export function standingOf(cte: Cte, situation: Situation): Standing {
  const fate = fateOf(cte.protocol.status, DENIED, situation);
  const { cancelled, denied, unauthorized, protocolLabel } = fate;
  const replaced = !cancelled && !denied && situation.state === 'replaced';
  return {
    watermarks: [
      cancelled ? 'CANCELADO' : denied ? 'DENEGADO' : replaced ? 'SUBSTITUÍDO' : '',
      cte.isTest || unauthorized ? 'SEM VALOR FISCAL' : '',
    ].filter((text) => text !== ''),
    notices: [
      // The manual's own words, for the middle of the protocol's box.
      cte.isTest ? 'EMITIDO EM AMBIENTE DE HOMOLOGAÇÃO – SEM VALOR FISCAL' : '',
      ...(cancelled ? cancellationNotices('CONHECIMENTO CANCELADO', situation) : []),
      denied ? 'USO DENEGADO - SEM VALOR FISCAL' : '',
      replaced ? 'CT-e SUBSTITUÍDO POR OUTRO' : '',
      authorizationNotice(CONTINGENCIES.get(cte.emission) ?? '', fate),
    ].filter((text) => text !== ''),
    protocolLabel,
  };
}
