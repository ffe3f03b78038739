import { joined } from '../kit/formats.js';
import type { Situation } from '../situation.js';
import { cancellationNotices, type Standing } from '../standing.js';
import type { Cte } from './cte.js';

/** cStat of protocols: CT-e were denied up to layout 3.00. */
const DENIED: ReadonlySet<string> = new Set(['110', '205', '301', '302', '303', '304', '305', '306']);
/** Some services once put the cancellation into the document's own protocol. */
const CANCELLED: ReadonlySet<string> = new Set(['101', '151', '155']);

/** tpEmis other than the normal one. */
const CONTINGENCIES: ReadonlyMap<string, string> = new Map([
  ['3', 'EMITIDO EM REGIME ESPECIAL DA NOTA FISCAL FÁCIL'],
  ['4', 'EMITIDO EM CONTINGÊNCIA (EPEC)'],
  ['5', 'EMITIDO EM CONTINGÊNCIA (FS-DA)'],
  ['7', 'EMITIDO EM CONTINGÊNCIA (SVC-RS)'],
  ['8', 'EMITIDO EM CONTINGÊNCIA (SVC-SP)'],
]);

export function standingOf(cte: Cte, situation: Situation): Standing {
  const { status } = cte.protocol;
  const cancelled = situation.state === 'cancelled' || CANCELLED.has(status);
  const denied = !cancelled && (situation.state === 'denied' || DENIED.has(status));
  const replaced = !cancelled && !denied && situation.state === 'replaced';
  const unauthorized = status === '' && !cancelled && !denied;
  const contingency = CONTINGENCIES.get(cte.emission) ?? '';
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
      unauthorized
        ? joined([contingency, contingency === '' ? 'SEM PROTOCOLO DE AUTORIZAÇÃO' : 'PENDENTE DE AUTORIZAÇÃO'], ' - ')
        : contingency,
    ].filter((text) => text !== ''),
    protocolLabel: CANCELLED.has(status)
      ? 'PROTOCOLO DE HOMOLOGAÇÃO DE CANCELAMENTO'
      : denied
        ? 'PROTOCOLO DE DENEGAÇÃO DE USO'
        : 'PROTOCOLO DE AUTORIZAÇÃO DE USO',
  };
}
