import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DOCUMENT_KINDS, type DocumentKind } from '../../src/model/document.js';
import { ALERT_CODES, type DocumentType } from '../../src/model/words.js';
import { alertEventName, documentEventName, EVENT_TYPES } from '../../src/webhooks/events.js';

type Row = [DocumentType, DocumentKind, 'received' | 'issued', string | null, string, string, string?];

const INVOICE = 'product_invoice_inbound';
const SUMMARY = 'product_invoice_inbound_summary';
const TRANSPORT = 'transportation_invoice_inbound';
const SERVICE = 'service_invoice_inbound';

const TABLE: Row[] = [
  ['nfe', 'procNFe', 'received', null, INVOICE, 'issued_successfully'],
  ['nfe', 'procNFe', 'issued', null, INVOICE, 'outbound_successfully'],
  ['nfe', 'procEventoNFe', 'received', '210200', INVOICE, 'input_event_raised_successfully'],
  ['nfe', 'procEventoNFe', 'received', '210210', INVOICE, 'input_event_raised_successfully'],
  ['nfe', 'procEventoNFe', 'issued', '210220', INVOICE, 'input_event_raised_successfully'],
  ['nfe', 'procEventoNFe', 'received', '210240', INVOICE, 'input_event_raised_successfully'],
  ['nfe', 'procEventoNFe', 'received', '110111', INVOICE, 'event_raised_successfully'],
  ['nfe', 'procEventoNFe', 'issued', '110110', INVOICE, 'event_raised_successfully'],
  ['nfe', 'procEventoNFe', 'received', '211110', INVOICE, 'event_raised_successfully'],
  ['nfe', 'procEventoNFe', 'received', null, INVOICE, 'event_raised_successfully'],
  ['nfe', 'resNFe', 'received', null, SUMMARY, 'issued_successfully'],
  ['nfe', 'resEvento', 'received', '210210', SUMMARY, 'event_raised_successfully'],
  ['cte', 'procCTe', 'received', null, TRANSPORT, 'issued_successfully'],
  ['cte', 'procCTe', 'issued', null, TRANSPORT, 'outbound_successfully'],
  ['cte', 'procCTeOS', 'received', null, TRANSPORT, 'issued_successfully'],
  ['cte', 'procCTeSimp', 'received', null, TRANSPORT, 'issued_successfully'],
  ['cte', 'procGTVe', 'issued', null, TRANSPORT, 'outbound_successfully'],
  ['cte', 'procEventoCTe', 'received', '610110', TRANSPORT, 'event_raised_successfully'],
  ['nfse', 'NFSe', 'received', null, SERVICE, 'issued_successfully', 'inbound.serviceInvoice.received'],
  ['nfse', 'NFSe', 'issued', null, SERVICE, 'outbound_successfully', 'inbound.serviceInvoice.issued'],
  [
    'nfse',
    'evento',
    'received',
    '101101',
    SERVICE,
    'event_raised_successfully',
    'inbound.serviceInvoice.event.received',
  ],
  [
    'nfse',
    'pedRegEvento',
    'received',
    '101101',
    SERVICE,
    'event_raised_successfully',
    'inbound.serviceInvoice.event.received',
  ],
  ['nfse', 'DPS', 'received', null, SERVICE, 'unknown_document_received'],
  ['nfse', 'CNC', 'received', null, SERVICE, 'unknown_document_received'],
  ['nfe', 'unknown', 'received', null, INVOICE, 'unknown_document_received'],
  ['cte', 'unknown', 'received', null, TRANSPORT, 'unknown_document_received'],
  ['nfse', 'unknown', 'received', null, SERVICE, 'unknown_document_received'],
];

describe('names of events', () => {
  for (const [documentType, kind, direction, eventType, type, action, eventName] of TABLE) {
    test(`${documentType} ${kind} ${direction} ${eventType ?? ''} is ${type} ${action}`, () => {
      const name = documentEventName({ documentType, kind, direction, eventType });
      assert.deepEqual(name, eventName ? { type, action, eventName } : { type, action });
      assert.ok(EVENT_TYPES.includes(name.type));
    });
  }

  test('every kind of document has a row', () => {
    assert.deepEqual(
      DOCUMENT_KINDS.filter((kind) => !TABLE.some((row) => row[1] === kind)),
      [],
    );
  });

  test('every alert is a capture_alert with its code as action', () => {
    for (const code of ALERT_CODES) assert.deepEqual(alertEventName(code), { type: 'capture_alert', action: code });
  });
});
