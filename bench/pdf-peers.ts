import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentKind } from '../src/model/document.js';

/** Other people's libraries for DANFE and DACTE, for bench/pdf.ts. They are installed into a folder of their own and are no part of this project. */

/** Name, program, and its arguments for measuring one file; it prints what it measured as JSON. Null: it has no form for this kind. */
export type Subject = readonly [
  name: string,
  program: string,
  argumentsFor: (file: string, kind: DocumentKind) => string[] | null,
];

const NODE_PEER = `
import { readFileSync } from 'node:fs';
import { DANFe } from 'node-sped-pdf';
const xml = readFileSync(process.argv[2], 'utf8');
const times = [];
let bytes = 0;
let before = process.cpuUsage();
const end = performance.now() + Number(process.argv[3]) * 1000;
for (let turn = 0; turn < 8 || performance.now() < end; turn++) {
  if (turn === 4) before = process.cpuUsage();
  const start = performance.now();
  bytes = (await DANFe({ xml })).length;
  if (turn >= 4) times.push(performance.now() - start);
}
const { user, system } = process.cpuUsage(before);
const tenth = (value) => Math.round(value * 10) / 10;
const ms = tenth(times.sort((a, b) => a - b)[times.length >> 1]);
const cpuMs = tenth((user + system) / 1000 / times.length);
console.log(JSON.stringify({ ms, cpuMs, peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024), bytes }));
`;

const PYTHON_PEER = `
import json, resource, sys, time
if sys.argv[3] == 'procNFe': from brazilfiscalreport.danfe import Danfe as Form
elif sys.argv[3] == 'NFSe': from brazilfiscalreport.danfse import Danfse as Form
else: from brazilfiscalreport.dacte import Dacte as Form
xml = open(sys.argv[1], encoding='utf8').read()
times, turn, end, size = [], 0, time.perf_counter() + float(sys.argv[2]), 0
while turn < 8 or time.perf_counter() < end:
    if turn == 4: before = time.process_time()
    start = time.perf_counter()
    size = len(Form(xml=xml).output())
    if turn >= 4: times.append((time.perf_counter() - start) * 1000)
    turn += 1
cpu = (time.process_time() - before) * 1000 / len(times)
times.sort()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps({'ms': round(times[len(times) // 2], 1), 'cpuMs': round(cpu, 1), 'peakMegabytes': peak, 'bytes': size}))
`;

/** The peers that could be installed, each with a program that measures it in the same way. */
export function installPeers(folder: string, seconds: number): Subject[] {
  mkdirSync(folder, { recursive: true });
  const found: Subject[] = [];
  if (attempt('node-sped-pdf', () => installNpm(folder))) {
    const script = join(folder, 'peer.mjs');
    writeFileSync(script, NODE_PEER);
    found.push([
      'node-sped-pdf 1.0.66',
      process.execPath,
      (file, kind) => (kind === 'procNFe' ? [script, file, String(seconds)] : null),
    ]);
  }
  if (attempt('BrazilFiscalReport', () => installPython(folder))) {
    const script = join(folder, 'peer.py');
    writeFileSync(script, PYTHON_PEER);
    found.push([
      'BrazilFiscalReport 1.3.1',
      join(folder, 'venv/bin/python'),
      (file, kind) => [script, file, String(seconds), kind],
    ]);
  }
  return found;
}

function attempt(name: string, work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    console.error(`${name} cannot be installed here: left out`);
    return false;
  }
}

function installNpm(folder: string): void {
  if (existsSync(join(folder, 'node_modules/node-sped-pdf'))) return;
  execFileSync('npm', ['install', '--prefix', folder, 'node-sped-pdf@1.0.66'], { stdio: 'ignore' });
}

function installPython(folder: string): void {
  if (existsSync(join(folder, 'venv/bin/python'))) return;
  execFileSync('python3', ['-m', 'venv', join(folder, 'venv')], { stdio: 'ignore' });
  execFileSync(join(folder, 'venv/bin/pip'), ['install', '-q', 'BrazilFiscalReport==1.3.1'], { stdio: 'ignore' });
}
