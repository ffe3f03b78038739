import type { NfeAuthority } from '../../model/manifestation.js';
import type { EventDialect } from '../events/dialect.js';
import { eventStatusText, writeEventsAnswer } from './answer.js';
import { judgeEvent, ORGAN } from './judge.js';
import { readEvents } from './request.js';

const WSDL = 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4';

/** What brings the recipient the whole note (nfe-cte.md 1a). */
export const RELEASES: ReadonlySet<string> = new Set(['210200', '210210', '210240']);

/** What tells the two services from each other. */
const SITES = {
  an: {
    name: 'nfe-event',
    path: '/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx',
    wrapper: 'nfeRecepcaoEventoNFResult',
    most: 20,
    protocols: '891',
  },
  svrs: {
    name: 'nfe-event-svrs',
    path: '/ws/recepcaoevento/recepcaoevento4.asmx',
    wrapper: 'nfeResultMsg',
    most: 1,
    protocols: '143',
  },
} as const;

/** NFeRecepcaoEvento4 of the national environment, or of SVRS: NT 2020.001 and NT 2025.002, layout 1.00. */
export function nfeEvents(authority: NfeAuthority): EventDialect {
  const { name, path, wrapper, most, protocols } = SITES[authority];
  return {
    name,
    path,
    documentType: 'nfe',
    kind: 'nfeRecepcaoEvento',
    operation: {
      namespace: WSDL,
      action: `${WSDL}/nfeRecepcaoEventoNF`,
      // No wrapper of the operation, unlike in distribution.
      path: ['nfeDadosMsg'],
    },
    root: 'envEvento',
    most,
    registered: new Set(['135', '136', '155']),
    misuse: '656',
    read: readEvents,
    judge: (event, now) => judgeEvent(authority, event, now),
    text: eventStatusText,
    protocolPrefix: () => protocols,
    write: (answer) => writeEventsAnswer(wrapper, ORGAN[authority], answer),
  };
}
