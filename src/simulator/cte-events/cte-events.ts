import { type Uf, ufCode } from '../../documents/uf.js';
import type { EventDialect } from '../events/dialect.js';
import { cteEventText, writeCteEventAnswer } from './answer.js';
import { judgeCteEvent } from './judge.js';
import { readCteEvent } from './request.js';

const WSDL = 'http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4';

/** Who authorizes the CT-e of which UFs, and therefore takes the events about them (nfe-cte.md 1b). */
const AUTHORIZERS = {
  svrs: [
    'AC',
    'AL',
    'AM',
    'BA',
    'CE',
    'DF',
    'ES',
    'GO',
    'MA',
    'PA',
    'PB',
    'PI',
    'RJ',
    'RN',
    'RO',
    'RS',
    'SC',
    'SE',
    'TO',
  ],
  sp: ['SP', 'AP', 'PE', 'RR'],
  mg: ['MG'],
  ms: ['MS'],
  mt: ['MT'],
  pr: ['PR'],
} as const satisfies Record<string, readonly Uf[]>;
type Authorizer = keyof typeof AUTHORIZERS;

/** One address for all UFs: what an endpoints file names. */
export const CTE_EVENT_PATH = '/ws/CTeRecepcaoEventoV4/CTeRecepcaoEventoV4.asmx';

/** CTeRecepcaoEventoV4 of every authorizer, under the address for all of them and each under its own. */
export function cteEvents(): EventDialect[] {
  const each = (Object.keys(AUTHORIZERS) as Authorizer[]).map((authorizer) => {
    const ufs: ReadonlySet<string> = new Set(AUTHORIZERS[authorizer].map(ufCode));
    return dialect(`/cte/${authorizer}/CTeRecepcaoEventoV4`, ufs);
  });
  return [dialect(CTE_EVENT_PATH, null), ...each];
}

function dialect(path: string, ufs: ReadonlySet<string> | null): EventDialect {
  return {
    name: 'cte-event',
    path,
    documentType: 'cte',
    kind: 'cteRecepcaoEvento',
    operation: { namespace: WSDL, action: `${WSDL}/cteRecepcaoEvento`, path: ['cteDadosMsg'] },
    root: 'eventoCTe',
    most: 1,
    registered: new Set(['134', '135', '136']),
    misuse: '678',
    read: readCteEvent,
    judge: (event, now) => judgeCteEvent(ufs, event, now),
    text: cteEventText,
    protocolPrefix: ({ organ }) => `1${organ}`,
    write: writeCteEventAnswer,
  };
}
