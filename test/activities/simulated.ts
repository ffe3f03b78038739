import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { type ActivityDependencies, createActivities, distributionService } from '../../src/activities/index.js';
import { openA1 } from '../../src/certificates/open-a1.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { createHttpsTransport } from '../../src/government/https-transport.js';
import { createNfeDistribution } from '../../src/government/nfe-distribution.js';
import type { CaptureKey } from '../../src/model/words.js';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/index.js';
import { enableCapture } from '../../src/storage/capture-orders.js';
import { storeCertificate } from '../../src/storage/certificates.js';
import { PEOPLE } from '../documents/samples.js';
import { newCompany } from '../storage/support.js';
import { committed, nextActivity, rowOf, type World, world } from './support.js';

export interface SimulatedWorld extends World {
  readonly simulator: Simulator;
  /** Time passes for us and for the government. */
  advance(ms: number): void;
}

/** How a process reaches a simulated government; can be handed to a child. */
export interface GovernmentAccess {
  readonly caPem: string;
  readonly endpointsFile: string;
}

export function simulatedService({ caPem, endpointsFile }: GovernmentAccess): ActivityDependencies['services'] {
  const transport = createHttpsTransport({ caFile: caPem });
  return {
    nfe: distributionService(createNfeDistribution({ transport, addresses: governmentAddresses(endpointsFile) })),
  };
}

/** Tests keep the key unsealed. */
export const openUnsealed: ActivityDependencies['openCertificate'] = ({ sealed, chain, thumbprint }) => ({
  keyPem: sealed.toString(),
  chainPem: chain,
  thumbprint,
});

/** The world with the simulator as its government: real HTTPS, real rules, and a journal that judges. */
export async function simulatedWorld(options: SimulatorOptions = {}): Promise<SimulatedWorld> {
  const simulator = await startSimulator(options);
  after(() => simulator.stop());
  const access = { caPem: simulator.caPem, endpointsFile: simulator.endpointsFile() };
  const w = await world({ services: simulatedService(access), openCertificate: openUnsealed });
  const advance = (ms: number) => {
    w.clock.advance(ms);
    simulator.clock.advance(ms);
  };
  return { ...w, process: (other) => createActivities({ ...w.deps, ...other }), simulator, advance };
}

/** A company that the simulator knows, with its certificate and an NF-e capture. */
export async function simulatedCapture(
  w: SimulatedWorld,
  { taxId = PEOPLE.buyer, backlog = 0 }: { taxId?: string; backlog?: number } = {},
): Promise<CaptureKey> {
  w.simulator.companies.add({ taxId, backlog });
  const company = await newCompany(w.db, { taxId });
  const a1 = w.simulator.issueA1({ taxId, name: 'Compradora Inventada SA', password: 'x', shareKey: true });
  const opened = openA1(a1.pfx, 'x');
  const now = await w.clock.now();
  const capture: CaptureKey = { companyId: company.id, documentType: 'nfe', environment: 'homologation' };
  await w.db.transaction(async (tx) => {
    await storeCertificate(tx, {
      ...opened,
      id: randomUUID(),
      companyId: company.id,
      root: company.root,
      chain: opened.chainPem,
      keyId: 'none',
      wrappedKey: Buffer.alloc(0),
      sealed: Buffer.from(opened.keyPem),
      createdAt: now,
    });
    await enableCapture(tx, { capture, options: () => ({}), now });
  });
  return capture;
}

/** Does what the workflow does until an answer says that nothing follows: asks when it may, waits as it must. */
export async function drain(w: SimulatedWorld, capture: CaptureKey): Promise<void> {
  for (let calls = 0; calls < 50; calls++) {
    const { state, notBefore, callDeadline } = await rowOf(w, capture);
    const due = Math.max(state.nextQueryAt ?? 0, state.blockedUntil ?? 0, notBefore ?? 0, callDeadline ?? 0);
    const now = await w.clock.now();
    if (due > now) w.advance(due - now + 1_500);
    const result = await (await nextActivity(w, capture)).attempt(w.activities);
    if (result.kind === 'committed' && committed(result).outcome === 'none') return;
  }
  throw new Error('not drained after 50 calls');
}
