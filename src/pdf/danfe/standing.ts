import type { Situation } from '../situation.js';
import { authorizationNotice, cancellationNotices, fateOf, type Standing } from '../standing.js';
import type { Note } from './note.js';

/** cStat of protocols (contract 5.5). */
const DENIED: ReadonlySet<string> = new Set(['110', '205', '301', '302', '303']);

/** tpEmis other than the normal one. SVC (6 and 7) is another server of the government, and the note as good as any. */
const CONTINGENCIES: ReadonlyMap<string, string> = new Map([
  ['2', 'EMITIDA EM CONTINGÊNCIA (FS-IA)'],
  ['3', 'EMITIDA EM CONTINGÊNCIA (SCAN)'],
  ['4', 'EMITIDA EM CONTINGÊNCIA (EPEC)'],
  ['5', 'EMITIDA EM CONTINGÊNCIA (FS-DA)'],
  ['6', 'EMITIDA EM CONTINGÊNCIA (SVC-AN)'],
  ['7', 'EMITIDA EM CONTINGÊNCIA (SVC-RS)'],
  ['9', 'EMITIDA EM CONTINGÊNCIA'],
]);

/** What the form has to warn of: cancelled, denied, contingency, a test. */
export function standingOf(note: Note, situation: Situation): Standing {
  const fate = fateOf(note.protocol.status, DENIED, situation);
  const { cancelled, denied, unauthorized, protocolLabel } = fate;
  return {
    watermarks: [
      cancelled ? 'CANCELADA' : denied ? 'DENEGADA' : '',
      note.isTest || unauthorized ? 'SEM VALOR FISCAL' : '',
    ].filter((text) => text !== ''),
    notices: [
      ...(cancelled ? cancellationNotices('NOTA FISCAL CANCELADA', situation) : []),
      denied ? 'USO DENEGADO - SEM VALOR FISCAL' : '',
      note.isTest ? 'EMITIDA EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL' : '',
      authorizationNotice(CONTINGENCIES.get(note.emission) ?? '', fate),
    ].filter((text) => text !== ''),
    protocolLabel,
  };
}
