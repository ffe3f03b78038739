import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { DocumentKind } from '../src/model/document.js';
import { closePdfThreads, renderPdf } from '../src/pdf/index.js';
import { printPdf } from '../src/pdf/print.js';
import { procCte, sampleCte } from '../test/pdf/cte-sample.js';
import { DACTE_CASES } from '../test/pdf/dacte-cases.js';
import { DANFE_CASES } from '../test/pdf/danfe-cases.js';
import { DANFSE_CASES } from '../test/pdf/danfse-cases.js';
import { procNfe, sampleNote } from '../test/pdf/nfe-sample.js';
import { serviceNote } from '../test/pdf/nfse-sample.js';
import { OTHER_CASES } from '../test/pdf/other-cases.js';
import { installPeers, type Subject } from './pdf-peers.js';

/**
 * Milliseconds and memory for a DANFE of 1, 41 and 990 items, a DACTE of 1 and 2,000 NF-e, and a DANFSe, warm, each in a process of its own.
 * Run: node --import tsx bench/pdf.ts [--peers <folder>] [--pages <folder>]
 *
 * --peers: beside node-sped-pdf (npm) and BrazilFiscalReport (PyPI), which are installed into the folder if they can be: the former
 * compiles a drawing library. --pages: writes the PDFs of all test cases there, for looking at, and measures nothing.
 */

const NOTES = [1, 41, 990].map((items) => ({
  name: `NF-e, ${items} items`,
  kind: 'procNFe' as const,
  xml: () => procNfe(sampleNote({ items, reform: true })),
}));
const FREIGHTS = [1, 2000].map((notes) => ({
  name: `CT-e, ${notes} NF-e`,
  kind: 'procCTe' as const,
  xml: () => procCte(sampleCte({ notes })),
}));
const SERVICES = [{ name: 'NFS-e', kind: 'NFSe' as const, xml: () => serviceNote() }];
const SECONDS = 4;
const PATIENCE_MS = 180_000;

interface Measured {
  /** Median of the warm runs. */
  readonly ms: number;
  /** Processor time of the warm runs, divided by their number: what `ms` would be on a machine that does nothing else. */
  readonly cpuMs: number;
  readonly peakMegabytes: number;
  readonly bytes: number;
}

const { values: options } = parseArgs({
  options: {
    peers: { type: 'string' },
    pages: { type: 'string' },
    child: { type: 'string' },
    file: { type: 'string' },
    kind: { type: 'string' },
  },
});

if (options.child !== undefined)
  console.log(JSON.stringify(await measure(options.child, options.file ?? '', options.kind as DocumentKind)));
else if (options.pages !== undefined) await writePages(options.pages);
else compare(options.peers);

function compare(peers: string | undefined): void {
  const folder = mkdtempSync(join(tmpdir(), 'malote-bench-pdf-'));
  const documents = [...NOTES, ...FREIGHTS, ...SERVICES].map(({ name, kind, xml }, at) => {
    const file = join(folder, `${at}.xml`);
    writeFileSync(file, xml());
    return { name, kind, file };
  });
  const self = [...process.execArgv, fileURLToPath(import.meta.url)];
  const subjects: Subject[] = [
    ['Malote', process.execPath, (file, kind) => [...self, '--child', 'here', '--file', file, '--kind', kind]],
    [
      'Malote, in a thread',
      process.execPath,
      (file, kind) => [...self, '--child', 'thread', '--file', file, '--kind', kind],
    ],
    ...(peers === undefined ? [] : installPeers(resolve(peers), SECONDS)),
  ];
  const results = subjects.flatMap(([name, program, argumentsFor]) =>
    documents.flatMap(({ name: document, kind, file }) => {
      const parameters = argumentsFor(file, kind);
      return parameters === null ? [] : [{ name, document, ...run(program, parameters) }];
    }),
  );
  rmSync(folder, { recursive: true, force: true });
  console.table(results);
  console.log(JSON.stringify({ bench: 'pdf', node: process.version, results }));
}

function run(program: string, parameters: readonly string[]): Measured | { readonly failed: string } {
  const { stdout, error, status } = spawnSync(program, parameters, { encoding: 'utf8', timeout: PATIENCE_MS });
  if (error !== undefined) return { failed: `not done within ${PATIENCE_MS / 1000} s` };
  if (status !== 0) return { failed: `ended with ${status}` };
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured;
}

async function measure(where: string, file: string, kind: DocumentKind): Promise<Measured> {
  const xml = readFileSync(file);
  const make = where === 'thread' ? renderPdf : printPdf;
  const times: number[] = [];
  let bytes = 0;
  let before = process.cpuUsage();
  const end = performance.now() + SECONDS * 1000;
  for (let turn = 0; turn < 8 || performance.now() < end; turn++) {
    if (turn === 4) before = process.cpuUsage();
    const start = performance.now();
    bytes = (await make({ kind, xml, situation: { state: 'authorized' } })).length;
    // The first runs load modules and warm the compiler.
    if (turn >= 4) times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(before);
  await closePdfThreads();
  const peakMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
  const ms = times.sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
  return { ms: tenth(ms), cpuMs: tenth((user + system) / 1000 / times.length), peakMegabytes, bytes };
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}

async function writePages(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const each of [
    ...DANFE_CASES.map((danfe) => ({ ...danfe, kind: 'procNFe' as const })),
    ...OTHER_CASES,
    ...DACTE_CASES,
    ...DANFSE_CASES,
  ]) {
    const pdf = await printPdf({ kind: each.kind, xml: Buffer.from(each.xml), situation: each.situation });
    writeFileSync(join(folder, `${each.name.replaceAll(/[^a-z0-9]+/gi, '-')}.pdf`), pdf);
  }
}
