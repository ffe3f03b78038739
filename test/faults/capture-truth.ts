import assert from 'node:assert/strict';
import { POINT_CALLS_PER_HOUR, POINT_DOCUMENTS_PER_HOUR } from '../../src/model/point-quota.js';
import type { Scene } from './capture-scene.js';

/** What must be so whatever happened, by the government's own journal and queue. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** After every command: no rule of the government is broken, and its hour is kept to the millisecond. */
export function assertRulesKept({ taxId, government }: Scene): void {
  assert.deepEqual(government.journal.violations({ taxId }), []);
  const points = government.journal.list({ taxId }).filter(({ kind }) => POINTS.has(kind));
  const within = (times: number[], most: number) =>
    times.forEach((at, i) => {
      const later = times[i + most];
      assert.ok(
        later === undefined || later - at >= HOUR,
        `${most + 1} within ${((later ?? 0) - at) / MINUTE} minutes`,
      );
    });
  const instants = (entries: typeof points) => entries.map(({ time }) => Date.parse(time));
  within(instants(points.filter(({ documents }) => documents > 0)), POINT_DOCUMENTS_PER_HOUR);
  within(instants(points), POINT_CALLS_PER_HOUR);
}
const POINTS: ReadonlySet<string> = new Set(['consNSU', 'consChNFe']);

/** Number and hash of every document that the government has for the company. */
export function truthOf({ government, taxId }: Scene): string[] {
  return government.companies.truth({ taxId, limit: 10_000 }).map(({ nsu, sha256 }) => `${nsu} ${sha256}`);
}

/** Number and hash of every document that we have with a number. */
export async function storedOf({ database, capture }: Scene): Promise<string[]> {
  const { rows } = await database.query<{ line: string }>(
    `select lpad(nsu::text, 15, '0') || ' ' || xml_sha256 as line from documents where company_id = $1 and nsu is not null order by nsu`,
    [capture.companyId],
  );
  return rows.map(({ line }) => line);
}

/** In the end: every document is here once, was told of once, and is counted. */
export async function assertComplete(scene: Scene): Promise<void> {
  const truth = truthOf(scene);
  assert.deepEqual(await storedOf(scene), truth);
  const { rows } = await scene.database.query<
    Record<'numbered' | 'all' | 'different' | 'silent' | 'told' | 'toldOf' | 'counted', number>
  >(
    `select count(nsu)::int as numbered, count(*)::int as all, count(distinct xml_sha256)::int as different,
       count(*) filter (where suppressed like 'awareness_pending:%')::int as silent,
       (select count(*)::int from events where company_id = $1 and document_id is not null) as told,
       (select count(distinct document_id)::int from events where company_id = $1 and document_id is not null) as "toldOf",
       (select documents::int from captures where company_id = $1) as counted
     from documents where company_id = $1`,
    [scene.capture.companyId],
  );
  const [{ all = 0, silent = 0, ...counts } = {}] = rows;
  // Beside the numbered ones: notes that were had by the key in an event, and events of ours; neither has a number.
  const told = all - silent;
  assert.deepEqual(counts, { numbered: truth.length, different: all, told, toldOf: told, counted: all });
}
