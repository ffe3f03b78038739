import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cte as reader } from '../../src/documents/cte.js';
import {
  DECODE_LIMITS,
  decodeItem,
  directionOf,
  instantOf,
  rolesOf,
  stateOf,
  tellsMore,
} from '../../src/documents/index.js';
import { parse } from '../../src/documents/xml/parse.js';
import { scan } from '../../src/documents/xml/scan.js';
import { type DecodedDocument, type DecodedItem, DOCUMENT_KINDS } from '../../src/model/document.js';
import { sharedFile } from '../support/shared.js';
import {
  CARGO,
  cte,
  cteEvent,
  cteKey,
  cteOs,
  cteSimplified,
  delivery,
  dispatcher,
  gtve,
  MASKED,
  partyXml,
  receiver,
  recipient,
  sender,
  TAKERS,
} from './cte-samples.js';
import { damaged } from './damage.js';
import { cpf, docZip, key, PEOPLE } from './samples.js';

const zipped = (xml: string | Uint8Array, schema: string | null = null): DecodedItem =>
  decodeItem({ content: docZip(xml), encoding: 'base64+gzip', schema }, 'cte');

function decode(xml: string, schema: string | null = null): DecodedDocument {
  const decoded = zipped(xml, schema);
  assert.ok(decoded.ok, JSON.stringify(decoded));
  return decoded.document;
}

const PARTY = { uf: 'SP', stateRegistration: '123456789110' };
const PARTIES = {
  sender: { ...PARTY, taxId: CARGO.sender, name: 'Remetente Inventada Ltda' },
  dispatcher: { ...PARTY, taxId: CARGO.dispatcher, name: 'Expedidora Inventada Ltda' },
  receiver: { ...PARTY, taxId: CARGO.receiver, name: 'Recebedora Inventada Ltda' },
  recipient: { ...PARTY, taxId: CARGO.recipient, name: 'Destinataria Inventada SA' },
  payer: { ...PARTY, taxId: CARGO.payer, name: 'Pagadora Inventada Ltda' },
};

describe('CT-e', () => {
  test('everything that is read', () => {
    const previous = `<docAnt><emiDocAnt><CNPJ>${CARGO.payer}</CNPJ><IE>1</IE><UF>SP</UF><xNome>Outra</xNome><idDocAnt><idDocAntEle><chCTe>${cteKey(9)}</chCTe></idDocAntEle></idDocAnt></emiDocAnt></docAnt>`;
    const xml = cte({
      nfeKeys: [key(1), key(2), key(1)],
      previous,
      documentTotal: '275.00',
      thirdParties: `<autXML><CPF>${PEOPLE.farmer}</CPF></autXML>`,
    });
    assert.deepEqual(decode(xml, 'procCTe_v4.00.xsd'), {
      kind: 'procCTe',
      root: 'cteProc',
      key: cteKey(500),
      metadata: {
        uf: 'SP',
        model: '57',
        series: '1',
        number: '500',
        layout: '4.00',
        issuedAt: '2026-10-02T10:15:00-03:00',
        type: 'normal',
        modal: 'road',
        total: '250.00',
        documentTotal: '275.00',
        environment: 'homologation',
        statusCode: '100',
        protocol: '135260000000222',
        authorizedAt: '2026-10-02T10:16:01-03:00',
        digestValue: 'q83vEjRWeJCrze8SNFZ4kKvN7xI=',
        issuer: {
          taxId: CARGO.carrier,
          name: 'Transportes Inventados Ltda',
          uf: 'SP',
          stateRegistration: '112233445110',
        },
        sender: PARTIES.sender,
        recipient: PARTIES.recipient,
        taker: PARTIES.recipient,
        takerRole: 'recipient',
        authorizedThirdParties: [PEOPLE.farmer],
        nfeKeys: [key(1), key(2)],
        previousKeys: [cteKey(9)],
      },
      event: null,
      implies: 'authorized',
      warnings: [],
    });
  });

  const all = sender + dispatcher + receiver + recipient;
  const takers: [keyof typeof TAKERS, unknown][] = [
    ['sender', PARTIES.sender],
    ['dispatcher', PARTIES.dispatcher],
    ['receiver', PARTIES.receiver],
    ['recipient', PARTIES.recipient],
    ['other', PARTIES.payer],
  ];
  for (const [role, party] of takers) {
    test(`taker: ${role}`, () => {
      const { metadata, warnings } = decode(cte({ parties: all, taker: TAKERS[role] }));
      assert.deepEqual(metadata.taker, party);
      assert.equal(metadata.takerRole, role);
      assert.deepEqual(metadata.receiver, PARTIES.receiver);
      assert.deepEqual(metadata.dispatcher, PARTIES.dispatcher);
      assert.deepEqual(warnings, []);
    });
  }

  test('a taker that points to an absent party is absent, with a warning (case C63)', () => {
    const { metadata, warnings, implies } = decode(cte({ taker: TAKERS.receiver }));
    assert.ok(!('taker' in metadata) && !('receiver' in metadata));
    assert.equal(metadata.takerRole, 'receiver');
    assert.deepEqual(warnings, ['taker_missing: the taker is called "receiver", and the document has none']);
    assert.equal(implies, 'authorized');
    const unnamed = decode(cte({ taker: '<toma4><toma>4</toma></toma4>' }));
    assert.deepEqual(unnamed.warnings, ['taker_missing: the taker is called "other", and the document has none']);
  });

  test('no taker at all, and a code that nobody knows: absent, nothing guessed', () => {
    for (const taker of ['', '<toma3><toma>7</toma></toma3>', '<toma3/>']) {
      const { metadata } = decode(cte({ taker }));
      assert.ok(!('taker' in metadata) && !('takerRole' in metadata));
    }
  });

  test('who is not established in Brazil has a CNPJ of zeros, or an empty one', () => {
    for (const id of ['<CNPJ>00000000000000</CNPJ>', '<CNPJ/>']) {
      const { metadata } = decode(
        cte({ parties: sender + partyXml('dest', 'enderDest', '', 'Sample Corp', { id, uf: 'EX' }) }),
      );
      assert.deepEqual(metadata.recipient, {
        name: 'Sample Corp',
        uf: 'EX',
        stateRegistration: '123456789110',
        foreign: true,
      });
    }
  });

  test('a CPF, and letters in a CNPJ and in the key', () => {
    const farmer = cpf('246813579');
    const lettered = cteKey(7, { taxId: PEOPLE.letters });
    const xml = cte({
      key: lettered,
      parties: partyXml('rem', 'enderReme', '', 'Produtor Inventado', { id: `<CPF>${farmer}</CPF>` }) + recipient,
    });
    const {
      key: found,
      metadata,
      warnings,
    } = decode(xml.replace(`<emit><CNPJ>${CARGO.carrier}`, `<emit><CNPJ>${PEOPLE.letters}`));
    assert.equal(found, lettered);
    assert.equal((metadata.sender as { taxId: string }).taxId, farmer);
    assert.equal(metadata.issuer?.taxId, PEOPLE.letters);
    assert.deepEqual(warnings, []);
  });

  const modals: [string, string][] = [
    ['01', 'road'],
    ['02', 'air'],
    ['03', 'water'],
    ['04', 'rail'],
    ['05', 'pipeline'],
    ['06', 'multimodal'],
    ['77', '77'],
    ['__proto__', '__proto__'],
  ];
  for (const [code, modal] of modals) {
    test(`modal ${code}: ${modal}`, () =>
      assert.equal(decode(cte({ modal: code, modalXml: '' })).metadata.modal, modal));
  }

  test('types; one that nobody knows stays as written', () => {
    const types = ['0', '1', '2', '3', '8'].map((type) => decode(cte({ type })).metadata.type);
    assert.deepEqual(types, ['normal', 'complement', 'annulment', 'substitute', '8']);
  });

  test('a complement and a substitute name what they correct', () => {
    const complement = decode(
      cte({
        type: '1',
        content: `<infCteComp><chCTe>${cteKey(1)}</chCTe></infCteComp><infCteComp><chCTe>${cteKey(2)}</chCTe></infCteComp>`,
      }),
    );
    assert.deepEqual(complement.metadata.complementedKeys, [cteKey(1), cteKey(2)]);
    const substitute = decode(
      cte({ type: '3', content: `<infCTeNorm><infCteSub><chCte>${cteKey(3)}</chCte></infCteSub></infCTeNorm>` }),
    );
    assert.equal(substitute.metadata.replacedKey, cteKey(3));
    assert.equal(substitute.key, cteKey(500));
  });

  test('by water, notes may stand with their containers', () => {
    const modalXml = `<aquav><detCont><nCont>C1</nCont><infDoc><infNFe><chave>${key(5)}</chave></infNFe></infDoc></detCont></aquav>`;
    assert.deepEqual(decode(cte({ modal: '03', modalXml })).metadata.nfeKeys, [key(5)]);
  });

  test('layout 3.00', () => {
    const { metadata, kind } = decode(cte({ layout: '3.00', nfeKeys: [key(1)] }), 'procCTe_v3.00.xsd');
    assert.equal(kind, 'procCTe');
    assert.equal(metadata.layout, '3.00');
    assert.deepEqual(metadata.nfeKeys, [key(1)]);
  });

  test('layout 2.00: toma03, chave, and a time without zone, which is Brasília’s', () => {
    const previous = `<docAnt><emiDocAnt><idDocAnt><idDocAntEle><chave>${cteKey(9)}</chave></idDocAntEle></idDocAnt></emiDocAnt></docAnt>`;
    const { metadata, warnings } = decode(
      cte({
        layout: '2.00',
        taker: '<toma03><toma>0</toma></toma03>',
        issued: '<dhEmi>2014-05-06T07:08:09</dhEmi>',
        previous,
      }),
    );
    assert.equal(metadata.issuedAt, '2014-05-06T07:08:09');
    assert.equal(instantOf('2014-05-06T07:08:09'), Date.parse('2014-05-06T07:08:09-03:00'));
    assert.deepEqual(metadata.taker, PARTIES.sender);
    assert.deepEqual(metadata.previousKeys, [cteKey(9)]);
    assert.deepEqual(warnings, []);
  });

  const statuses: [string, string | null][] = [
    ['100', 'authorized'],
    ['110', 'denied'],
    ['301', 'denied'],
    ['306', 'denied'],
    ['999', null],
  ];
  for (const [cStat, implies] of statuses) {
    test(`protocol with ${cStat} implies ${implies}`, () => assert.equal(decode(cte({ cStat })).implies, implies));
  }

  test('a protocol of another key implies nothing; one of another digest is a warning', () => {
    const other = decode(cte({ protocolKey: cteKey(501) }));
    assert.equal(other.key, cteKey(500));
    assert.equal(other.implies, null);
    assert.match(other.warnings.join(), /^key_differs: /);
    assert.match(decode(cte({ digVal: 'AAAAEjRWeJCrze8SNFZ4kKvN7xI=' })).warnings.join(), /^digest_differs: /);
  });
});

describe('its kin', () => {
  test('CT-e OS: the taker has data of its own and no role', () => {
    const { kind, key: found, metadata, warnings } = decode(cteOs(), 'procCTeOS_v4.00.xsd');
    assert.equal(kind, 'procCTeOS');
    assert.equal(found, cteKey(600, { model: '67' }));
    assert.equal(metadata.model, '67');
    assert.equal(metadata.total, '250.00');
    assert.deepEqual(metadata.taker, PARTIES.payer);
    assert.ok(!('takerRole' in metadata));
    assert.deepEqual(warnings, []);
    assert.ok(!('taker' in decode(cteOs({ toma: '' })).metadata));
  });

  test('CT-e Simplificado: its key, the taker as the party that it says it is, totals, keys by delivery', () => {
    const xml = cteSimplified({ takerCode: '1', nfeKeys: [key(1), key(2)], documentTotal: '260.00' });
    // Announced as an ordinary CT-e: other programs stored it without a key (contract section 1b).
    const { kind, key: found, metadata, warnings } = decode(xml, 'procCTe_v4.00.xsd');
    assert.equal(kind, 'procCTeSimp');
    assert.equal(found, cteKey(700));
    assert.deepEqual(metadata.taker, PARTIES.payer);
    assert.deepEqual(metadata.dispatcher, PARTIES.payer);
    assert.equal(metadata.takerRole, 'dispatcher');
    assert.equal(metadata.type, 'simplified');
    assert.equal(metadata.total, '250.00');
    assert.equal(metadata.documentTotal, '260.00');
    assert.deepEqual(metadata.nfeKeys, [key(1), key(2)]);
    assert.deepEqual(warnings, ['schema_differs: announced as procCTe, is procCTeSimp']);
    const third = decode(cteSimplified());
    assert.equal(third.metadata.takerRole, 'other');
    assert.ok(!('sender' in third.metadata));
  });

  test('CT-e Simplificado behind another carrier’s', () => {
    const deliveries = delivery(
      1,
      `<infDocAnt><chCTe>${cteKey(3)}</chCTe><tpPrest>2</tpPrest><infNFeTranspParcial><chNFe>${key(4)}</chNFe></infNFeTranspParcial></infDocAnt>`,
    );
    const { metadata } = decode(cteSimplified({ deliveries }));
    assert.deepEqual(metadata.previousKeys, [cteKey(3)]);
    assert.deepEqual(metadata.nfeKeys, [key(4)]);
  });

  test('GTV-e: code 1 is the recipient there; it has no total', () => {
    const { kind, key: found, metadata } = decode(gtve(), 'procGTVe_v4.00.xsd');
    assert.equal(kind, 'procGTVe');
    assert.equal(found, cteKey(800, { model: '64' }));
    assert.deepEqual(metadata.taker, PARTIES.recipient);
    assert.equal(metadata.takerRole, 'recipient');
    assert.equal(metadata.type, 'gtve');
    assert.ok(!('total' in metadata));
    assert.equal(decode(gtve({ taker: '<toma><toma>0</toma></toma>' })).metadata.takerRole, 'sender');
    const third = partyXml('tomaTerceiro', 'enderToma', CARGO.payer, 'Pagadora Inventada Ltda').replace(
      '<tomaTerceiro>',
      '<tomaTerceiro><toma>4</toma>',
    );
    assert.deepEqual(decode(gtve({ taker: third })).metadata.taker, PARTIES.payer);
  });

  test('a known root around another one’s document is read all the same', () => {
    const { kind, key: found, metadata } = decode(cteSimplified().replaceAll('cteSimpProc', 'cteProc'));
    assert.equal(kind, 'procCTe');
    assert.equal(found, cteKey(700));
    assert.deepEqual(metadata.taker, PARTIES.payer);
  });

  test('a root that nobody knows keeps its key', () => {
    const {
      kind,
      root,
      key: found,
      metadata,
    } = decode(
      cte().replaceAll('cteProc', 'cteNovoProc').replaceAll('<CTe ', '<CTeNovo ').replaceAll('</CTe>', '</CTeNovo>'),
    );
    assert.equal(kind, 'unknown');
    assert.equal(root, 'cteNovoProc');
    assert.equal(found, cteKey(500));
    assert.deepEqual(metadata, { uf: 'SP', model: '57', series: '1', number: '500' });
  });
});

describe('keys masked with 44 nines for third parties', () => {
  const previous = `<docAnt><emiDocAnt><idDocAnt><idDocAntEle><chCTe>${MASKED}</chCTe></idDocAntEle></idDocAnt></emiDocAnt></docAnt>`;
  const masked = decode(cte({ nfeKeys: [MASKED, MASKED], previous }));
  const full = decode(cte({ nfeKeys: [key(1)] }));

  test('are dropped, and the copy says that it is masked', () => {
    assert.ok(!('nfeKeys' in masked.metadata) && !('previousKeys' in masked.metadata));
    assert.equal(masked.metadata.masked, true);
    assert.ok(!('masked' in full.metadata));
    assert.equal(masked.key, full.key);
    assert.deepEqual(masked.warnings, []);
  });

  test('a masked copy never tells more than a full one', () => {
    assert.deepEqual(
      [tellsMore(masked, full), tellsMore(full, masked), tellsMore(masked, masked), tellsMore(full, full)],
      [true, false, false, false],
    );
  });

  test('more keys than the norm allows: the first are shown, with a warning', () => {
    const keys = Array.from({ length: 2_001 }, (_, at) => key(at + 1));
    const { metadata, warnings } = decode(cte({ nfeKeys: keys }));
    assert.equal((metadata.nfeKeys as string[]).length, 2_000);
    assert.deepEqual(warnings, ['keys_cut: 2001 NF-e are named, the first 2000 are shown; the XML has all']);
  });
});

describe('procEventoCTe', () => {
  test('a cancellation: its own protocol, not the cancelled document’s', () => {
    assert.deepEqual(decode(cteEvent(), 'procEventoCTe_v4.00.xsd'), {
      kind: 'procEventoCTe',
      root: 'procEventoCTe',
      key: cteKey(500),
      metadata: { uf: 'SP', model: '57', series: '1', number: '500', layout: '4.00', environment: 'homologation' },
      event: {
        type: '110111',
        description: 'Cancelamento',
        sequence: 1,
        occurredAt: '2026-10-03T08:00:00-03:00',
        registeredAt: '2026-10-03T08:00:02-03:00',
        author: CARGO.carrier,
        protocol: '135260000000789',
        statusCode: '135',
      },
      implies: 'cancelled',
      warnings: [],
    });
  });

  test('without registration there is no protocol, whatever the details hold', () => {
    const { event, implies } = decode(cteEvent({ result: '' }));
    assert.ok(event && !('protocol' in event) && !('statusCode' in event));
    assert.equal(implies, null);
  });

  const implied: [string, string, string | null][] = [
    ['110111', '134', 'cancelled'],
    ['110111', '135', 'cancelled'],
    ['110111', '136', 'cancelled'],
    ['110111', '155', null],
    ['110111', '631', null],
    ['240140', '135', 'replaced'],
    ['110110', '135', null],
    ['610110', '135', null],
    ['310610', '135', null],
    ['999999', '135', null],
  ];
  for (const [type, cStat, implies] of implied) {
    test(`event ${type} with ${cStat} implies ${implies}`, () =>
      assert.equal(decode(cteEvent({ type, cStat })).implies, implies));
  }

  test('the description stands in an element named after the type, known or not; else the registration’s', () => {
    const describe = (details: string) => decode(cteEvent({ type: '610110', details })).event?.description;
    assert.equal(
      describe('<evPrestDesacordo><descEvento>Prestação do Serviço em Desacordo</descEvento></evPrestDesacordo>'),
      'Prestação do Serviço em Desacordo',
    );
    assert.equal(describe('<evNovo><x>1</x><descEvento>Novo</descEvento></evNovo>'), 'Novo');
    assert.equal(describe(''), 'Evento 610110');
  });

  test('sequences of two digits (3.00) and of three (4.00) in the Id', () => {
    for (const layout of ['3.00', '4.00']) {
      const xml = cteEvent({ layout, sequence: 7, result: '' })
        .replace(/<chCTe>.*?<\/chCTe>/g, '')
        .replace(/<tpEvento>.*?<\/tpEvento>/g, '')
        .replace(/<nSeqEvento>.*?<\/nSeqEvento>/g, '');
      const { key: found, event } = decode(xml);
      assert.deepEqual([found, event?.type, event?.sequence], [cteKey(500), '110111', 7]);
    }
  });

  test('keys inside the details are other documents’', () => {
    const details = `<evCECTe><descEvento>Comprovante de Entrega do CT-e</descEvento><nProt>1</nProt><infEntrega><chNFe>${key(1)}</chNFe></infEntrega></evCECTe>`;
    const { key: found, event } = decode(cteEvent({ type: '110180', details }));
    assert.equal(found, cteKey(500));
    assert.equal(event?.protocol, '135260000000789');
  });

  test('a cancellation holds, whichever came first', () => {
    const both = [decode(cteEvent()), decode(cte())].map(({ implies }) => implies);
    assert.equal(stateOf(both), 'cancelled');
    assert.equal(stateOf(both.reverse()), 'cancelled');
  });
});

describe('roles and direction', () => {
  const { metadata } = decode(
    cte({
      parties: sender + dispatcher + receiver + recipient,
      taker: TAKERS.other,
      thirdParties: `<autXML><CNPJ>${PEOPLE.accountant}</CNPJ></autXML>`,
    }),
  );
  const cases: [string, string, string[], string][] = [
    ['carrier', CARGO.carrier, ['issuer'], 'issued'],
    ['sender', CARGO.sender, ['sender'], 'received'],
    ['dispatcher', CARGO.dispatcher, ['dispatcher'], 'received'],
    ['receiver', CARGO.receiver, ['receiver'], 'received'],
    ['recipient', CARGO.recipient, ['recipient'], 'received'],
    ['taker', CARGO.payer, ['taker'], 'received'],
    ['third party', PEOPLE.accountant, ['authorizedThirdParties'], 'received'],
    ['a branch of the recipient', PEOPLE.branch, [], 'received'],
  ];
  for (const [name, taxId, roles, direction] of cases) {
    test(`${name}: ${roles.join() || 'no role'}, ${direction}`, () => {
      assert.deepEqual(rolesOf('cte', metadata, taxId), roles);
      assert.equal(directionOf('cte', metadata, taxId), direction);
    });
  }

  test('a carrier that is the taker too, as in subcontracting, has received it', () => {
    const own = decode(cte({ taker: TAKERS.other.replaceAll(CARGO.payer, CARGO.carrier) }));
    assert.equal(directionOf('cte', own.metadata, CARGO.carrier), 'received');
  });

  test('the recipient that pays has both roles', () => {
    assert.deepEqual(rolesOf('cte', decode(cte()).metadata, CARGO.recipient), ['recipient', 'taker']);
  });
});

describe('cases of the contracts', () => {
  test('C61: a page whose dhResp has no offset; its document', (context) => {
    const file = sharedFile('cases/61-cte-retdist-dhresp-no-offset.xml');
    if (file === null) return context.skip('the folder shared/ is not beside the project');
    const [, schema, content] = /<docZip[^>]*schema="([^"]*)"[^>]*>([^<]*)</.exec(readFileSync(file, 'latin1')) ?? [];
    const decoded = decodeItem(
      { content: Buffer.from(content ?? '', 'latin1'), encoding: 'base64+gzip', schema: schema ?? null },
      'cte',
    );
    assert.ok(decoded.ok && decoded.document.kind === 'procCTe' && decoded.document.key !== null);
    assert.deepEqual(decoded.document.warnings, []);
  });

  test('C63: the payer points to a missing party, no compl', (context) => {
    const file = sharedFile('cases/63-cte-no-compl-toma-points-nowhere.xml');
    if (file === null) return context.skip('the folder shared/ is not beside the project');
    const { key: found, metadata, warnings } = decode(readFileSync(file, 'utf8'));
    assert.equal(found, '35260945678912000155570010000005001102030405');
    assert.ok(!('taker' in metadata));
    assert.match(warnings.join(), /^taker_missing: /);
    assert.deepEqual(metadata.nfeKeys, ['35260911222333000181550010000012001102030405']);
  });
});

describe('whatever the bytes', () => {
  const originals = [cte({ nfeKeys: [key(1)] }), cteOs(), cteSimplified(), gtve(), cteEvent()].map((xml) =>
    Buffer.from(xml),
  );
  const roots = reader.roots.map(({ root }) => root);

  test('what services send goes the quick way, and both ways read the same', () => {
    for (const xml of originals) {
      const scanned = scan(xml, roots, DECODE_LIMITS.depth);
      assert.ok(scanned);
      assert.deepEqual(scanned.found, parse(xml.toString(), roots, DECODE_LIMITS).found);
    }
  });

  test('a document with bytes changed, removed or cut has a typed answer', () => {
    fc.assert(
      fc.property(damaged(originals), (xml) => {
        const decoded = zipped(xml);
        if (decoded.ok) assert.ok(DOCUMENT_KINDS.includes(decoded.document.kind));
        else assert.notEqual(decoded.failure, 'internal');
      }),
      { numRuns: 2_000 },
    );
  });

  test('any elements in any order: nobody is taken for the taker who is not', () => {
    const pieces = fc.constantFrom(
      sender,
      dispatcher,
      receiver,
      recipient,
      '<rem/>',
      '<dest><CNPJ/></dest>',
      '<autXML/>',
    );
    const takers = fc.constantFrom(
      ...Object.values(TAKERS),
      '',
      '<toma3/>',
      '<toma4/>',
      '<toma03><toma>1</toma></toma03>',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), takers, (parties, taker) => {
        const { metadata } = decode(cte({ parties: parties.join(''), taker }));
        const role = metadata.takerRole;
        if (metadata.taker === undefined) return;
        if (role === 'other') assert.deepEqual(metadata.taker, PARTIES.payer);
        else assert.deepEqual(metadata.taker, metadata[String(role)]);
      }),
    );
  });
});
