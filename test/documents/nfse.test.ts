import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  decodeItem,
  directionOf,
  isNfseKey,
  parseNfseKey,
  rolesOf,
  stateOf,
  stateOfKey,
} from '../../src/documents/index.js';
import type { DecodedDocument } from '../../src/model/document.js';
import { sharedFile } from '../support/shared.js';
import { dps, nfse, nfseEvent, nfseEventRequest, nfseKey, SERVICE } from './nfse-samples.js';
import { cpf, docZip, PEOPLE } from './samples.js';

function decode(xml: string | Uint8Array, schema: string | null = null): DecodedDocument {
  const decoded = decodeItem({ content: docZip(xml), encoding: 'base64+gzip', schema }, 'nfse');
  assert.ok(decoded.ok, JSON.stringify(decoded));
  return decoded.document;
}

const REJECTION =
  '<xDesc>Rejeição do Tomador</xDesc><infRej><cMotivo>9</cMotivo><xMotivo>Texto inventado longo</xMotivo></infRej>';

describe('NFS-e', () => {
  test('everything that is read', () => {
    const document = decode(
      nfse({ intermediary: SERVICE.intermediary, otherRecipient: SERVICE.stranger, replaces: nfseKey(9) }),
      'NFSe',
    );
    assert.deepEqual(document, {
      kind: 'NFSe',
      root: 'NFSe',
      key: nfseKey(10),
      metadata: {
        uf: 'SP',
        municipality: '3550308',
        number: '10',
        environment: 'homologation',
        issuedAt: '2026-09-18T23:29:00-03:00',
        series: '1',
        dpsNumber: '77',
        competence: '2026-09-01',
        emittedBy: 'provider',
        issuer: {
          taxId: SERVICE.provider,
          name: 'Prestadora Inventada Ltda',
          uf: 'SP',
          municipalRegistration: '4455',
        },
        recipient: { taxId: SERVICE.taker, name: 'Tomadora Inventada SA' },
        intermediary: { taxId: SERVICE.intermediary, name: 'Intermediaria Inventada' },
        otherRecipient: { taxId: SERVICE.stranger, name: 'Destino Inventado' },
        emitter: {
          taxId: SERVICE.provider,
          name: 'Prestadora Inventada Ltda',
          uf: 'SP',
          municipalRegistration: '4455',
        },
        service: {
          nationalCode: '010101',
          municipalCode: '123',
          nbsCode: '115011000',
          description: 'Servico inventado',
          municipality: '3550308',
        },
        amounts: { service: '1000.00', deduction: '10.00' },
        federalTaxes: { pis: '6.50', cofins: '30.00', incomeTax: '15.00' },
        total: '1000.00',
        totals: { withheld: '34.80', net: '965.20' },
        iss: {
          municipality: '3550308',
          base: '990.00',
          rate: '2.00',
          amount: '19.80',
          taxation: '1',
          withheldBy: '2',
        },
        ibsCbs: {
          municipality: '3550308',
          base: '953.70',
          ibs: '0.95',
          ibsState: '0.95',
          ibsMunicipal: '0.00',
          cbs: '8.58',
          total: '1000.00',
          purpose: '0',
          operation: '100301',
          recipientIndicator: '1',
        },
        replacesKey: nfseKey(9),
        layout: '1.01',
        statusCode: '100',
        authorizedAt: '2026-09-18T23:30:00-03:00',
        generatedBy: '2',
      },
      event: null,
      implies: 'authorized',
      warnings: [],
    });
  });

  test('the provider is `prest`, whoever emitted the note', () => {
    const byTaker = nfse({ tpEmit: '2', emitter: SERVICE.taker, key: nfseKey(10, SERVICE.taker) });
    const { metadata } = decode(byTaker);
    assert.equal(metadata.issuer?.taxId, SERVICE.provider);
    assert.equal(metadata.issuer?.name, undefined, "the emitter's name is not the provider's");
    assert.equal(metadata.emittedBy, 'taker');
    assert.equal(directionOf('nfse', metadata, SERVICE.provider), 'issued');
    assert.equal(directionOf('nfse', metadata, SERVICE.taker), 'received');
  });

  test('no taker, a taker from abroad, a provider with a CPF (case C75)', () => {
    assert.equal(decode(nfse({ taker: null })).metadata.recipient, undefined);
    assert.deepEqual(decode(nfse({ taker: '<cNaoNIF>1</cNaoNIF>' })).metadata.recipient, {
      name: 'Tomadora Inventada SA',
      foreign: true,
    });
    assert.deepEqual(decode(nfse({ taker: '<NIF>DE123</NIF>' })).metadata.recipient, {
      name: 'Tomadora Inventada SA',
      foreignTaxId: 'DE123',
      foreign: true,
    });
    const person = cpf('123456789');
    assert.equal(decode(nfse({ provider: person, emitter: SERVICE.taker })).metadata.issuer?.taxId, person);
  });

  test('roles: who is nobody in the note is no party; a provider that is its taker receives', () => {
    const roles = (xml: string, taxId: string) => rolesOf('nfse', decode(xml).metadata, taxId);
    assert.deepEqual(roles(nfse(), SERVICE.stranger), []);
    assert.deepEqual(roles(nfse({ otherRecipient: SERVICE.stranger }), SERVICE.stranger), ['otherRecipient']);
    assert.deepEqual(roles(nfse({ tpEmit: '3', emitter: SERVICE.intermediary }), SERVICE.intermediary), ['emitter']);
    assert.equal(directionOf('nfse', decode(nfse()).metadata, SERVICE.provider), 'issued');
    for (const other of [{ taker: SERVICE.provider }, { intermediary: SERVICE.provider }]) {
      assert.equal(directionOf('nfse', decode(nfse(other)).metadata, SERVICE.provider), 'received');
    }
  });

  test('root elements decide; both layouts; an announcement that differs is recorded', () => {
    assert.equal(decode(nfse({ layout: '1.00' })).metadata.layout, '1.00');
    assert.equal(decode(dps()).kind, 'DPS');
    assert.equal(decode(dps()).metadata.issuer?.taxId, SERVICE.provider);
    assert.equal(decode('<CNC versao="1.00"><infCNC/></CNC>').kind, 'CNC');
    assert.equal(decode(nfseEventRequest({})).kind, 'pedRegEvento');
    assert.deepEqual(decode(nfse(), 'evento').warnings, ['schema_differs: announced as evento, is NFSe']);
    const unknown = decode(`<recibo><infRecibo Id="NFS${nfseKey(4)}"/></recibo>`);
    assert.deepEqual([unknown.kind, unknown.root, unknown.key], ['unknown', 'recibo', nfseKey(4)]);
  });

  test('no namespace, a prefix, a BOM, Latin-1 bytes', () => {
    assert.equal(decode(nfse({ namespace: '' })).key, nfseKey(10));
    assert.equal(decode(nfse().replaceAll(/<(\/?)(?=[a-zA-Z])/g, '<$1n:')).metadata.total, '1000.00');
    assert.equal(decode(`\uFEFF${nfse()}`).key, nfseKey(10));
    const latin = nfse({ taker: `<CNPJ>${SERVICE.taker}</CNPJ>` })
      .replace('Tomadora', 'Água')
      .replace('UTF-8', 'ISO-8859-1');
    assert.equal(decode(Buffer.from(latin, 'latin1')).metadata.recipient?.name, 'Água Inventada SA');
  });

  test('a cStat means issued, or nothing; it never says cancelled', () => {
    for (const cStat of ['100', '101', '102', '103', '107'])
      assert.equal(decode(nfse({ cStat })).implies, 'authorized');
    assert.equal(decode(nfse({ cStat: '999' })).implies, null);
  });
});

describe('events of NFS-e', () => {
  test('everything that is read', () => {
    assert.deepEqual(decode(nfseEvent(), 'evento'), {
      kind: 'evento',
      root: 'evento',
      key: nfseKey(10),
      metadata: {
        uf: 'SP',
        municipality: '3550308',
        number: '10',
        layout: '1.01',
        environment: 'homologation',
        generatedBy: '2',
        reasonCode: '1',
        reason: 'Servico nao prestado',
      },
      event: {
        type: '101101',
        description: 'Cancelamento de NFS-e',
        sequence: 1,
        occurredAt: '2026-09-20T09:59:00-03:00',
        registeredAt: '2026-09-20T10:00:00-03:00',
        author: SERVICE.provider,
      },
      implies: 'cancelled',
      warnings: [],
    });
  });

  test('both layouts, and the mixture of them that is in circulation', () => {
    for (const requestLayout of ['1.00', '1.01'] as const) {
      const { event, warnings } = decode(nfseEvent({ type: '203206', details: REJECTION, requestLayout, sequence: 2 }));
      assert.deepEqual([event?.type, event?.sequence, warnings], ['203206', 2, []]);
    }
    assert.equal(decode(nfseEvent({ type: '203206', details: REJECTION })).metadata.reasonCode, '9');
    assert.equal(decode(nfseEventRequest({ requestLayout: '1.00', sequence: 3 })).event?.sequence, 3);
  });

  test('what each type says of its note; a request says nothing', () => {
    const implied = (type: string) => decode(nfseEvent({ type })).implies;
    assert.deepEqual(
      [
        '101101',
        '101103',
        '105102',
        '105104',
        '105105',
        '203202',
        '203206',
        '305101',
        '305102',
        '305103',
        '467201',
      ].map(implied),
      ['cancelled', null, 'replaced', 'cancelled', null, null, null, 'cancelled', 'blocked', null, null],
    );
    assert.equal(decode(nfseEventRequest({ type: '101101' })).implies, null);
  });

  test('a replacement names the note that took the place', () => {
    const details = `<xDesc>Cancelamento de NFS-e por Substituição</xDesc><cMotivo>01</cMotivo><chSubstituta>${nfseKey(11)}</chSubstituta>`;
    assert.equal(decode(nfseEvent({ type: '105102', details })).metadata.replacedByKey, nfseKey(11));
  });

  test('a type without an element of its own, and places that disagree', () => {
    const unknown = decode(nfseEvent({ type: '907201', details: '<xDesc>Tributos</xDesc>' }));
    assert.deepEqual([unknown.event?.type, unknown.event?.description], ['907201', 'Tributos']);
    const twoTypes = decode(nfseEvent().replace('<e101101>', '<e203202>').replace('</e101101>', '</e203202>'));
    assert.equal(twoTypes.implies, null);
    assert.ok(twoTypes.warnings.some((warning) => warning.startsWith('event_type_differs')));
    const twoKeys = decode(nfseEvent().replace(`<chNFSe>${nfseKey(10)}`, `<chNFSe>${nfseKey(11)}`));
    assert.equal(twoKeys.implies, null, 'a cancellation of nobody knows which note');
  });

  test('state: cancellation beats all, a lifted block is none, in any order', () => {
    const story = (types: readonly (string | null)[]) =>
      types.map((type, i) => {
        const { kind, implies, event } = decode(type === null ? nfse() : nfseEvent({ type, sequence: i + 1 }));
        return {
          kind,
          state: stateOf([implies]),
          eventType: event?.type ?? null,
          eventSequence: event?.sequence ?? null,
        };
      });
    assert.equal(stateOfKey(story([null, '305102'])), 'blocked');
    assert.equal(stateOfKey(story([null, '305102', '305103'])), 'authorized');
    assert.equal(stateOfKey(story(['305103', null, '305102'])), 'authorized');
    assert.equal(stateOfKey(story([null, '305102', '305103', '305102'])), 'blocked');
    assert.equal(stateOfKey(story([null, '305102', '105102'])), 'replaced');
    assert.equal(stateOfKey(story(['101101', null, '305102'])), 'cancelled');
    const types = [null, '305102', '305103', '305102', '203202', '105102'];
    const expected = stateOfKey(story(types));
    fc.assert(
      fc.property(fc.shuffledSubarray(story(types), { minLength: types.length }), (rows) => {
        // As the rows stand after every page: each carries what was derived before it came.
        let stored: typeof rows = [];
        for (const row of rows) {
          const state = stateOfKey([...stored, row]);
          stored = [...stored, row].map((each) => ({ ...each, state }));
        }
        assert.equal(stateOfKey(stored), expected);
      }),
    );
  });
});

describe('keys of NFS-e', () => {
  test('letters stand in positions 10 to 23 only', () => {
    const letters = nfseKey(10, PEOPLE.letters);
    assert.equal(parseNfseKey(`${letters.slice(0, 10)} ${letters.slice(10)}`), letters);
    assert.equal(decode(nfse({ key: letters })).key, letters);
    assert.equal(isNfseKey(`A${letters.slice(1)}`), false);
    assert.equal(isNfseKey(`${letters}\n`), false);
  });

  test('from outside a wrong check digit is an error, in a document a warning', () => {
    const wrong = nfseKey(10).slice(0, 49) + ((Number(nfseKey(10).slice(49)) + 1) % 10);
    assert.throws(() => parseNfseKey(wrong), { problem: 'check_digit' });
    assert.throws(() => parseNfseKey('1'.repeat(44)), { problem: 'length' });
    assert.throws(() => parseNfseKey(`X${wrong.slice(1)}`), { problem: 'characters' });
    assert.throws(() => parseNfseKey(5), { problem: 'not_text' });
    const document = decode(nfse({ key: wrong }));
    assert.deepEqual(
      [document.key, document.warnings],
      [wrong, [`key_check_digit: …${wrong.slice(-4)} has another one`]],
    );
  });
});

describe('collected cases', () => {
  const file = sharedFile('cases/73b-nfse-note.xml');
  test('notes and the cancellation', { skip: file === null && 'no ../shared here' }, () => {
    const read = (name: string) => decode(readFileSync(sharedFile(`cases/${name}`) ?? ''));
    const note = read('73b-nfse-note.xml');
    const cancellation = read('73c-nfse-cancel-event.xml');
    assert.deepEqual([note.warnings, cancellation.warnings], [[], []]);
    assert.equal(note.key, cancellation.key);
    assert.equal(stateOf([note.implies, cancellation.implies]), 'cancelled');
    assert.equal(note.metadata.competence, '2026-09-01');
    assert.equal(read('75-nfse-without-toma.xml').metadata.recipient, undefined);
    assert.equal(read('75b-nfse-toma-foreign-cnaonif.xml').metadata.recipient?.foreign, true);
  });
});
