import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TASK_QUEUES } from '../../src/model/activity-contract.js';
import { WORKFLOW_TYPES } from '../../src/workflows/messages.js';
import { devServer, type TestTemporal } from '../support/temporal.js';
import { until } from '../support/until.js';
import { System } from './system.js';

const TAX_ID = '98765432000198';
const DOCUMENTS = 1_000;
/** An hour is half a second, the 24 hours of a held event are 12. */
const TIME_SCALE = 7_200;
const EVENT_TYPES = ['110111', '110110', '610110'];
const ROLES = ['taker', 'sender'];

/** What the filters must make of the queue, read from the XML with nothing of ours. */
interface Expected {
  readonly nsu: string;
  readonly kind: 'document' | 'event' | 'unknown';
  /** Null: a webhook. */
  readonly suppressed: string | null;
  /** Its document never comes. */
  readonly waits: boolean;
}

function expectedOf(documents: readonly { nsu: string; xml: string }[]): Expected[] {
  const wanted = new Map<string, boolean>();
  for (const { xml } of documents) {
    const key = /^<(?:cteProc|cteOSProc|cteSimpProc|GTVeProc) .*?Id="CTe([^"]*)/.exec(xml)?.[1];
    if (key !== undefined)
      wanted.set(
        key,
        rolesIn(xml).some((role) => ROLES.includes(role)),
      );
  }
  return documents.map(({ nsu, xml }): Expected => {
    if (xml.startsWith('<procEventoCTe')) {
      const type = /<tpEvento>([^<]*)/.exec(xml)?.[1] ?? '';
      const document = wanted.get(/<chCTe>([^<]*)/.exec(xml)?.[1] ?? '');
      const suppressed = !EVENT_TYPES.includes(type)
        ? 'event_type_not_selected'
        : document === false
          ? 'document_not_selected'
          : null;
      return { nsu, kind: 'event', suppressed, waits: suppressed === null && document === undefined };
    }
    const key = /Id="CTe([^"]*)/.exec(xml)?.[1] ?? '';
    const kind = wanted.has(key) ? 'document' : 'unknown';
    return { nsu, kind, suppressed: wanted.get(key) === false ? 'role_not_selected' : null, waits: false };
  });
}

function rolesIn(xml: string): string[] {
  const own = (element: string) => new RegExp(`<${element}>(?:(?!</${element}>).)*<CNPJ>${TAX_ID}</CNPJ>`).test(xml);
  const elements = { sender: 'rem', dispatcher: 'exped', receiver: 'receb', recipient: 'dest' };
  const roles = Object.entries(elements).flatMap(([role, element]) => (own(element) ? [role] : []));
  const gtve = xml.startsWith('<GTVeProc');
  const code = /<toma(?:3|03|4|Terceiro)?><toma>(\d)/.exec(xml)?.[1];
  const byCode = gtve
    ? { '0': 'sender', '1': 'recipient' }
    : { '0': 'sender', '1': 'dispatcher', '2': 'receiver', '3': 'recipient' };
  const role = (byCode as Record<string, string>)[code ?? ''];
  // The taker's own data: nobody of the others, a CT-e OS, or a CT-e Simplificado, where a role may be said besides.
  if (/<(toma|toma4|tomaTerceiro)>(<toma>\d<\/toma>)?(<indIEToma>\d<\/indIEToma>)?<CNPJ>/.test(xml)) {
    return own('toma4') ||
      own('tomaTerceiro') ||
      new RegExp(`<toma>(?:(?!<enderToma>).)*<CNPJ>${TAX_ID}</CNPJ>`).test(xml)
      ? [...roles, 'taker', ...(role === undefined ? [] : [role])]
      : roles;
  }
  return role !== undefined && roles.includes(role) ? [...roles, 'taker'] : roles;
}

describe('1,000 mixed CT-e documents with filters on', () => {
  let temporal: TestTemporal;
  let system: System;
  let companyId: string;
  let queue: { nsu: string; xml: string }[];
  let expected: Expected[];

  before(async () => {
    temporal = await devServer();
    system = await System.start({ temporal, timeScale: TIME_SCALE });
    await system.startWorkers();
    await system.addEndpoint();
    const kinds = {
      procCTe: 50,
      procCTeOS: 8,
      procCTeSimp: 8,
      procGTVe: 5,
      procEventoCTe: 22,
      procCTe300: 3,
      procCTe200: 2,
      unknown: 2,
    };
    system.simulator.companies.add({ documentType: 'cte', taxId: TAX_ID, backlog: DOCUMENTS, kinds });
    system.simulator.companies.add({ taxId: TAX_ID, backlog: 120 });
    companyId = await system.addCompany(TAX_ID);
    queue = system.simulator.companies.truth({ documentType: 'cte', taxId: TAX_ID }).map(({ nsu }) => ({
      nsu,
      xml: system.simulator.companies.document({ documentType: 'cte', taxId: TAX_ID, nsu }).xml,
    }));
    expected = expectedOf(queue);
    const capture = { eventTypes: EVENT_TYPES, interestedParties: ROLES };
    await Promise.all([system.startCapture(companyId, capture, 'cte'), system.startCapture(companyId)]);
    const standing = async () =>
      (
        await system.database.query<{ phase: string; reason: string; left: number }>(
          `select phase, state ->> 'reason' as reason, (max_nsu - ult_nsu)::int as left from captures where last_query_at is not null`,
        )
      ).rows;
    const drained = async () => {
      const rows = await standing();
      return rows.length === 2 && rows.every(({ phase, left }) => phase === 'waiting' && left === 0);
    };
    await until(drained, 'both captures drained', 180_000).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(await standing())}`);
    });
    await until(async () => (await system.pending()) === 0, 'every webhook delivered', 120_000);
  });
  after(() => system?.stop());

  const rows = async () =>
    (
      await system.database.query<{ id: string; nsu: string; suppressed: string | null; key: string | null }>(
        `select id, lpad(nsu::text, 15, '0') as nsu, split_part(suppressed, ':', 1) as suppressed, key from documents
         where document_type = 'cte' order by nsu`,
      )
    ).rows;
  /** Alerts apart: at this speed half a second is an hour overdue. */
  const arrived = () =>
    system.receiver.arrivals
      .map(({ body }) => JSON.parse(body))
      .filter(({ type, data }) => data.documentType === 'cte' && type !== 'capture_alert');

  test('the mixture is one: every kind, every reason', () => {
    const reasons = new Map<string, number>();
    for (const { suppressed, waits } of expected) {
      const reason = waits ? 'waits' : (suppressed ?? 'told');
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    for (const reason of ['told', 'waits', 'event_type_not_selected', 'role_not_selected', 'document_not_selected']) {
      assert.ok((reasons.get(reason) ?? 0) > 5, `${reason}: ${reasons.get(reason)}`);
    }
    assert.ok(expected.filter(({ kind }) => kind === 'unknown').length > 5);
    assert.equal(expected.length, DOCUMENTS);
  });

  test('every document is stored, with its key, and can be read back from the archive', async () => {
    const truth = [
      ...system.simulator.companies.truth({ documentType: 'cte', taxId: TAX_ID }),
      ...system.simulator.companies.truth({ taxId: TAX_ID }),
    ].map(({ nsu, sha256 }) => `${nsu} ${sha256}`);
    const { rows: stored } = await system.database.query<{ line: string }>(
      `select lpad(nsu::text, 15, '0') || ' ' || xml_sha256 as line from documents`,
    );
    assert.deepEqual(stored.map(({ line }) => line).sort(), truth.sort());
    assert.ok((await system.stored(companyId)).size >= DOCUMENTS);
    for (const { key } of await rows()) assert.match(key ?? '', /^[0-9A-Z]{44}$/);
  });

  test('the government was asked by its rules, and what was asked is archived with every page', async () => {
    assert.deepEqual(system.simulator.journal.violations(), []);
    const pages = system.simulator.journal
      .list()
      .filter(({ service, cStat }) => service === 'cte-distribution' && cStat === '138');
    assert.equal(pages.length, DOCUMENTS / 50);
    const { rows: archives } = await system.database.query<{ requestKey: string | null }>(
      `select request_key as "requestKey" from archives where document_type = 'cte'`,
    );
    assert.equal(archives.length, pages.length);
    for (const { requestKey } of archives) {
      const request = await system.objectStore.get(requestKey ?? '');
      assert.match(request.toString(), /<cteDadosMsg><distDFeInt .*<ultNSU>\d{15}<\/ultNSU>/);
    }
  });

  test('webhooks went out for exactly the chosen ones; every other record says why none did', async () => {
    const told = new Map(
      expected.map(({ nsu, suppressed, waits }) => [nsu, waits ? 'waits_for_document' : suppressed]),
    );
    const stored = await rows();
    for (const { nsu, suppressed } of stored) assert.equal(suppressed, told.get(nsu), nsu);
    const ids = stored.filter(({ suppressed }) => suppressed === null).map(({ id }) => id);
    assert.deepEqual(
      arrived()
        .map(({ data }) => data.id)
        .sort(),
      ids.sort(),
    );
    assert.deepEqual(system.receiver.forged, []);
  });

  test('they are named after what they tell of, and show their document', () => {
    const kinds = new Map(expected.map(({ nsu, kind }) => [nsu, kind]));
    const actions = {
      document: 'issued_successfully',
      event: 'event_raised_successfully',
      unknown: 'unknown_document_received',
    };
    for (const { type, action, data } of arrived()) {
      assert.equal(type, 'transportation_invoice_inbound');
      assert.equal(action, actions[kinds.get(data.nsu) ?? 'unknown']);
      assert.equal(data.direction, 'received');
      assert.equal(data.suppressed, null);
    }
  });

  test('events whose document never came are told of after 24 hours', async () => {
    const waiting = expected.filter(({ waits }) => waits);
    const held = async () =>
      (await system.database.query<{ n: number }>('select count(*)::int as n from held_documents')).rows[0]?.n;
    let runs = 0;
    const released = async () => {
      await temporal.client.workflow.execute(WORKFLOW_TYPES.housekeeping, {
        workflowId: `housekeeping-test-${runs++}`,
        taskQueue: TASK_QUEUES.workflows,
        args: [{ every: 'minute' }],
      });
      return (await held()) === 0;
    };
    await until(released, 'no event waits', 120_000);
    await until(async () => (await system.pending()) === 0, 'delivered');
    const stored = await rows();
    for (const { nsu } of waiting) assert.equal(stored.find((row) => row.nsu === nsu)?.suppressed, null);
    const notified = stored.filter(({ suppressed }) => suppressed === null);
    assert.deepEqual(
      arrived()
        .map(({ data }) => data.id)
        .sort(),
      notified.map(({ id }) => id).sort(),
      'each once',
    );
    const { rows: usage } = await system.database.query<{ n: number }>(
      `select count(*)::int as n from usage_records where document_type = 'cte'`,
    );
    assert.equal(usage[0]?.n, notified.length, 'what was not told of is not counted');
  });

  test('the feed of the company has no hole, NF-e’s documents are all told of', async () => {
    const { rows: feed } = await system.database.query<{ sequence: number }>(
      'select sequence::int as sequence from events where company_id = $1 order by sequence',
      [companyId],
    );
    assert.deepEqual(
      feed.map(({ sequence }) => sequence),
      feed.map((_, i) => i + 1),
    );
    const { rows: nfe } = await system.database.query<{ told: number; all: number }>(
      `select count(*) filter (where suppressed is null)::int as told, count(*)::int as all from documents where document_type = 'nfe'`,
    );
    assert.deepEqual(nfe[0], { told: 120, all: 120 });
  });
});

test('no workflow asks of which document type it is', () => {
  const folder = fileURLToPath(new URL('../../src/workflows/', import.meta.url));
  for (const file of readdirSync(folder)) {
    assert.doesNotMatch(readFileSync(`${folder}${file}`, 'utf8'), /'(nfe|cte|nfse)'/, file);
  }
});
