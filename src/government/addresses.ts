import { z } from 'zod';
import type { Environment } from '../model/words.js';

/** Addresses of one environment, by service. A service without a built-in address is only there when the endpoints file names it. */
export interface ServiceAddresses {
  readonly nfeDistribution: string;
  readonly nfeEvent: string;
  /** Tax Reform events. */
  readonly nfeEventSvrs: string;
  readonly cteDistribution: string;
  /** Events of CT-e; only from an endpoints file: one address for every UF. Else see {@link cteEventAddress}. */
  readonly cteEvent?: string;
  /** NFS-e: distribution, and the events of a note. */
  readonly adn: string;
  /** NFS-e: notes by key, registration of events. */
  readonly sefin: string;
}

/** Where the government is, by environment. */
export type GovernmentAddresses = Readonly<Record<Environment, ServiceAddresses>>;

/** The government's own (nfe-cte.md 1a, 1b, 1c, 1d; nfse.md 1.1, 2.1). */
const BUILT_IN: GovernmentAddresses = {
  production: {
    nfeDistribution: 'https://www1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
    nfeEvent: 'https://www.nfe.fazenda.gov.br/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx',
    nfeEventSvrs: 'https://nfe.svrs.rs.gov.br/ws/recepcaoevento/recepcaoevento4.asmx',
    cteDistribution: 'https://www1.cte.fazenda.gov.br/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
    adn: 'https://adn.nfse.gov.br/contribuintes',
    sefin: 'https://sefin.nfse.gov.br/SefinNacional',
  },
  homologation: {
    nfeDistribution: 'https://hom1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
    nfeEvent: 'https://hom1.nfe.fazenda.gov.br/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx',
    nfeEventSvrs: 'https://nfe-homologacao.svrs.rs.gov.br/ws/recepcaoevento/recepcaoevento4.asmx',
    cteDistribution: 'https://hom1.cte.fazenda.gov.br/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
    adn: 'https://adn.producaorestrita.nfse.gov.br/contribuintes',
    sefin: 'https://sefin.producaorestrita.nfse.gov.br/SefinNacional',
  },
};

const address = z.url({ protocol: /^https$/, error: 'must be an https:// address' }).optional();
const services = z.strictObject({
  nfeDistribution: address,
  nfeEvent: address,
  nfeEventSvrs: address,
  cteDistribution: address,
  cteEvent: address,
  adn: address,
  sefin: address,
});
const endpointsFile = z.strictObject({ production: services.optional(), homologation: services.optional() });

/** MALOTE_ENDPOINTS_FILE cannot be used. Names every fault and where it is. */
export class InvalidEndpointsFile extends Error {
  override readonly name = 'InvalidEndpointsFile';
}

/**
 * The addresses to use: the government's, with those of an endpoints file over them (JSON, design.md section 9).
 *
 * @param file content of MALOTE_ENDPOINTS_FILE; null: there is none
 * @throws {InvalidEndpointsFile}
 */
export function governmentAddresses(file: string | null): GovernmentAddresses {
  const given = file === null ? {} : parseFile(file);
  return { production: merged('production', given), homologation: merged('homologation', given) };
}

function merged(environment: Environment, given: z.infer<typeof endpointsFile>): ServiceAddresses {
  const named = Object.entries(given[environment] ?? {}).filter(([, url]) => url !== undefined);
  return { ...BUILT_IN[environment], ...Object.fromEntries(named) };
}

function parseFile(file: string): z.infer<typeof endpointsFile> {
  let json: unknown;
  try {
    json = JSON.parse(file);
  } catch {
    throw new InvalidEndpointsFile('MALOTE_ENDPOINTS_FILE is not JSON.');
  }
  const parsed = endpointsFile.safeParse(json);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`);
  throw new InvalidEndpointsFile(`MALOTE_ENDPOINTS_FILE cannot be used. ${faults.join('; ')}`);
}

/** Whether an address is a real government service: then no waiting time may be shortened. Every one of them is under gov.br. */
export function isGovernmentHost(url: string): boolean {
  return /(^|\.)gov\.br\.?$/.test(new URL(url).hostname);
}
