import type { Manners } from '../rules/state.js';
import type { SoapOperation } from '../soap/envelope.js';

/** The document types that have a simulated distribution service. */
export const SIMULATED_TYPES = ['nfe', 'cte'] as const;
export type SimulatedType = (typeof SIMULATED_TYPES)[number];

/** What tells one distribution service from another. */
export interface Dialect {
  readonly documentType: SimulatedType;
  /** In the journal. */
  readonly name: string;
  readonly path: string;
  readonly operation: SoapOperation;
  /** Namespace and version of the request and of the answer. */
  readonly namespace: string;
  readonly version: string;
  /** The schema demands cUFAutor. */
  readonly demandsUf: boolean;
  /** Can be asked by access key. */
  readonly byKey: boolean;
  /** dhResp has its offset from UTC. */
  readonly timesHaveOffset: boolean;
  /** A 656 on distNSU tells the pointer. */
  readonly refusalTellsPointer: boolean;
  readonly manners: Manners;
}

function operation(namespace: string, name: string, data: string): SoapOperation {
  return { namespace, action: `${namespace}/${name}`, path: [name, data] };
}

/** NFeDistribuicaoDFe of the national environment: NT 2014.002, layout 1.01. */
export const NFE: Dialect = {
  documentType: 'nfe',
  name: 'nfe-distribution',
  path: '/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
  operation: operation(
    'http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe',
    'nfeDistDFeInteresse',
    'nfeDadosMsg',
  ),
  namespace: 'http://www.portalfiscal.inf.br/nfe',
  version: '1.01',
  demandsUf: false,
  byKey: true,
  timesHaveOffset: true,
  refusalTellsPointer: true,
  manners: { demandsPointer: true, blocksTogether: true },
};

/**
 * CTeDistribuicaoDFe: NT 2015.002 v1.05, layout 1.00. It counts for itself; its refusals tell no pointer, so it cannot demand that one goes
 * on from it; and misuse of one kind of query does not block the other.
 */
export const CTE: Dialect = {
  documentType: 'cte',
  name: 'cte-distribution',
  path: '/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
  operation: operation(
    'http://www.portalfiscal.inf.br/cte/wsdl/CTeDistribuicaoDFe',
    'cteDistDFeInteresse',
    'cteDadosMsg',
  ),
  namespace: 'http://www.portalfiscal.inf.br/cte',
  version: '1.00',
  demandsUf: true,
  byKey: false,
  timesHaveOffset: false,
  refusalTellsPointer: false,
  manners: { demandsPointer: false, blocksTogether: false },
};
