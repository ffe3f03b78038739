import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { endImport, openImport, recordFiles } from '../../src/storage/imports.js';
import { captureDocument, finishedExport, storeEvents } from '../api/fixtures.js';
import { BOOTSTRAP_KEY, newCompanyFields, PASSWORD, pfxFor, testApi } from '../api/support.js';
import { procNfe, sampleKey, sampleNote } from '../pdf/nfe-sample.js';
import { folder, malote, type RunOptions } from './support.js';

const api = await testApi();
const apiUrl = await api.app.listen({ host: '127.0.0.1', port: 0 });
const env = { MALOTE_API_URL: apiUrl, MALOTE_API_KEY: BOOTSTRAP_KEY };

const run = (args: string, options: RunOptions = {}) =>
  malote(args.split(' '), { ...options, env: { ...env, ...options.env } });

/** What a command printed with --json: one object per line. */
async function json(args: string) {
  const { code, out, err } = await run(`${args} --json`);
  assert.equal(code, 0, err);
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

describe('a company from registration to documents', async () => {
  const { taxId, name } = newCompanyFields();
  const pfx = join(folder, 'a1.pfx');
  const passwordFile = join(folder, 'password');
  writeFileSync(pfx, pfxFor(taxId));
  writeFileSync(passwordFile, `${PASSWORD}\n`);
  const written = taxId.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5');

  test('company add, list, show', async () => {
    const added = await malote(
      [
        'company',
        'add',
        '--tax-id',
        written,
        '--name',
        name,
        '--uf',
        'sp',
        '--tag',
        'a',
        '--tag',
        'b',
        '--external-id',
        'erp-9',
      ],
      { env },
    );
    assert.equal(added.code, 0, added.err);
    assert.match(added.out, new RegExp(`tax ID +${written}`));
    assert.match(added.out, /tags +a, b/);

    const listed = await run('company list');
    assert.equal(listed.code, 0);
    const [title, row] = listed.out.split('\n');
    assert.match(title ?? '', /^ID +TAX ID +UF +NAME +TAGS$/);
    assert.ok(row?.includes(written) && row.includes(name), row);
    const [shown] = await json(`company show ${taxId}`);
    assert.deepEqual(await json('company list --external-id erp-9'), [shown]);
    assert.equal(shown.externalId, 'erp-9');
  });

  test('certificate set, with the password from a file or from standard input, and show', async () => {
    const set = await run(`certificate set ${written} --file ${pfx} --password-file ${passwordFile}`);
    assert.equal(set.code, 0, set.err);
    assert.match(set.out, /valid until +2049-12-31 20:59:59/);
    const piped = await run(`certificate set ${taxId} --file ${pfx} --password-file -`, { input: `${PASSWORD}\n` });
    assert.equal(piped.code, 0, piped.err);
    const [shown] = await json(`certificate show ${taxId}`);
    assert.equal(shown.taxId, taxId);

    writeFileSync(passwordFile, 'wrong');
    const wrong = await run(`certificate set ${taxId} --file ${pfx} --password-file ${passwordFile}`);
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /^error: .*password.*\n$/);
    assert.ok(!wrong.err.includes('wrong)'));
    const nobody = await run(`certificate set ${taxId} --file ${pfx}`);
    assert.equal(nobody.code, 2);
    assert.match(nobody.err, /--password-file/);
    const absent = await run(`certificate set ${taxId} --file ${folder}/none.pfx --password-file ${passwordFile}`);
    assert.equal(absent.code, 2);
    assert.match(absent.err, /cannot read .*none\.pfx \(ENOENT\)/);
  });

  test('capture start, status, pause, resume, stop', async () => {
    const started = await run(`capture start ${taxId} nfe --min-interval 90 --handler erp:take:page`);
    assert.equal(started.code, 0, started.err);
    assert.match(started.out, /COMPANY +TYPE +ENVIRONMENT +PHASE/);
    assert.match(started.out, new RegExp(`${name} +nfe +homologation +querying`));
    const [state] = await json(`capture status ${taxId}`);
    assert.deepEqual(state.options, { minIntervalMinutes: 90, handler: { taskQueue: 'erp:take', activity: 'page' } });

    const [paused] = await json(`capture pause ${taxId} --until 2099-01-01`);
    assert.equal(paused.pausedUntil, '2099-01-01T03:00:00.000Z');
    assert.match((await run('capture status --phase paused')).out, new RegExp(name));
    const none = await run('capture status --phase attention');
    assert.deepEqual([none.code, none.out], [0, '']);

    const resumed = await run('capture resume --phase paused --uf SP');
    assert.deepEqual([resumed.code, resumed.err], [0, '1 capture resumed.\n']);
    assert.equal((await json(`capture status ${taxId}`))[0].phase, 'querying');

    const [stopped] = await json(`capture stop ${taxId}`);
    assert.deepEqual([stopped.enabled, stopped.phase], [false, 'stopped']);
    assert.equal((await run(`capture resume ${taxId} cte`)).code, 1, 'it has none');
    const again = await run(`capture resume ${taxId} nfe`);
    assert.equal(again.code, 1);
    assert.match(again.err, /malote capture start/);
    const pause = await run(`capture pause ${taxId}`);
    assert.equal(pause.code, 1);
    assert.match(pause.err, /stopped \(start it with "malote capture start"\)/);
  });

  test('capture status --watch shows what changes until Ctrl-C', async () => {
    const { id } = (await api.ask('GET', `/v1/companies?taxId=${taxId}`)).json.data[0];
    let orders = 0;
    const watched = await run(`capture status ${taxId} --watch --json`, {
      interruptWhen: (out) => {
        const lines = out.split('\n').filter(Boolean).length;
        if (lines === 1 && orders++ === 0) void api.ask('PUT', `/v1/companies/${id}/captures/nfe`, { body: {} });
        return lines >= 2;
      },
    });
    assert.equal(watched.code, 0, watched.err);
    const phases = watched.out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).phase);
    assert.deepEqual(phases, ['stopped', 'querying']);

    const lines = await run(`capture status ${taxId} --watch`, { interruptWhen: (out) => out.includes('\n') });
    assert.equal(lines.code, 0);
    assert.match(lines.out, new RegExp(`^\\d{4}-.* ${name}  nfe  querying  NSU 0 of 0  0 documents`));
  });

  test('document list and xml', async () => {
    const { id: companyId } = (await api.ask('GET', `/v1/companies?taxId=${taxId}`)).json.data[0];
    const captured = await captureDocument(api, companyId, {
      metadata: JSON.stringify({ number: '77', total: '12.50', issuer: { name: 'Fornecedor' } }),
    });
    const listed = await run(`document list --company ${written} --kind procNFe --from 2026-01-01`);
    assert.equal(listed.code, 0, listed.err);
    assert.match(listed.out, new RegExp(`${captured.id} +procNFe +authorized +77 +12.50 +Fornecedor`));
    const printed = await run(`document xml ${captured.id}`);
    assert.equal(printed.out, captured.xml.toString());
    await api.db.query(`update documents set captured_at = '2026-12-01T02:30:00Z' where id = $1`, [captured.id]);
    for (const TZ of ['UTC', 'Asia/Tokyo']) {
      const ofDay = async (day: string) =>
        (await run(`document list --company ${taxId} --from ${day} --to ${day} --json`, { env: { TZ } })).out;
      assert.match(await ofDay('2026-11-30'), new RegExp(captured.id), TZ);
      assert.equal(await ofDay('2026-12-01'), '', TZ);
    }
    const file = join(folder, 'note.xml');
    const saved = await run(`document xml ${captured.id} --output ${file}`);
    assert.equal(saved.code, 0);
    assert.deepEqual(readFileSync(file), captured.xml);
    const missing = await run(`document xml ${companyId}`);
    assert.deepEqual([missing.code, missing.out], [1, '']);
  });

  test('document pdf and links', async () => {
    const { id: companyId } = (await api.ask('GET', `/v1/companies?taxId=${taxId}`)).json.data[0];
    const key = sampleKey();
    const { id, xml } = await captureDocument(api, companyId, { key }, procNfe(sampleNote()));
    const { bytes } = await api.ask('GET', `/v1/documents/${id}/pdf`);
    const saved = await run(`document pdf ${id}`);
    assert.deepEqual([saved.code, saved.out], [0, '']);
    assert.match(saved.err, new RegExp(`^${bytes.length} bytes written to ${key}-procNFe.pdf\n$`));
    assert.deepEqual(readFileSync(join(folder, `${key}-procNFe.pdf`)), bytes);
    const named = join(folder, 'paper.pdf');
    assert.equal((await run(`document pdf ${id} -o ${named}`)).code, 0);
    assert.deepEqual(readFileSync(named), bytes);
    const printed = await run(`document pdf ${id} --output -`);
    assert.deepEqual([printed.out.slice(0, 5), printed.err], ['%PDF-', '']);
    const nowhere = await run(`document pdf ${id} -o ${folder}/none/paper.pdf`);
    assert.equal(nowhere.code, 2);

    const [links] = await json(`document links ${id}`);
    const follow = async (link: string) => Buffer.from(await (await fetch(link)).arrayBuffer());
    assert.deepEqual([await follow(links.xml), await follow(links.pdf)], [xml, bytes]);
    const shown = await run(`document links ${id}`);
    assert.match(shown.out, /^XML +http\S+\nPDF +http\S+\nvalid until +\d{4}-/);

    const summary = await captureDocument(api, companyId, { key, kind: 'resNFe', full_xml: 'awaited' });
    const none = await run(`document pdf ${summary.id}`);
    assert.deepEqual([none.code, none.out], [1, '']);
    const request = `"malote manifest request ${companyId} ${key} --type 210210"`;
    assert.match(none.err, new RegExp(`^error: Only the summary .*${request}\n$`));
    assert.ok(!none.err.includes('POST'), none.err);
    await api.db.query(`update documents set full_xml = 'present' where id = $1`, [summary.id]);
    assert.match((await run(`document pdf ${summary.id}`)).err, /"malote document list --key \S+ --kind procNFe"\n$/);
    assert.match((await run(`document links ${summary.id}`)).out, /^XML +http\S+\nvalid until/);
  });

  test('webhook add, list, resend', async () => {
    const { id: companyId } = (await api.ask('GET', `/v1/companies?taxId=${taxId}`)).json.data[0];
    const added = await run(`webhook add http://127.0.0.1:9/hook --company ${taxId} --event product_invoice_inbound`);
    assert.equal(added.code, 0, added.err);
    assert.match(added.out, /whsec_/);
    const [endpoint] = await json('webhook list');
    assert.deepEqual([endpoint.companyIds, endpoint.events], [[companyId], ['product_invoice_inbound']]);
    await storeEvents(api, companyId, 3);
    const period = await run(`webhook resend --company ${taxId} --from 2026-01-01 --to 2099-01-01`);
    assert.deepEqual([period.code, period.out], [0, '3 deliveries queued again.\n']);
    const none = await run(`webhook resend --company ${taxId} --from 2020-01-01 --to 2020-01-31`);
    assert.deepEqual([none.code, none.out], [0, '0 deliveries queued again.\n']);
    assert.match(none.err, /from 2020-01-01 up to 2020-01-31, that day included \(days of Brasília\)/);
    const [delivery] = (await api.ask('GET', '/v1/webhook-deliveries')).json.data;
    assert.equal((await json(`webhook resend ${delivery.id}`))[0].count, 1);
    for (const args of [
      'webhook resend',
      `webhook resend ${delivery.id} --key 1`,
      `webhook resend --company ${taxId}`,
    ]) {
      const wrong = await run(args);
      assert.equal(wrong.code, 2, args);
      assert.match(wrong.err, /--from and --to/);
    }
    assert.deepEqual(await json(`webhook show ${endpoint.id}`), [endpoint]);
    assert.match((await run(`webhook show ${endpoint.id}`)).out, /status +enabled/);
    assert.deepEqual(await json(`webhook remove ${endpoint.id}`), [{ id: endpoint.id, removed: true }]);
    assert.equal((await run(`webhook remove ${endpoint.id}`)).code, 1);
  });

  test('company remove, deletion, restore', async () => {
    const unconfirmed = await run(`company remove ${taxId}`);
    assert.deepEqual([unconfirmed.code, unconfirmed.out], [2, '']);
    assert.match(unconfirmed.err, /--confirm/);
    const wrong = await run(`company remove ${taxId} --confirm 0000`);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /last 4 characters/);
    const [ordered] = await json(`company remove ${taxId} --confirm ${taxId.slice(-4)}`);
    assert.equal(ordered.status, 'waiting');
    assert.match((await run(`company deletion ${taxId}`)).out, /deletion +waiting/);
    assert.match((await run(`company show ${taxId}`)).out, /being deleted since/);
    const restored = await run(`company restore ${taxId}`);
    assert.deepEqual([restored.code, /being deleted since +\S/.test(restored.out)], [0, false]);
  });
});

describe('lists', () => {
  test('go over as many pages as it takes, and say when there is more', async () => {
    for (let i = 0; i < 3; i++) await api.newCompany({ tags: ['many'] });
    assert.equal((await json('company list --tag many --limit 1000')).length, 3);
    const some = await run('company list --tag many --limit 2');
    assert.equal(some.out.trim().split('\n').length, 3);
    assert.match(some.err, /The first 2: --limit shows more/);
  });
});

describe('errors are one line that says what to do', () => {
  for (const [what, args, code, message, extra] of [
    ['no such command', 'capture stat', 2, /unknown command 'stat'/, {}],
    ['no such option', 'company list --cnpj 1', 2, /unknown option '--cnpj'/, {}],
    ['a missing argument', 'company show', 2, /missing required argument 'company'/, {}],
    ['a missing option', 'company add --tax-id 1', 2, /required option '--name <name>'/, {}],
    ['a choice that is none', 'capture start 1 nfce', 2, /Allowed choices are nfe, cte, nfse/, {}],
    ['an instant that is none', 'capture pause 1 --until tomorrow', 2, /Expected a day such as/, {}],
    ['a day that there is not', 'capture pause 1 --until 2026-02-30', 2, /Expected a day such as/, {}],
    ['two document types', 'capture resume 1 nfe --type cte', 2, /Name the document type once/, {}],
    ['a company that is gone', 'company deletion 11444777000161', 2, /only its id is known/, {}],
    ['an instant without offset', 'capture pause 1 --until 2026-11-30T10:00:00', 2, /Expected a day such as/, {}],
    ['a number that is none', 'company list --limit many', 2, /Expected a whole number/, {}],
    ['a handler that is none', 'capture start 1 --handler erp', 2, /Expected <task queue>:<activity>/, {}],
    ['a wrong tax ID', 'company add --tax-id 123 --name x --uf SP', 2, /^error: taxId: Tax ID has 3 characters/, {}],
    ['an unknown tax ID', 'company show 12345678909', 2, /malote company add/, {}],
    ['nothing to resume', 'capture resume', 2, /--phase attention/, {}],
    ['a wrong key', 'company list --api-key mlt_wrong', 1, /revoked \(check MALOTE_API_KEY or --api-key\)/, {}],
    [
      'no API there',
      'company list --api-url http://127.0.0.1:9',
      1,
      /no API answers at http:\/\/127\.0\.0\.1:9: start/,
      {},
    ],
    ['an address that is none', 'company list --api-url localhost:3000', 2, /is no address of an API/, {}],
    ['no key', 'company list', 2, /no API key: set MALOTE_API_KEY/, { MALOTE_API_KEY: '' }],
    ['a type without a certificate', 'capture start 1 cte', 1, /has a certificate \(store one with/, {}],
    ['no configuration', 'worker', 2, /DATABASE_URL is not set/, {}],
  ] as const) {
    test(what, async () => {
      const company = args.endsWith(' cte') ? await api.newCompany() : undefined;
      const ended = await run(company === undefined ? args : args.replace(' 1 ', ` ${company.id} `), { env: extra });
      assert.equal(ended.code, code, ended.err);
      assert.match(ended.err, message);
      assert.match(ended.err, /^error: /);
      assert.equal(ended.out, '');
      assert.ok(!/\n\s+at /.test(ended.err), 'no stack');
    });
  }

  test('with --json, too', async () => {
    const { code, err } = await run('company show 00000000-0000-4000-8000-000000000000 --json');
    assert.equal(code, 1);
    assert.equal(JSON.parse(err).code, 'not_found');
  });

  test('something else at the address is not taken for our API', async () => {
    const other = createServer((_, response) => response.writeHead(404).end('<html>')).listen(0, '127.0.0.1');
    after(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, err } = await run(`company list --api-url http://127.0.0.1:${port}`);
    assert.equal(code, 1);
    assert.match(err, /no answer of Malote: check --api-url/);
  });
});

describe('the connection', () => {
  test('is taken from the running "malote dev", whose key goes nowhere else', async () => {
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'dev.json'), JSON.stringify({ apiUrl, apiKey: BOOTSTRAP_KEY }));
    const dev = { MALOTE_DATA: 'data', MALOTE_API_URL: '', MALOTE_API_KEY: '' };
    assert.equal((await run('company list', { env: dev })).code, 0);
    const elsewhere = await run('company list --api-url http://127.0.0.1:9', { env: dev });
    assert.equal(elsewhere.code, 2);
    assert.match(elsewhere.err, /no API key/);
  });
});

test('help and version come with exit code 0', async () => {
  for (const args of ['--help', 'help capture', 'capture start --help', '--version']) {
    const { code, out, err } = await run(args);
    assert.deepEqual([code, err], [0, '']);
    assert.ok(out.length > 4);
  }
});

test('a password is no argument of any command', async () => {
  const { out } = await run('certificate set --help');
  assert.ok(!/--password[ =<]/.test(out), out);
});

describe('missing numbers', () => {
  test('gaps list, recover, run', async () => {
    const { id, taxId } = await api.companyWithCertificate();
    await api.ask('PUT', `/v1/companies/${id}/captures/nfe`, { body: {} });
    assert.match((await run(`gaps list ${taxId}`)).err, /Nothing is missing/);
    await api.db.query(
      `insert into gaps (id, company_id, document_type, environment, from_nsu, to_nsu, status, cause, created_at)
       values (gen_random_uuid(), $1, 'nfe', 'homologation', 7, 3007, 'awaiting_confirmation', 'page', now())`,
      [id],
    );
    const listed = await run(`gaps list ${taxId}`);
    assert.match(listed.out, /7–3007 +awaiting_confirmation +page/);
    const [gap] = await json(`gaps list ${id} --status awaiting_confirmation`);
    const recovered = await run(`gaps recover ${id} ${gap.id}`);
    assert.match(recovered.out, /7–3007 is asked for from now on/);
    assert.equal((await json(`gaps list ${id}`))[0].status, 'pending');
    assert.equal((await run(`gaps recover ${id} ${taxId}`)).code, 1);
    assert.deepEqual(await json('gaps run'), [{ started: true }]);
    assert.equal((await run('gaps list')).code, 2);
  });
});

describe('exports and imports', async () => {
  const company = await api.companyWithCertificate();
  await api.ask('PUT', `/v1/companies/${company.id}/captures/nfe`, { body: { environment: 'homologation' } });

  /** Does what the workflow does as soon as the API tells it. */
  function atOnce(work: (id: string) => Promise<void>): void {
    const { startExport, startImport } = api.temporal;
    api.temporal.startExport = async (input) => {
      await work(input.exportId);
      api.temporal.startExport = startExport;
    };
    api.temporal.startImport = async (input) => {
      await work(input.importId);
      api.temporal.startImport = startImport;
    };
  }

  test('export waits, saves the file, and says what is in it', async () => {
    const content = Buffer.from('the ZIP');
    atOnce((id) => finishedExport(api, id, content));
    const file = join(folder, 'novembro.zip');
    const ended = await run(`export ${company.taxId} --from 2026-11-01 --to 2026-11-30 --output ${file}`);
    assert.equal(ended.code, 0, ended.err);
    assert.deepEqual(readFileSync(file), content);
    assert.match(ended.out, /XML +3/);
    const wrong = await run(`export ${company.taxId} --from november --to 2026-11-30`);
    assert.deepEqual([wrong.code, /Expected a day/.test(wrong.err)], [2, true]);
  });

  test('import uploads, waits, and tells what became of each file', async () => {
    const file = join(folder, 'a.xml');
    writeFileSync(file, '<nfeProc/>');
    atOnce(async (id) => {
      await openImport(api.db, id, 4, Date.now());
      const rows = (
        [
          ['a.xml', 'unreadable', 'damaged'],
          ['n.pdf', 'not_a_document', 'pdf'],
          ['indice.csv', 'not_a_document', 'export_index'],
          ['b.xml', 'not_a_document', 'without_protocol'],
        ] as const
      ).map(([name, result, reason], entry) => ({ entry, name, result, reason, documentId: null }));
      await api.db.transaction((tx) => recordFiles(tx, id, rows, rows.length, Date.now()));
      await endImport(api.db, id, null, Date.now());
    });
    const ended = await run(`import ${company.taxId} ${file}`);
    assert.equal(ended.code, 1, 'a script must notice');
    assert.match(ended.err, /1 of the files inside could not be read/);
    assert.match(ended.out, /not a document +3\n/);
    assert.match(ended.out, /b\.xml +not_a_document +without_protocol/);
    assert.ok(!/n\.pdf|indice\.csv/.test(ended.out), 'what belongs to an export is only counted');
    assert.match(ended.out, /unreadable +1\n/);
    assert.match(ended.out, /a\.xml +unreadable +damaged/);
    const missing = await run(`import ${company.taxId} nowhere.zip`);
    assert.deepEqual([missing.code, /cannot read nowhere\.zip \(ENOENT\)/.test(missing.err)], [2, true]);
  });
});
