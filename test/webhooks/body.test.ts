import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DocumentKind } from '../../src/model/document.js';
import { alertEvent, documentEvent, newEventId, testBody } from '../../src/webhooks/body.js';
import { documentView } from '../../src/webhooks/document-view.js';
import { document } from './support.js';

const COMPANY = { id: '0199f6b2-0000-7000-8000-000000000001', taxId: '12ABC34501DE35', externalId: null };
const AT = Date.UTC(2026, 10, 30, 12, 30);

describe('the JSON of a document', () => {
  test('has the fields of the contract', () => {
    const view = documentView({ ...document(COMPANY.id), id: 'd1' });
    assert.deepEqual(JSON.parse(JSON.stringify(view)), {
      id: 'd1',
      companyId: COMPANY.id,
      documentType: 'nfe',
      kind: 'procNFe',
      schema: 'procNFe_v4.00.xsd',
      nsu: '000000000000149',
      environment: 'homologation',
      key: '35261199999999000191550010000012341000012349',
      direction: 'received',
      state: 'authorized',
      fullXml: 'present',
      capturedAt: '2026-11-30T12:00:00.000Z',
      origin: 'distribution',
      metadata: { number: '1234', total: '1234.56', issuer: { taxId: '99999999000191', name: 'Fornecedor Ltda' } },
      event: null,
      xmlSha256: 'ab'.repeat(32),
      suppressed: null,
      links: {
        self: '/v1/documents/d1',
        xml: '/v1/documents/d1/xml',
        pdf: '/v1/documents/d1/pdf',
        events: '/v1/documents/d1/events',
      },
    });
  });

  test('leaves out what the document does not have', () => {
    const view = documentView(document(COMPANY.id, { nsu: null, key: null, schema: null, metadata: {} }));
    for (const field of ['nsu', 'key', 'schema', 'warnings', 'root']) assert.ok(!(field in view), field);
    assert.deepEqual(view.metadata, {});
  });

  test('names the root element of an unknown kind, and shows warnings', () => {
    const view = documentView(
      document(COMPANY.id, { kind: 'unknown', root: 'resNovo', warnings: ['key: check digit'] }),
    );
    assert.equal(view.root, 'resNovo');
    assert.deepEqual(view.warnings, ['key: check digit']);
  });

  test('offers a PDF only where there is a printed form', () => {
    const linkOf = (kind: DocumentKind, type?: string) =>
      documentView(document(COMPANY.id, { kind, event: type === undefined ? null : { type } })).links.pdf;
    for (const kind of ['procNFe', 'procCTe', 'procCTeOS', 'procCTeSimp', 'NFSe'] as const)
      assert.ok(linkOf(kind), kind);
    for (const kind of ['procEventoNFe', 'procEventoCTe'] as const) {
      assert.ok(linkOf(kind, '110110'), kind);
      assert.equal(linkOf(kind, '110111'), undefined, kind);
    }
    for (const kind of ['resNFe', 'procGTVe', 'evento', 'DPS', 'CNC', 'unknown'] as const) {
      assert.equal(linkOf(kind), undefined, kind);
    }
    assert.equal(linkOf('resEvento', '110110'), undefined);
  });
});

describe('the body of an event', () => {
  test('carries the id of the event, the sequence, the company and the document', () => {
    const one = document(COMPANY.id);
    const event = documentEvent(one, COMPANY, AT);
    assert.equal(event.documentId, one.id);
    assert.equal(event.documentType, 'nfe');
    assert.deepEqual(JSON.parse(event.body(1234)), {
      id: event.id,
      type: 'product_invoice_inbound',
      action: 'issued_successfully',
      createdAt: '2026-11-30T12:30:00.000Z',
      sequence: 1234,
      company: COMPANY,
      data: JSON.parse(JSON.stringify(documentView(one))),
    });
  });

  test('shows nothing of a company but what the contract names', () => {
    const event = documentEvent(document(COMPANY.id), { ...COMPANY, name: 'Secreta SA' } as typeof COMPANY, AT);
    assert.ok(!event.body(1).includes('Secreta'));
  });

  test('of an NFS-e has its second name', () => {
    const event = documentEvent(document(COMPANY.id, { documentType: 'nfse', kind: 'NFSe' }), COMPANY, AT);
    assert.equal(JSON.parse(event.body(1)).eventName, 'inbound.serviceInvoice.received');
  });

  test('of an alert says which and why', () => {
    const alert = { code: 'other_consumer', detail: 'Another program asks.', documentType: 'nfe' } as const;
    const event = alertEvent(alert, COMPANY, AT);
    const body = JSON.parse(event.body(7));
    assert.equal(body.type, 'capture_alert');
    assert.equal(body.action, 'other_consumer');
    assert.deepEqual(body.data, { severity: 'warning', ...alert });
    const critical = alertEvent({ ...alert, severity: 'critical' }, COMPANY, AT);
    assert.equal(JSON.parse(critical.body(8)).data.severity, 'critical');
    assert.equal(event.documentId, null);
  });

  test('is the same text every time', () => {
    const event = documentEvent(document(COMPANY.id), COMPANY, AT);
    assert.equal(event.body(9), event.body(9));
  });
});

test('ids of events grow, and have no dot to confuse a signature', () => {
  const ids = Array.from({ length: 10_000 }, newEventId);
  assert.ok(ids.every((id) => /^evt_[0-9a-f]{32}$/.test(id)));
  assert.deepEqual(ids, [...ids].sort());
  assert.equal(new Set(ids).size, ids.length);
});

test('a test message belongs to no company', () => {
  const body = JSON.parse(testBody('evt_1', 'e1', AT));
  assert.deepEqual(body, {
    id: 'evt_1',
    type: 'test',
    action: 'requested',
    createdAt: '2026-11-30T12:30:00.000Z',
    sequence: 0,
    company: null,
    data: { endpointId: 'e1' },
  });
});
