import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PDF_LAYOUT_VERSION } from '../../src/pdf/index.js';
import { layOut } from '../../src/pdf/print.js';
import { DACTE_CASES } from './dacte-cases.js';
import { DANFE_CASES } from './danfe-cases.js';
import { DANFSE_CASES } from './danfse-cases.js';
import { OTHER_CASES } from './other-cases.js';

/**
 * The layouts that a person has looked at, by their hash. One that comes out otherwise is either a fault, or a change: then look at the
 * new pages (bench/pdf.ts --pages writes them), raise PDF_LAYOUT_VERSION, so that no cache gives out the old ones, and run
 * `MALOTE_GOLDEN=write node --import tsx --test test/pdf/golden.test.ts`.
 */

interface Golden {
  readonly version: number;
  readonly layouts: Readonly<Record<string, string>>;
}

const FILE = fileURLToPath(new URL('golden.json', import.meta.url));

test('the pages are those that were looked at', () => {
  const layouts = Object.fromEntries(
    [
      ...DANFE_CASES.map((each) => ({ ...each, kind: 'procNFe' as const })),
      ...OTHER_CASES,
      ...DACTE_CASES,
      ...DANFSE_CASES,
    ].map(({ name, kind, xml, situation }) => [name, hashOf(layOut({ kind, xml: Buffer.from(xml), situation }))]),
  );
  if (process.env.MALOTE_GOLDEN === 'write' || !existsSync(FILE)) {
    writeFileSync(FILE, `${JSON.stringify({ version: PDF_LAYOUT_VERSION, layouts } satisfies Golden, null, 2)}\n`);
  }
  const golden = JSON.parse(readFileSync(FILE, 'utf8')) as Golden;
  assert.deepEqual(layouts, golden.layouts);
  assert.equal(PDF_LAYOUT_VERSION, golden.version);
});

/** Rounded to hundredths of a point, far below what anyone sees and far above what processors disagree on. */
function hashOf(layout: unknown): string {
  const text = JSON.stringify(layout, (_, value: unknown) =>
    typeof value === 'number' ? Math.round(value * 100) / 100 : value,
  );
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
