import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildAccessKey } from '../../src/documents/index.js';
import { nfseKey } from '../documents/nfse-samples.js';
import { newDocument } from '../storage/documents-support.js';
import { type Answer, PASSWORD, pfxFor, testApi } from './support.js';

const api = await testApi();
const DAY = 86_400_000;
const REASON = 'Mercadoria recusada no recebimento';
/** A CNPJ with letters, and its check digits. */
const LETTERS = '12ABC34501DE35';
let numbers = 0;

function key(taxId = LETTERS, model = '55'): string {
  numbers += 1;
  const fixed = { ufCode: '35', yearMonth: '2611', model, series: '1', emissionType: '1', randomCode: '40302010' };
  return buildAccessKey({ ...fixed, taxId, number: String(numbers) });
}

async function capturing(environment: 'production' | 'homologation' = 'homologation') {
  const company = await api.companyWithCertificate();
  const started = await api.ask('PUT', `/v1/companies/${company.id}/captures/nfe`, { body: { environment } });
  assert.equal(started.status, 200, started.text);
  return company;
}
const company = await capturing();
const path = `/v1/companies/${company.id}/manifestations`;
const ask = (body: unknown, to = path): Promise<Answer> => api.ask('POST', to, { body });

describe('a request', () => {
  test('is taken, told to the workflow, and found again', async () => {
    const noteKey = key();
    const made = await ask({ key: noteKey, type: '210240', justification: `  ${REASON} ` });
    assert.equal(made.status, 202);
    const { id, warnings, ...rest } = made.json;
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      { ...rest, requestedAt: null, nextAttemptAt: null },
      {
        companyId: company.id,
        documentType: 'nfe',
        environment: 'homologation',
        key: noteKey,
        type: '210240',
        description: 'Operacao nao Realizada',
        sequence: 1,
        origin: 'request',
        status: 'pending',
        justification: REASON,
        reasonCode: null,
        fields: null,
        requestedAt: null,
        nextAttemptAt: null,
        attempts: 0,
        deadline: null,
        late: false,
        statusCode: null,
        statusText: null,
        protocol: null,
        registeredAt: null,
        settledAt: null,
        documentId: null,
      },
    );
    assert.equal(made.headers.location, `/v1/manifestations/${id}`);
    assert.equal(api.temporal.said.at(-1), `manifest nfe homologation ${company.id}`);
    const found = await api.ask('GET', `/v1/manifestations/${id}`);
    assert.deepEqual(found.json, { id, ...rest });
    assert.ok(!api.log.join('').includes(REASON) && !api.log.join('').includes(noteKey));
  });

  test('made twice is one: 200 with the same id, with or without an Idempotency-Key', async () => {
    const body = { key: key(), type: '210200' };
    const first = await ask(body);
    const second = await ask(body);
    assert.deepEqual([first.status, second.status, second.json.id], [202, 200, first.json.id]);
    const once = { key: key(), type: '210200' };
    const headers = { 'idempotency-key': 'k-1' };
    const a = await api.ask('POST', path, { body: once, headers });
    const b = await api.ask('POST', path, { body: once, headers });
    assert.deepEqual([b.status, b.json.id], [202, a.json.id], 'the stored answer');
    await api.db.query(`update manifestations set status = 'registered', settled_at = now() where id = $1`, [
      first.json.id,
    ]);
    assert.equal((await ask(body)).json.id, first.json.id);
    const other = await ask({ ...body, type: '210220' });
    await api.db.query(
      `update manifestations set status = 'registered', settled_at = now() + interval '1 s' where id = $1`,
      [other.json.id],
    );
    const anew = await ask(body);
    assert.deepEqual([anew.status, anew.json.sequence], [202, 2]);
  });

  test('keeps the letters of a key, and takes it as printed on paper', async () => {
    const noteKey = key();
    assert.match(noteKey, /[A-Z]/);
    const made = await ask({ key: noteKey.replace(/(.{4})/g, '$1 ').trim(), type: '210210' });
    assert.deepEqual([made.status, made.json.key], [202, noteKey]);
  });

  test('of a Tax Reform event is checked against its layout', async () => {
    const fields = {
      gImobilizacao: [
        { nItem: '1', vIBS: '10.00', vCBS: '1.00', gControleEstoque: { qImobilizado: '2', uImobilizado: 'UN' } },
      ],
    };
    const made = await ask({ key: key(), type: '211130', fields });
    assert.deepEqual([made.status, made.json.fields, made.json.deadline], [202, fields, null]);
    const many = Array.from({ length: 990 }, (_, i) => ({ ...fields.gImobilizacao[0], nItem: String(i + 1) }));
    assert.equal((await ask({ key: key(), type: '211130', fields: { gImobilizacao: many } })).status, 202);
  });

  test('tells the legal deadline where the authorization is known, and that it is over', async () => {
    const [fresh, old] = [key(), key()];
    for (const [noteKey, days] of [
      [fresh, 1],
      [old, 11],
    ] as const) {
      await newDocument(api.db, {
        company_id: company.id,
        kind: 'resNFe',
        key: noteKey,
        issuer_tax_id: LETTERS,
        metadata: JSON.stringify({ authorizedAt: new Date(Date.now() - days * DAY).toISOString() }),
      });
    }
    const inTime = await ask({ key: fresh, type: '210210' });
    assert.deepEqual([inTime.status, inTime.json.warnings], [202, []]);
    assert.ok(Math.abs(Date.parse(inTime.json.deadline) - Date.now() - 9 * DAY) < 60_000);
    const late = await ask({ key: old, type: '210210' });
    assert.equal(late.status, 202, 'the government decides');
    assert.deepEqual(
      late.json.warnings.map(({ code }: { code: string }) => code),
      ['deadline_over'],
    );
  });

  test('is stored although Temporal does not answer', async () => {
    api.temporal.reachable = false;
    const made = await ask({ key: key(), type: '210200' });
    api.temporal.reachable = true;
    assert.equal(made.status, 202);
    assert.equal(made.json.warnings[0].code, 'temporal_unreachable');
  });
});

describe('bad input names its field', () => {
  const good = () => ({ key: key(), type: '210200' });
  const cases: [what: string, body: object, field: string, message?: RegExp][] = [
    ['no key', { type: '210200' }, 'key'],
    ['a key as a number', { key: 35, type: '210200' }, 'key', /string/],
    ['a key that is too short', { ...good(), key: '35' }, 'key', /2 characters: expected 44/],
    [
      'a wrong check digit',
      { ...good(), key: key().replace(/.$/, (d) => String((Number(d) + 1) % 10)) },
      'key',
      /check digit/,
    ],
    ['lower case', { ...good(), key: key().toLowerCase() }, 'key', /upper-case/],
    ['an NFC-e', { ...good(), key: key(LETTERS, '65') }, 'key', /model 65/],
    ['a CT-e', { ...good(), key: key(LETTERS, '57') }, 'key', /model 57/],
    ['no type', { key: key() }, 'type'],
    ['a type in words', { ...good(), type: 'confirmation' }, 'type', /one of 210200, 210210/],
    ['a type of the issuer', { ...good(), type: '110111' }, 'type'],
    ['a type that was ended', { ...good(), type: '211120' }, 'type'],
    ['210240 without its reason', { ...good(), type: '210240' }, 'justification', /missing/],
    ['a reason too short', { ...good(), type: '210240', justification: 'x'.repeat(14) }, 'justification', /15 to 255/],
    ['a reason too long', { ...good(), type: '210240', justification: 'x'.repeat(256) }, 'justification', /has 256/],
    ['a reason of blanks', { ...good(), type: '210240', justification: ' '.repeat(20) }, 'justification', /has 0/],
    ['two lines', { ...good(), type: '210240', justification: `${REASON}\n${REASON}` }, 'justification', /one line/],
    [
      'a dash that is not Latin-1',
      { ...good(), type: '210240', justification: `${REASON} – sim` },
      'justification',
      /Latin-1/,
    ],
    [
      'a reason where none may be',
      { ...good(), justification: REASON },
      'justification',
      /210240, 610110 and 203206 only/,
    ],
    ['a reason for Awareness', { ...good(), type: '210210', justification: REASON }, 'justification'],
    ['fields where none may be', { ...good(), fields: { indAceitacao: '1' } }, 'fields', /Tax Reform/],
    ['no fields', { ...good(), type: '211128' }, 'fields.indAceitacao', /missing/],
    [
      'a field of another event',
      { ...good(), type: '211128', fields: { indAceitacao: '1', gCredito: {} } },
      'fields.gCredito',
    ],
    [
      'a wrong value',
      { ...good(), type: '211128', fields: { indAceitacao: '2' } },
      'fields.indAceitacao',
      /0 \(not accepted\)/,
    ],
    ['a number', { ...good(), type: '211128', fields: { indAceitacao: 1 } }, 'fields.indAceitacao', /string/],
    [
      'a text that is not the type’s',
      { ...good(), type: '211128', fields: { indAceitacao: '1', descEvento: 'Imobilização de Item' } },
      'fields.descEvento',
    ],
    [
      'a text without its accents',
      { ...good(), type: '211130', fields: { descEvento: 'Imobilizacao de Item', gImobilizacao: [] } },
      'fields.descEvento',
    ],
    [
      'deep inside',
      { ...good(), type: '211150', fields: { gCredito: [{ nItem: '0', vCredIBS: '1', vCredCBS: '1' }] } },
      'fields.gCredito[0].nItem',
    ],
    ['an environment that is none', { ...good(), environment: 'test' }, 'environment'],
    ['an unknown field', { ...good(), chave: 'x' }, 'chave'],
    ['fields as a list', { ...good(), type: '211128', fields: [] }, 'fields'],
  ];
  for (const [what, body, field, message] of cases) {
    test(what, async () => {
      const answer = await ask(body);
      assert.deepEqual([answer.status, answer.json.code], [422, 'invalid_input'], answer.text);
      const fault = answer.json.errors.find((each: { field: string }) => each.field === field);
      assert.ok(fault, `no fault of ${field} in ${answer.text}`);
      if (message) assert.match(fault.message, message);
    });
  }
});

describe('what cannot be meant is refused with its reason', () => {
  const known = (noteKey: string, more: Record<string, unknown>) =>
    newDocument(api.db, {
      company_id: company.id,
      key: noteKey,
      issuer_tax_id: LETTERS,
      recipient_tax_id: company.taxId,
      ...more,
    });
  const cases: [what: string, type: string, more: Record<string, unknown>, field: string, detail: RegExp][] = [
    ['a note of another recipient', '210200', { recipient_tax_id: '11222333000181' }, 'key', /not_the_recipient/],
    ['a note of its own', '210220', { issuer_tax_id: company.taxId }, 'key', /own_document/],
    ['Awareness of a cancelled note', '210210', { state: 'cancelled' }, 'key', /note_cancelled/],
    ['Operation Unknown of a denied note', '210220', { state: 'denied' }, 'key', /note_denied/],
  ];
  for (const [what, type, more, field, detail] of cases) {
    test(what, async () => {
      const noteKey = key();
      await known(noteKey, more);
      const answer = await ask({ key: noteKey, type });
      assert.deepEqual([answer.status, answer.json.code], [422, 'manifestation_not_possible'], answer.text);
      assert.match(answer.json.detail, detail);
      assert.equal(answer.json.errors[0].field, field);
    });
  }

  test('a key of which nothing is known is taken: the government decides', async () => {
    assert.equal((await ask({ key: key(), type: '210220' })).status, 202);
  });

  test('Awareness after a conclusive statement, and one while another is on its way', async () => {
    const noteKey = key();
    const first = await ask({ key: noteKey, type: '210200' });
    await api.db.query(`update manifestations set status = 'registered', settled_at = now() where id = $1`, [
      first.json.id,
    ]);
    const aware = await ask({ key: noteKey, type: '210210' });
    assert.deepEqual([aware.status, aware.json.code], [422, 'manifestation_not_possible']);
    assert.equal((await ask({ key: noteKey, type: '210240', justification: REASON })).status, 202);
    const again = await ask({ key: noteKey, type: '210200' });
    assert.deepEqual([again.status, again.json.code], [409, 'manifestation_pending']);
  });

  test('a company without certificate, without capture, or being erased', async () => {
    const bare = await api.newCompany();
    const body = { key: key(), type: '210200' };
    const to = (id: string) => `/v1/companies/${id}/manifestations`;
    assert.equal((await ask(body, to(bare.id))).json.code, 'capture_missing');
    const certified = await api.companyWithCertificate();
    assert.equal((await ask(body, to(certified.id))).json.code, 'capture_missing');
    await api.ask('PUT', `/v1/companies/${certified.id}/captures/nfe`, { body: {} });
    assert.equal((await ask({ ...body, environment: 'production' }, to(certified.id))).json.code, 'capture_missing');
    await api.ask('DELETE', `/v1/companies/${certified.id}/captures/nfe`);
    assert.equal((await ask(body, to(certified.id))).status, 202, 'a stopped capture will do');
    await api.ask('PUT', `/v1/companies/${certified.id}/captures/nfe`, { body: { environment: 'production' } });
    const real = await ask({ ...body, key: key() }, to(certified.id));
    assert.equal(real.json.environment, 'production', 'that of the running one');
    await api.ask('DELETE', `/v1/companies/${certified.id}/captures/nfe`);
    const which = await ask({ ...body, key: key() }, to(certified.id));
    assert.equal(which.json.errors?.[0]?.field, 'environment', 'none is guessed');
    await api.ask('DELETE', `/v1/companies/${certified.id}/certificate`);
    const unsigned = await ask({ ...body, key: key(), environment: 'homologation' }, to(certified.id));
    assert.equal(unsigned.json.code, 'certificate_missing');
    await api.db.query('update companies set deleting_at = now() where id = $1', [certified.id]);
    assert.equal((await ask(body, to(certified.id))).json.code, 'company_being_deleted');
  });
});

describe('the taker of a CT-e', () => {
  const cteKey = () => key(LETTERS, '57');
  const OBS = 'Frete cobrado acima do combinado';
  const started = api.ask('PUT', `/v1/companies/${company.id}/captures/cte`, { body: {} });

  test('says that the service was not as agreed: justification is xObs', async () => {
    assert.equal((await started).status, 200);
    const body = { key: cteKey(), type: '610110', justification: OBS };
    const made = await ask(body);
    assert.equal(made.status, 202, made.text);
    assert.deepEqual(
      [made.json.documentType, made.json.description, made.json.sequence, made.json.justification, made.json.deadline],
      ['cte', 'Prestacao do Servico em Desacordo', 1, OBS, null],
    );
    assert.equal(api.temporal.said.at(-1), `manifest cte homologation ${company.id}`);
    const again = await ask(body);
    assert.deepEqual([again.status, again.json.id], [200, made.json.id]);
    for (const model of ['64', '67']) {
      assert.equal((await ask({ ...body, key: key(LETTERS, model) })).status, 202);
    }
  });

  test('takes it back: the protocol is found, or given; the reason stays here', async () => {
    const made = await ask({ key: cteKey(), type: '610110', justification: OBS });
    const cancel = { key: made.json.key, type: '610111', justification: 'Acertado com o transportador' };
    const early = await ask(cancel);
    assert.deepEqual([early.status, early.json.code], [409, 'manifestation_pending']);
    await api.db.query(
      `update manifestations set status = 'registered', protocol = '135260000000001', settled_at = now() where id = $1`,
      [made.json.id],
    );
    const back = await ask(cancel);
    assert.deepEqual(
      [back.status, back.json.fields, back.json.justification],
      [202, { nProtEvPrestDes: '135260000000001' }, cancel.justification],
      back.text,
    );
    const unknown = await ask({ key: cteKey(), type: '610111' });
    assert.deepEqual([unknown.status, unknown.json.code], [422, 'manifestation_not_possible']);
    assert.equal(unknown.json.errors[0].field, 'fields.nProtEvPrestDes');
    const given = await ask({ key: cteKey(), type: '610111', fields: { nProtEvPrestDes: '135260000000002' } });
    assert.equal(given.status, 202, given.text);
  });

  test('is told the 45 days, and that they are over', async () => {
    const told = async (daysAgo: number) => {
      const documentKey = cteKey();
      const authorizedAt = new Date(Date.now() - daysAgo * DAY).toISOString();
      const metadata = JSON.stringify({ taker: { taxId: company.taxId }, authorizedAt });
      await newDocument(api.db, {
        company_id: company.id,
        document_type: 'cte',
        kind: 'procCTe',
        key: documentKey,
        metadata,
      });
      const { json } = await ask({ key: documentKey, type: '610110', justification: OBS });
      return [
        json.deadline,
        json.warnings.map(({ code }: { code: string }) => code),
        Date.parse(authorizedAt),
      ] as const;
    };
    const [deadline, warnings, authorized] = await told(3);
    assert.deepEqual([Date.parse(deadline), warnings], [authorized + 45 * DAY, []]);
    assert.deepEqual((await told(46))[1], ['deadline_over']);
  });

  test('is nobody else: 422 where the CT-e is here and names another one', async () => {
    const documentKey = cteKey();
    const metadata = JSON.stringify({ taker: { taxId: '11222333000181' } });
    await newDocument(api.db, {
      company_id: company.id,
      document_type: 'cte',
      kind: 'procCTe',
      key: documentKey,
      metadata,
    });
    const answer = await ask({ key: documentKey, type: '610110', justification: OBS });
    assert.deepEqual([answer.status, answer.json.code], [422, 'manifestation_not_possible']);
    assert.match(answer.json.detail, /not_the_taker/);
    assert.equal(answer.json.errors[0].field, 'key');
  });

  const bad: [what: string, body: () => object, field: string, message: RegExp][] = [
    ['a note', () => ({ key: key(), type: '610110', justification: OBS }), 'key', /model 55: 610110 is about CT-e/],
    ['no xObs', () => ({ key: cteKey(), type: '610110' }), 'justification', /missing/],
    [
      'xObs too short',
      () => ({ key: cteKey(), type: '610110', justification: 'x'.repeat(14) }),
      'justification',
      /15 to 255/,
    ],
    [
      'xObs too long',
      () => ({ key: cteKey(), type: '610110', justification: 'x'.repeat(256) }),
      'justification',
      /has 256/,
    ],
    [
      'fields',
      () => ({ key: cteKey(), type: '610110', justification: OBS, fields: { xObs: OBS } }),
      'fields',
      /610110 has none/,
    ],
    [
      'a protocol that is none',
      () => ({ key: cteKey(), type: '610111', fields: { nProtEvPrestDes: '1' } }),
      'fields.nProtEvPrestDes',
      /15 digits/,
    ],
    [
      'a field of another event',
      () => ({ key: cteKey(), type: '610111', fields: { nProtEvento: '1' } }),
      'fields.nProtEvento',
      /not in this layout/,
    ],
  ];
  for (const [what, body, field, message] of bad) {
    test(`does not get ${what} through`, async () => {
      const answer = await ask(body());
      assert.deepEqual([answer.status, answer.json.code], [422, 'invalid_input'], answer.text);
      const fault = answer.json.errors.find((each: { field: string }) => each.field === field);
      assert.match(fault?.message ?? '', message, answer.text);
    });
  }

  test('in a batch with notes: both workflows are told', async () => {
    const items = [
      { key: key(), type: '210200' },
      { key: cteKey(), type: '610110', justification: OBS },
    ];
    const before = api.temporal.said.length;
    const answer = await ask({ items }, `${path}/batch`);
    assert.equal(answer.status, 202);
    assert.deepEqual(api.temporal.said.slice(before).toSorted(), [
      `manifest cte homologation ${company.id}`,
      `manifest nfe homologation ${company.id}`,
    ]);
  });
});

test('a new certificate wakes what waits for it', async () => {
  const waiting = await capturing();
  await ask({ key: key(), type: '210200' }, `/v1/companies/${waiting.id}/manifestations`);
  const before = api.temporal.said.length;
  const body = { pfx: pfxFor(waiting.taxId).toString('base64'), password: PASSWORD };
  assert.equal((await api.ask('PUT', `/v1/companies/${waiting.id}/certificate`, { body })).status, 200);
  assert.deepEqual(api.temporal.said.slice(before), [
    `wake nfe homologation ${waiting.id}`,
    `manifest nfe homologation ${waiting.id}`,
  ]);
});

describe('a batch', () => {
  test('is answered item by item, and the workflow is told once', async () => {
    const known = await ask({ key: key(), type: '210200' });
    const before = api.temporal.said.length;
    const answer = await ask(
      {
        items: [
          { key: key(), type: '210210' },
          { key: 'nonsense', type: '210210' },
          { key: known.json.key, type: '210200' },
          { key: key(), type: '210240' },
        ],
      },
      `${path}/batch`,
    );
    assert.equal(answer.status, 202);
    assert.deepEqual(
      answer.json.data.map(
        (item: { manifestation: unknown; error: { code: string; errors: { field: string }[] } | null }) =>
          item.error ? `${item.error.code} ${item.error.errors[0]?.field}` : 'taken',
      ),
      ['taken', 'invalid_input key', 'taken', 'invalid_input justification'],
    );
    assert.equal(answer.json.data[2].manifestation.id, known.json.id);
    assert.deepEqual(api.temporal.said.slice(before), [`manifest nfe homologation ${company.id}`]);
  });

  test('has 1 to 200 items', async () => {
    const items = Array.from({ length: 201 }, () => ({ key: 'x', type: 'y' }));
    for (const body of [{ items: [] }, { items }, {}, { items: [null] }]) {
      assert.equal((await ask(body, `${path}/batch`)).status, 422);
    }
  });
});

describe('lists and access', () => {
  test('filters, newest first, pages', async () => {
    const other = await capturing();
    const to = `/v1/companies/${other.id}/manifestations`;
    const keys = [key(), key(), key()];
    for (const noteKey of keys) await ask({ key: noteKey, type: '210210' }, to);
    const list = (query: string) => api.ask('GET', `/v1/manifestations?companyId=${other.id}${query}`);
    const first = await list('&limit=2');
    assert.deepEqual(
      first.json.data.map((each: { key: string }) => each.key),
      keys.toReversed().slice(0, 2),
    );
    const rest = await list(`&cursor=${first.json.nextCursor}`);
    assert.deepEqual([rest.json.data.length, rest.json.nextCursor], [1, null]);
    assert.equal((await list(`&key=${keys[0]}`)).json.data.length, 1);
    assert.equal((await list('&status=registered')).json.data.length, 0);
    assert.equal((await list('&type=210210&environment=homologation')).json.data.length, 3);
    for (const wrong of ['&status=done', '&type=x', '&key=1', '&limit=0', '&sort=key', '&cursor=zzz']) {
      assert.equal((await list(wrong)).status, 422, wrong);
    }
  });

  test('a key sees and speaks for its own companies only, and needs the scope', async () => {
    const other = await capturing();
    const { json: mine } = await ask({ key: key(), type: '210200' });
    const limited = await api.newKey(['manage'], [other.id]);
    const reader = await api.newKey(['read']);
    assert.equal((await api.ask('GET', `/v1/manifestations/${mine.id}`, { key: limited })).status, 404);
    assert.equal((await api.ask('POST', path, { key: limited, body: { key: key(), type: '210200' } })).status, 404);
    assert.equal((await api.ask('POST', path, { key: reader, body: { key: key(), type: '210200' } })).status, 403);
    assert.equal((await api.ask('GET', `/v1/manifestations/${mine.id}`, { key: reader })).status, 200);
    const list = await api.ask('GET', '/v1/manifestations', { key: limited });
    assert.deepEqual(list.json.data, []);
    assert.equal((await api.ask('GET', '/v1/manifestations/00000000-0000-4000-8000-000000000000')).status, 404);
  });
});

describe('a statement about an NFS-e', async () => {
  const taker = await api.companyWithCertificate();
  await api.ask('PUT', `/v1/companies/${taker.id}/captures/nfse`, { body: {} });
  const to = `/v1/companies/${taker.id}/manifestations`;
  const REASONED = 'Serviço não contratado por esta empresa';

  test('is taken when it is confirmed, with its reason; the same again is the same', async () => {
    const body = { key: nfseKey(1), type: '203206', reasonCode: '9', justification: REASONED, confirm: true };
    const made = await ask(body, to);
    assert.equal(made.status, 202, made.text);
    const { documentType, description, reasonCode, justification, status } = made.json;
    assert.deepEqual(
      [documentType, description, reasonCode, justification, status],
      ['nfse', 'Manifestação de NFS-e - Rejeição do Tomador', '9', REASONED, 'pending'],
    );
    assert.equal(api.temporal.said.at(-1), `manifest nfse homologation ${taker.id}`);
    const again = await ask({ ...body, reasonCode: '1' }, to);
    assert.deepEqual([again.status, again.json.id], [200, made.json.id]);
    const other = await ask({ key: nfseKey(1), type: '203202', confirm: true }, to);
    assert.deepEqual([other.status, other.json.code], [409, 'manifestation_pending']);
    assert.equal((await api.ask('GET', `/v1/manifestations?key=${nfseKey(1)}`)).json.data.length, 1);
  });

  test('needs a person’s word, because it cannot be taken back', async () => {
    for (const confirm of [undefined, false]) {
      const { status, json } = await ask({ key: nfseKey(2), type: '203202', confirm }, to);
      assert.deepEqual([status, json.code, json.errors[0].field], [422, 'confirmation_required', 'confirm']);
    }
    assert.equal((await api.ask('GET', `/v1/manifestations?key=${nfseKey(2)}`)).json.data.length, 0);
  });

  test('has its own fields, in their form', async () => {
    const good = { key: nfseKey(3), type: '203206', reasonCode: '1', confirm: true };
    const wrong: [more: object, field: string][] = [
      [{ reasonCode: undefined }, 'reasonCode'],
      [{ reasonCode: '6' }, 'reasonCode'],
      [{ reasonCode: '9' }, 'justification'],
      [{ justification: 'curta' }, 'justification'],
      [{ justification: 'x'.repeat(256) }, 'justification'],
      [{ type: '203202' }, 'reasonCode'],
      [{ type: '203202', reasonCode: undefined, justification: REASONED }, 'justification'],
      [{ fields: { cMotivo: '1' } }, 'fields'],
      [{ key: `${nfseKey(3).slice(0, 49)}${(Number(nfseKey(3).at(-1)) + 1) % 10}` }, 'key'],
      [{ key: key() }, 'key'],
    ];
    for (const [more, field] of wrong) {
      const { status, json } = await ask({ ...good, ...more }, to);
      assert.deepEqual([status, json.errors?.[0]?.field], [422, field], JSON.stringify(more));
    }
    assert.equal((await ask({ key: key(), type: '210200', reasonCode: '1' })).json.errors[0].field, 'reasonCode');
  });

  test('is refused about a note of which it is certain that Sefin takes none', async () => {
    const document = (noteKey: string, more: object) =>
      newDocument(api.db, {
        company_id: taker.id,
        document_type: 'nfse',
        kind: 'NFSe',
        root: 'NFSe',
        key: noteKey,
        issuer_tax_id: '11222333000181',
        recipient_tax_id: taker.taxId,
        ...more,
      });
    await document(nfseKey(4), { state: 'cancelled' });
    await document(nfseKey(5), { metadata: { emitter: { taxId: taker.taxId } } });
    await document(nfseKey(6), { recipient_tax_id: '11222333000181' });
    for (const [number, problem] of [
      [4, 'note_closed'],
      [5, 'own_document'],
      [6, 'not_the_recipient'],
    ] as const) {
      const { status, json } = await ask({ key: nfseKey(number), type: '203202', confirm: true }, to);
      assert.deepEqual([status, json.code], [422, 'manifestation_not_possible']);
      assert.match(json.detail, new RegExp(`^${problem}:`));
    }
  });
});
