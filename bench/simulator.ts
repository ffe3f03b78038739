import { Agent, request } from 'node:https';
import { startSimulator } from '../src/simulator/index.js';
import { distribution } from '../test/simulator/client.js';

/**
 * How fast the simulated government serves a backlog: documents made, zipped and sent over one kept-alive TLS connection. A benchmark
 * of ours that drains from it can be no faster. The client runs in the same process and costs its share.
 * Run: node --import tsx bench/simulator.ts [documents]
 */

const backlog = Number(process.argv[2] ?? 20_000);
const taxId = '98765432000198';

const simulator = await startSimulator();
simulator.companies.add({ taxId, backlog });
const { keyPem, chainPem } = simulator.issueA1({ taxId, name: 'Bancada', password: '' });
const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: simulator.caPem, key: keyPem, cert: chainPem });

function page(ultNsu: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(
      simulator.endpoints().homologation.nfeDistribution,
      { method: 'POST', agent, headers: { 'content-type': 'application/soap+xml' } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks).toString('latin1')));
      },
    );
    call.on('error', reject);
    call.end(distribution(taxId, `<distNSU><ultNSU>${ultNsu}</ultNSU></distNSU>`));
  });
}

const field = (name: string, text: string) => new RegExp(`<${name}>(\\d+)`).exec(text)?.[1] ?? '';
const begun = performance.now();
const cpuBefore = process.cpuUsage();
let [ultNsu, maxNsu, bytes] = ['0'.repeat(15), '', 0];
while (ultNsu !== maxNsu) {
  const answer = await page(ultNsu);
  bytes += answer.length;
  [ultNsu, maxNsu] = [field('ultNSU', answer), field('maxNSU', answer)];
}
const seconds = (performance.now() - begun) / 1000;
const cpu = process.cpuUsage(cpuBefore);
const cpuSeconds = (cpu.user + cpu.system) / 1_000_000;

const result = {
  documents: backlog,
  'docs/s': Math.round(backlog / seconds),
  'docs/s of CPU': Math.round(backlog / cpuSeconds),
  'MB/s': Number((bytes / seconds / 1_000_000).toFixed(1)),
  'broken rules': simulator.journal.violations().length,
};
console.table({ simulator: result });
console.log(JSON.stringify({ bench: 'simulator', node: process.version, ...result }));
agent.destroy();
await simulator.stop();
