import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, describe, mock, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decodeItem } from '../../src/documents/index.js';
import { governmentAddresses } from '../../src/government/addresses.js';
import { adnPath, createAdn } from '../../src/government/adn.js';
import { type AdnContext, readAdnAnswer } from '../../src/government/adn-answer.js';
import { createPatientGet } from '../../src/government/patient-get.js';
import { type GovernmentRequest, type GovernmentResponse, TransportFailure } from '../../src/government/types.js';
import { type Nsu, parseNsu } from '../../src/model/nsu.js';
import { ALL_HELD_BACK, HELD_BACK } from '../../src/model/outcome.js';
import { nfse, nfseEvent, nfseKey } from '../documents/nfse-samples.js';
import { sharedFile } from '../support/shared.js';

const zipped = (xml: string) => gzipSync(xml).toString('base64');
const after = (nsu: number): AdnContext => ({ environment: 'homologation', query: { after: parseNsu(nsu) } });

function item(nsu: number | string | null, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    NSU: nsu,
    ChaveAcesso: nfseKey(10),
    TipoDocumento: 'NFSE',
    TipoEvento: null,
    ArquivoXml: zipped(nfse()),
    DataHoraGeracao: '2026-08-28T14:37:38.9',
    ...more,
  };
}

function lote(items: unknown, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS',
    LoteDFe: items,
    Alertas: null,
    Erros: null,
    TipoAmbiente: 'HOMOLOGACAO',
    VersaoAplicativo: '1.0.0.0',
    DataHoraProcessamento: '2026-09-21T10:00:00.123-03:00',
    ...more,
  });
}

const NONE = lote([], {
  StatusProcessamento: 'NENHUM_DOCUMENTO_LOCALIZADO',
  Erros: [{ Mensagem: {}, Codigo: 'E2220', Descricao: 'Nenhum documento localizado' }],
});
const rejection = (code: string) =>
  lote(null, { StatusProcessamento: 'REJEICAO', Erros: [{ Codigo: code, Descricao: 'Motivo', Complemento: 'Mais' }] });

function read(
  body: string | Uint8Array,
  status: number | null = 200,
  context = after(0),
  headers: Record<string, string> = {},
) {
  return readAdnAnswer(Buffer.from(body as string), status === null ? null : { status, headers }, context);
}

describe('a page', () => {
  test('the cursor is the highest NSU; every document is a range of the answer', () => {
    const body = Buffer.from(lote([item(7), item(9, { TipoDocumento: 'EVENTO', ArquivoXml: zipped(nfseEvent()) })]));
    const answer = read(body);
    assert.deepEqual(answer.outcome, {
      kind: 'documents',
      statusCode: 'DOCUMENTOS_LOCALIZADOS',
      ultNsu: parseNsu(9),
      maxNsu: parseNsu(9),
      items: 2,
    });
    assert.equal(answer.serverTime, Date.parse('2026-09-21T13:00:00.123Z'));
    const kinds = answer.items.map(({ offset, length, encoding, schema }) => {
      const decoded = decodeItem({ content: body.subarray(offset, offset + length), encoding, schema }, 'nfse');
      return decoded.ok ? [decoded.document.kind, decoded.document.warnings.length] : decoded.failure;
    });
    assert.deepEqual(kinds, [
      ['NFSe', 0],
      ['evento', 0],
    ]);
  });

  test('what is not above the cursor came again; nothing else is the end, not a loop', () => {
    const again = read(lote([item(7), item(8)]), 200, after(7));
    assert.deepEqual([again.items.map(({ nsu }) => nsu), again.warnings.length], [[parseNsu(8)], 1]);
    assert.equal(read(lote([item(7)]), 200, after(7)).outcome.kind, 'none');
    const old = read(lote([item(3), item(4)]), 200, after(7));
    assert.deepEqual(
      [old.outcome.kind, 'ultNsu' in old.outcome && old.outcome.ultNsu, old.items],
      ['documents', parseNsu(7), []],
    );
  });

  test('a document without bytes fails by itself; the others keep their places', () => {
    const body = Buffer.from(
      lote([
        item(1, { ArquivoXml: null }),
        item(2),
        item(3, { ArquivoXml: undefined }),
        item(4, { ArquivoXml: '' }),
        item(5),
      ]),
    );
    const decoded = read(body).items.map(({ offset, length, encoding, schema }) =>
      decodeItem({ content: body.subarray(offset, offset + length), encoding, schema }, 'nfse'),
    );
    assert.deepEqual(
      decoded.map((each) => (each.ok ? 'ok' : each.failure)),
      ['empty', 'ok', 'empty', 'empty', 'ok'],
    );
    assert.equal(new Set(read(body).items.map(({ offset }) => offset)).size, 5, 'places tell them apart');
  });

  test('truncated gzip, base64 of base64, signs that JSON escapes', () => {
    const whole = zipped(nfse());
    const cut = gzipSync(nfse()).subarray(0, 200).toString('base64');
    const twice = Buffer.from(whole).toString('base64');
    const body = Buffer.from(
      lote([item(1, { ArquivoXml: cut }), item(2, { ArquivoXml: twice }), item(3)])
        .replaceAll('+', '\\u002B')
        .replaceAll('/', '\\/'),
    );
    const decoded = read(body).items.map((each) => decodeItem({ ...each, content: each.content }, 'nfse'));
    assert.deepEqual(
      decoded.map((each) => (each.ok ? 'ok' : each.failure)),
      ['gzip', 'ok', 'ok'],
    );
  });

  test('names in any case, a BOM, Latin-1 bytes, NSUs as text, a label of text/plain', () => {
    const odd = lote([item('12')], { Alertas: [{ Descricao: 'Atenção' }] }).replaceAll(
      /"([A-Z]\w+)":/g,
      (_, name) => `"${name.toLowerCase()}":`,
    );
    for (const body of [Buffer.from(odd), Buffer.from(`\uFEFF${odd}`), Buffer.from(odd, 'latin1')]) {
      const answer = read(body);
      assert.deepEqual([answer.items.length, answer.statusText], [1, 'Atenção']);
      const [only] = answer.items;
      assert.equal(only && decodeItem(only, 'nfse').ok, true);
    }
  });

  test('of another environment it is not believed', () => {
    const answer = read(lote([item(1)], { TipoAmbiente: 'PRODUCAO' }));
    assert.deepEqual([answer.outcome.kind, answer.items], ['unreadable', []]);
    assert.equal(read(lote([item(1)], { TipoAmbiente: undefined })).outcome.kind, 'documents');
  });

  test('"documents" without any, or without a number, moves nothing', () => {
    assert.equal(read(lote([])).outcome.kind, 'unreadable');
    assert.equal(read(lote(null)).outcome.kind, 'unreadable');
    assert.equal(read(lote([item(null)])).outcome.kind, 'unreadable');
  });

  test('one number asked for: that document or none', () => {
    const only = (nsu: number): AdnContext => ({ environment: 'homologation', query: { only: parseNsu(nsu) } });
    assert.equal(read(lote([item(7)]), 200, only(7)).items.length, 1);
    assert.equal(read(lote([item(8)]), 200, only(7)).outcome.kind, 'none');
  });

  test('events of a note may have no number', () => {
    const events: AdnContext = { environment: 'homologation', query: { events: nfseKey(10) } };
    assert.equal(read(lote([item(null, { TipoDocumento: 'EVENTO' })]), 200, events).items.length, 1);
    assert.equal(read(NONE, 404, events).outcome.kind, 'none');
  });
});

describe('the body first, then HTTP', () => {
  test('404: none found in JSON, an error in HTML or empty (cases C68, C69)', () => {
    const none = read(NONE, 404);
    assert.deepEqual([none.outcome.kind, none.statusText], ['none', 'Nenhum documento localizado']);
    assert.equal(read('<html><h1>404 Not Found</h1></html>', 404).outcome.kind, 'unreadable');
    assert.match(read('<html><h1>404 Not Found</h1></html>', 404).statusText, /404 Not Found/);
    assert.equal(read('', 404).outcome.kind, 'unreadable');
    assert.equal(read('{"message":"no route"}', 404).outcome.kind, 'unreadable');
    for (const status of [200, 204]) assert.equal(read('', status).outcome.kind, 'unreadable');
  });

  test('rejections carry their code and reason, whatever the status (case C70)', () => {
    for (const status of [200, 400, null]) {
      const answer = read(rejection('E2242'), status);
      assert.deepEqual(
        [answer.outcome, answer.statusText],
        [{ kind: 'rejected', statusCode: 'E2242' }, 'Motivo: Mais'],
      );
    }
    const two = lote(null, {
      StatusProcessamento: 'REJEICAO',
      Erros: [
        { Codigo: 'E2242', Descricao: 'Motivo' },
        { Codigo: 'E1217', Mensagem: 'Outro' },
      ],
    });
    assert.equal(
      read(two, 400).statusText,
      'Motivo; E1217: Outro',
      'the code that has a field of its own is not said twice',
    );
    assert.equal(read(rejection('E1203'), 400).outcome.kind, 'certificate_refused');
    assert.equal(read(rejection('E1206'), 400).outcome.kind, 'rejected', 'a list of revoked ones that was not read');
    assert.equal(read(rejection('E2230'), 400).outcome.kind, 'none');
    assert.equal(read(rejection('E2242'), 403).outcome.kind, 'certificate_refused');
  });

  test('certificates, outages', () => {
    for (const status of [401, 403, 495, 496]) assert.equal(read('<html>', status).outcome.kind, 'certificate_refused');
    for (const status of [500, 502, 503, 504]) assert.equal(read('<html>', status).outcome.kind, 'unreadable');
  });

  test('429 with seconds, a date, or nothing (case C79)', () => {
    const wait = (headers: Record<string, string>) => {
      const { outcome } = read('<h1>429 Too Many Requests</h1>', 429, after(0), headers);
      return outcome.kind === 'throttled' ? outcome.retryAfterMs : outcome.kind;
    };
    assert.equal(wait({}), null);
    assert.equal(wait({ 'retry-after': '30' }), 30_000);
    assert.equal(
      wait({ 'retry-after': 'Mon, 21 Sep 2026 13:10:00 GMT', date: 'Mon, 21 Sep 2026 13:00:00 GMT' }),
      600_000,
    );
    assert.equal(wait({ 'retry-after': 'Mon, 21 Sep 2020 13:10:00 GMT' }), 0);
    assert.equal(wait({ 'retry-after': 'soon' }), null);
    assert.equal(wait({ 'retry-after': '999999999' }), 86_400_000);
  });

  test('a status of the future is waited out like a rejection', () => {
    assert.deepEqual(read(lote([], { StatusProcessamento: 'EM_FILA' })).outcome, {
      kind: 'rejected',
      statusCode: 'EM_FILA',
    });
  });

  test('nothing that is not JSON breaks it', () => {
    for (const body of ['[]', 'null', '"x"', '{', '{"StatusProcessamento":7,"LoteDFe":{"NSU":{}}}', '\u0000'])
      read(body);
  });
});

describe('the request', () => {
  const certificate = { keyPem: 'k', chainPem: 'c', thumbprint: 't', holderTaxId: '20212223000170' };
  const path = (nsu: number, taxId: string, holderTaxId: string | undefined = certificate.holderTaxId) =>
    adnPath({
      query: { after: parseNsu(nsu) },
      taxId,
      certificate: { ...certificate, ...(holderTaxId ? { holderTaxId } : {}) },
    });

  test('the last NSU as a plain integer; a branch is named, nobody else', () => {
    assert.equal(path(1_440, certificate.holderTaxId), '/DFe/1440?lote=true');
    assert.equal(path(0, '20212223000250'), '/DFe/0?lote=true&cnpjConsulta=20212223000250');
    assert.equal(path(0, '13579246800'), '/DFe/0?lote=true');
    assert.equal(path(0, '20212223000250', '13579246800'), '/DFe/0?lote=true', 'a CPF cannot ask for a CNPJ (E2242)');
    assert.equal(adnPath({ query: { only: '000000000000007' as Nsu }, taxId: '', certificate }), '/DFe/7?lote=false');
    assert.equal(adnPath({ query: { events: nfseKey(1) }, taxId: '', certificate }), `/NFSe/${nfseKey(1)}/Eventos`);
  });

  /** Answers in turn; the last one again and again. */
  function asked(...answers: (number | 'not_sent' | 'unknown')[]) {
    const sent: GovernmentRequest[] = [];
    const transport = async (request: GovernmentRequest): Promise<GovernmentResponse> => {
      sent.push(request);
      const next = answers[Math.min(sent.length, answers.length) - 1];
      if (next === 'not_sent' || next === 'unknown') throw new TransportFailure(next, 'reason');
      request.beforeSend?.();
      const body = Buffer.from(next === 200 ? NONE : '<html>');
      return { status: next ?? 0, contentType: null, headers: {}, body };
    };
    const addresses = governmentAddresses('{"homologation":{"adn":"https://adn.test/contribuintes"}}');
    const adn = createAdn({
      get: createPatientGet(transport, { pausesMs: [1, 1, 1], timeScale: 1_000_000 }),
      addresses,
    });
    const call = (more: { beforeSend?: () => void; thumbprint?: string } = {}) =>
      adn.call({
        ...after(5),
        taxId: certificate.holderTaxId,
        certificate: { ...certificate, thumbprint: more.thumbprint ?? 't' },
        limitMs: 5_000,
        ...(more.beforeSend && { beforeSend: more.beforeSend }),
      });
    return { sent, call };
  }

  test('goes to the address of its environment, with TLS up to 1.3', async () => {
    const { sent, call } = asked(200);
    assert.equal((await call()).outcome.kind, 'none');
    const [request] = sent;
    assert.equal(request?.url, 'https://adn.test/contribuintes/DFe/5?lote=true');
    assert.deepEqual(
      [request?.method, request?.newestTls, request?.headers],
      ['GET', 'TLSv1.3', { accept: 'application/json' }],
    );
  });

  test('is made again after a 5xx and when nothing left, at most four times', async () => {
    for (const [answers, calls, outcome] of [
      [[503, 200], 2, 'none'],
      [['not_sent', 502, 200], 3, 'none'],
      [[502], 4, 'unreadable'],
      [['not_sent'], 4, 'not_sent'],
      [['unknown', 200], 1, 'unknown'],
      [[404, 200], 1, 'unreadable'],
      [[429, 200], 1, 'throttled'],
      [[503, 'not_sent'], 2, 'unreadable'],
    ] as const) {
      const { sent, call } = asked(...answers);
      assert.deepEqual([(await call()).outcome.kind, sent.length], [outcome, calls], String(answers));
    }
  });

  test('not again when it must not leave any more: what was answered stays the answer', async () => {
    let allowed = 1;
    const { call } = asked(503);
    const answer = await call({
      beforeSend: () => {
        if (allowed-- <= 0) throw new TransportFailure('not_sent', 'held back');
      },
    });
    assert.deepEqual([answer.outcome.kind, answer.raw?.status], ['unreadable', 503]);
  });

  describe('breakers', () => {
    afterEach(() => mock.timers.reset());

    /** A service at each host that answers what it is told to, and one process that asks it. */
    function process() {
      const sent: string[] = [];
      const state: { body: string; hold: Promise<void> | null } = { body: '', hold: null };
      const get = createPatientGet(async ({ url, certificate: { thumbprint } }) => {
        sent.push(thumbprint);
        await state.hold;
        return {
          status: 404,
          contentType: null,
          headers: {},
          body: Buffer.from(url.includes('/up/') ? NONE : state.body),
        };
      });
      const addresses = governmentAddresses(
        '{"homologation":{"adn":"https://adn.test/contribuintes"},"production":{"adn":"https://other.test/up/contribuintes"}}',
      );
      const adn = createAdn({ addresses, get });
      const call = async (thumbprint: string, environment: AdnContext['environment'] = 'homologation') => {
        const { outcome } = await adn.call({
          ...after(5),
          environment,
          taxId: '1',
          certificate: { ...certificate, thumbprint },
          limitMs: 5_000,
        });
        return outcome.kind === 'not_sent' ? outcome.reason : outcome.kind;
      };
      const fails = async (count: number, thumbprint: (i: number) => string) => {
        for (let i = 0; i < count; i++) assert.equal(await call(thumbprint(i)), 'unreadable', `${i}`);
      };
      return { sent, state, call, fails };
    }

    test('after 10 failures of a certificate nobody asks with it for a minute; another one may', async () => {
      const { sent, call, fails } = process();
      await fails(10, () => 'a');
      assert.equal(await call('a'), HELD_BACK);
      assert.equal(sent.length, 10);
      await fails(1, () => 'b');
    });

    test('after 50 failures of all nobody asks there; an answer begins the count anew; another host is another count', async () => {
      const { state, call, fails } = process();
      await fails(49, (i) => `a${i}`);
      state.body = NONE;
      assert.equal(await call('b'), 'none');
      state.body = '';
      await fails(50, (i) => `c${i}`);
      assert.equal(await call('d'), ALL_HELD_BACK);
      assert.equal(await call('d', 'production'), 'unreadable', 'of another environment, so it was asked');
    });

    test('when the time is over one call finds out, and nobody waits for it', async () => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() });
      const { sent, state, call, fails } = process();
      await fails(50, (i) => `a${i}`);
      let answer = () => {};
      state.hold = new Promise((resolve) => {
        answer = resolve;
      });
      state.body = NONE;
      mock.timers.tick(61_000);
      const finding = call('b');
      assert.equal(await call('c'), HELD_BACK);
      assert.equal(sent.at(-1), 'b');
      answer();
      assert.equal(await finding, 'none');
      assert.equal(await call('c'), 'none');
    });

    test('a certificate that was to be tried again while all are held back is still to be tried', async () => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() });
      const { call, fails } = process();
      await fails(10, () => 'a');
      mock.timers.tick(30_000);
      await fails(40, (i) => `b${i}`);
      mock.timers.tick(40_000);
      assert.equal(await call('a'), ALL_HELD_BACK);
      mock.timers.tick(25_000);
      assert.equal(await call('c'), 'unreadable', 'finds out that nothing is over');
      mock.timers.tick(61_000);
      await fails(1, () => 'a');
      assert.equal(await call('a'), HELD_BACK, 'its own failures still count');
    });
  });
});

describe('collected cases', () => {
  const there = sharedFile('cases/68-adn-404-none-found.json') !== null;
  test('C68 to C79', { skip: !there && 'no ../shared here' }, () => {
    const context: AdnContext = { environment: 'production', query: { after: parseNsu(0) } };
    const readCase = (name: string, status: number) =>
      readAdnAnswer(readFileSync(sharedFile(`cases/${name}`) ?? ''), { status, headers: {} }, context);
    assert.equal(readCase('68-adn-404-none-found.json', 404).outcome.kind, 'none');
    assert.equal(readCase('69-adn-404-html.txt', 404).outcome.kind, 'unreadable');
    assert.equal(readCase('69b-adn-404-empty.txt', 404).outcome.kind, 'unreadable');
    const rejected = readCase('70-adn-400-rejeicao.json', 400);
    assert.deepEqual([rejected.outcome.kind, rejected.statusText.includes('CNPJ nao autorizado')], ['rejected', true]);
    const page = readCase('73-adn-note-then-cancel-event.json', 200);
    assert.deepEqual(
      page.items.map((each) => {
        const decoded = decodeItem(each, 'nfse');
        return decoded.ok && [decoded.document.kind, decoded.document.implies, decoded.document.warnings.length];
      }),
      [
        ['NFSe', 'authorized', 0],
        ['evento', 'cancelled', 0],
      ],
    );
  });
});
