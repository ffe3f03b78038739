import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Puts the demo companies and their backlog into the simulated government, unless it remembers them. */
export function fillSimulator(simulator: Simulator, backlog: number): void {
  const known = new Set(simulator.companies.list().map(({ taxId }) => taxId));
  for (const { taxId, name, uf, share } of DEMO_COMPANIES) {
    if (known.has(taxId)) continue;
    simulator.companies.add({ taxId, environment: ENVIRONMENT, name, uf, backlog: Math.ceil(backlog * share) });
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
    await api.capture(id);
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

/** True when everything that the government has for a company is stored, and nothing is being asked. */
export function isDrained(simulator: Simulator, company: DemoCompany, capture: CaptureRow): boolean {
  const { maxNsu } = simulator.companies.get({ taxId: company.taxId, environment: ENVIRONMENT });
  return capture.ultNsu === maxNsu && capture.phase === 'waiting';
}

/** Lets a few documents arrive now and then, so that one sees them flow. Returns a function that ends it. */
export function startArrivals(simulator: Simulator, everyMs: number): () => void {
  const timer = setInterval(() => {
    const company = DEMO_COMPANIES[Math.floor(Math.random() * DEMO_COMPANIES.length)];
    if (company === undefined) return;
    simulator.companies.arrive({
      taxId: company.taxId,
      environment: ENVIRONMENT,
      count: 1 + Math.floor(Math.random() * 3),
    });
  }, everyMs);
  return () => clearInterval(timer);
}
