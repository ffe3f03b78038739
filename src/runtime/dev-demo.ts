import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { DOCUMENT_TYPES, type DocumentType } from '../model/words.js';
import type { Simulator } from '../simulator/index.js';
import type { CaptureRow } from '../storage/capture-rows.js';
import type { DataFolder } from './data-folder.js';
import type { DevApi } from './dev-api.js';

/** A company of the demonstration. Names and numbers are made up; the check digits are right. */
export interface DemoCompany {
  readonly taxId: string;
  readonly name: string;
  readonly uf: 'SP' | 'MG' | 'PR';
  /** Part of the backlog option that waits for it at the government. */
  readonly share: number;
}

const DEMO_COMPANIES: readonly DemoCompany[] = [
  { taxId: '11222333000181', name: 'Padaria Aurora Ltda', uf: 'SP', share: 1 },
  // Letters in a CNPJ are legal since July 2026.
  { taxId: '12ABC34501DE35', name: 'Oficina Ipê Ltda', uf: 'MG', share: 1 },
  // A farmer: captured by CPF.
  { taxId: '12345678909', name: 'Joana Prado', uf: 'PR', share: 0.5 },
];

const ENVIRONMENT = 'homologation';

/** For one NF-e that waits: most companies get fewer of the others. */
const SHARES: Readonly<Record<DocumentType, number>> = { nfe: 1, cte: 0.5, nfse: 0.25 };
/** The simulator keeps every NFS-e in memory. */
const MOST_NFSE = 10_000;
const CANCELLED_NFSE = { eventsEvery: 7 };

/** Puts the demo companies and their backlog of each document type into the simulated government, unless it remembers them. */
export function fillSimulator(simulator: Simulator, backlog: number): void {
  const known = new Set(
    [...simulator.companies.list(), ...simulator.nfse.list()].map((at) => `${at.documentType} ${at.taxId}`),
  );
  for (const { taxId, name, uf, share } of DEMO_COMPANIES) {
    const who = { taxId, environment: ENVIRONMENT } as const;
    for (const documentType of DOCUMENT_TYPES) {
      if (known.has(`${documentType} ${taxId}`)) continue;
      const waiting = Math.ceil(backlog * share * SHARES[documentType]);
      if (documentType === 'nfse') {
        simulator.nfse.add({ ...who, backlog: Math.min(waiting, MOST_NFSE), spreadDays: 60, ...CANCELLED_NFSE });
      } else simulator.companies.add({ ...who, documentType, name, uf, backlog: waiting });
    }
  }
}

/** Companies, certificates and captures through the API, as a customer would. Gives the companies by their ids. */
export async function registerCompanies(api: DevApi, simulator: Simulator): Promise<Map<string, DemoCompany>> {
  const byId = new Map<string, DemoCompany>();
  for (const company of DEMO_COMPANIES) {
    const { taxId, name, uf } = company;
    const id = await api.company({ taxId, name, uf });
    if (!(await api.hasCertificate(id))) {
      const password = 'malote';
      const { pfx } = simulator.issueA1({ taxId, name, password });
      await api.storeCertificate(id, pfx, password);
    }
    for (const documentType of DOCUMENT_TYPES) await api.capture(id, documentType);
    byId.set(id, company);
  }
  return byId;
}

/** The endpoint of the built-in receiver, whose secret is kept in the data folder. */
export class DemoEndpoint {
  readonly #file: string;
  secret: string | null;
  #id: string | null;

  constructor(folder: DataFolder) {
    this.#file = folder.in('receiver.json');
    const kept = existsSync(this.#file)
      ? (JSON.parse(readFileSync(this.#file, 'utf8')) as { id: string; secret: string })
      : null;
    this.secret = kept?.secret ?? null;
    this.#id = kept?.id ?? null;
  }

  /** Makes the endpoint, or tells it that the receiver has another port today. */
  async announce(api: DevApi, url: string): Promise<void> {
    if (this.#id !== null && (await api.moveEndpoint(this.#id, url))) return;
    const made = await api.makeEndpoint(url);
    writeFileSync(this.#file, JSON.stringify(made), { mode: 0o600 });
    this.#id = made.id;
    this.secret = made.secret;
  }
}

/** True when everything that the government has for every demo company, of every document type, is stored, and nothing is being asked. */
export function allDrained(
  simulator: Simulator,
  companies: ReadonlyMap<string, DemoCompany>,
  captures: readonly CaptureRow[],
): boolean {
  const demo = captures.filter(({ environment }) => environment === ENVIRONMENT);
  return (
    demo.length === companies.size * DOCUMENT_TYPES.length &&
    demo.every(({ companyId, documentType, ultNsu, phase }) => {
      const company = companies.get(companyId);
      if (company === undefined) return false;
      const who = { taxId: company.taxId, environment: ENVIRONMENT } as const;
      const { maxNsu } =
        documentType === 'nfse' ? simulator.nfse.get(who) : simulator.companies.get({ ...who, documentType });
      return ultNsu === maxNsu && phase === 'waiting';
    })
  );
}

/** Lets a few documents arrive now and then, so that one sees them flow. Returns a function that ends it. */
export function startArrivals(simulator: Simulator, everyMs: number): () => void {
  const timer = setInterval(() => {
    const company = oneOf(DEMO_COMPANIES);
    const documentType = oneOf(DOCUMENT_TYPES);
    if (company === undefined || documentType === undefined) return;
    const arriving = {
      taxId: company.taxId,
      environment: ENVIRONMENT,
      count: 1 + Math.floor(Math.random() * 3),
    } as const;
    if (documentType === 'nfse') simulator.nfse.arrive(arriving);
    else simulator.companies.arrive({ ...arriving, documentType });
  }, everyMs);
  return () => clearInterval(timer);
}

const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];
