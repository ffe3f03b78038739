import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isAccessKey } from '../../src/documents/access-key.js';
import { isTaxId } from '../../src/documents/tax-id.js';
import { NFE_KINDS } from '../../src/simulator/documents/kinds.js';
import { NfeSequence } from '../../src/simulator/documents/nfe-sequence.js';
import type { SequenceDocument, SequenceProfile, Stretch } from '../../src/simulator/documents/stretches.js';
import { parseXml, withDescendants } from '../../src/simulator/soap/element.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';

const ARRIVED = Date.parse('2026-11-30T12:00:00Z');
const MIX = { resNFe: 40, procNFe: 40, procEventoNFe: 12, resEvento: 8 };

const COMPANY = { taxId: '98765432000198', uf: 'SP', environmentCode: '2' } as const;

function sequence(
  stretch: Partial<Extract<Stretch, { type: 'generated' }>> = {},
  seed = 'teste',
  who: Pick<SequenceProfile, 'taxId' | 'uf' | 'environmentCode'> = COMPANY,
): NfeSequence {
  const made = new NfeSequence({ worldSeed: seed, name: 'Comprador "Exemplo" & Cia', ...who });
  made.append({
    type: 'generated',
    count: 1000,
    kinds: MIX,
    arrivedAt: ARRIVED,
    spreadMs: 60 * 86_400_000,
    ...stretch,
  });
  return made;
}

const all = (from: NfeSequence, count = from.length): SequenceDocument[] =>
  Array.from({ length: count }, (_, index) => from.documentAt(index));
const first = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

test('the same seed gives the same bytes, in any order; another seed gives others', () => {
  const [one, two] = [sequence(), sequence()];
  const backwards = Array.from({ length: 100 }, (_, index) => two.documentAt(99 - index)).reverse();
  assert.deepEqual(all(one, 100), backwards);
  assert.notDeepEqual(all(sequence({}, 'outra'), 5), all(one, 5));
});

describe('official schemas', { skip: NO_SCHEMAS ?? false }, () => {
  test('documents of all four kinds are valid, for a company, one with letters, and a farmer with a CPF', () => {
    const validators = {
      procNFe: schemaOf('nfe/procNFe_v4.00.xsd'),
      resNFe: schemaOf('nfe/resNFe_v1.01.xsd'),
      procEventoNFe: schemaOf('nfe/procEventoNFe_v1.00.xsd'),
      resEvento: schemaOf('nfe/resEvento_v1.01.xsd'),
    };
    const seen = new Map<string, number>();
    const documents = [
      ...all(sequence(), 500),
      ...all(sequence({}, 'letras', { taxId: '12ABC34501DE35', uf: 'AC', environmentCode: '1' }), 300),
      ...all(sequence({}, 'campo', { taxId: '11144477735', uf: 'MT', environmentCode: '2' }), 300),
    ];
    for (const { kind, xml } of documents) {
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      assert.equal(validators[kind as keyof typeof validators](xml), null, xml.slice(0, 400));
    }
    for (const kind of Object.keys(validators)) assert.ok((seen.get(kind) ?? 0) > 30, `${kind}: ${seen.get(kind)}`);
  });

  test('whole events are valid as the schema of their type says', () => {
    for (const type of ['110110', '110111', '210200', '210210', '210220', '210240']) {
      const valid = schemaOf(`nfe/e${type}_v1.00.xsd`);
      const [event] = all(sequence({ count: 1, kinds: { procEventoNFe: 1 }, eventType: type }));
      const detail = /<detEvento.*<\/detEvento>/.exec(event?.xml ?? '')?.[0] ?? '';
      assert.equal(
        valid(detail.replace('<detEvento', '<detEvento xmlns="http://www.portalfiscal.inf.br/nfe"')),
        null,
        type,
      );
    }
  });
});

test('keys, tax IDs and the digits that check them are right everywhere', () => {
  for (const { kind, xml } of all(sequence(), 400)) {
    const key = first(xml, 'chNFe') ?? '';
    assert.ok(isAccessKey(key), `${kind}: ${key}`);
    for (const [, , taxId] of xml.matchAll(/<(CNPJ|CPF)>([^<]*)</g)) assert.ok(isTaxId(taxId), `${kind}: ${taxId}`);
    if (kind === 'procNFe') {
      assert.ok(xml.includes(`Id="NFe${key}"`));
      assert.equal(first(xml, 'cDV'), key.slice(43));
      assert.equal(first(xml, 'nNF'), key.slice(25, 34).replace(/^0+/, ''));
      assert.equal(first(xml, 'dhEmi')?.slice(2, 7).replace('-', ''), key.slice(2, 6));
    }
  }
});

test('amounts add up', () => {
  for (const { xml } of all(sequence({ count: 40, kinds: { procNFe: 1 } }))) {
    const cents = (text: string | undefined) => Math.round(Number(text) * 100);
    const items = [...xml.matchAll(/<prod>.*?<vProd>([^<]*)</g)].map(([, value]) => cents(value));
    const sum = items.reduce((total, value) => total + value, 0);
    assert.equal(cents(first(xml, 'vNF')), sum);
    assert.equal(cents(first(xml, 'vPag')), sum);
    const icms = [...xml.matchAll(/<pICMS>18.00<\/pICMS><vICMS>([^<]*)</g)].map(([, value]) => cents(value));
    assert.equal(
      cents(/<ICMSTot><vBC>[^<]*<\/vBC><vICMS>([^<]*)</.exec(xml)?.[1]),
      icms.reduce((a, b) => a + b, 0),
    );
  }
});

test('they vary as real ones do', () => {
  const documents = all(sequence({ count: 3000 }));
  const xml = documents.map((document) => document.xml);
  const some = (what: string, fits: (text: string) => boolean, least = 5) => {
    const found = xml.filter(fits).length;
    assert.ok(found >= least, `${what}: only ${found}`);
  };
  some('letters in a CNPJ', (text) => /<CNPJ>[0-9]*[A-Z]/.test(text));
  some('letters in a key', (text) => /<chNFe>[0-9]{6}[0-9]*[A-Z]/.test(text));
  some('CPF as issuer, series 920 to 969', (text) => /<emit><CPF>/.test(text) && /<serie>9[2-6]\d</.test(text));
  some(
    'issued by an office, series 890 to 899',
    (text) => /<emit><CPF>.*<avulsa>/.test(text) && /<serie>89\d</.test(text),
  );
  some('issued by an office whose CNPJ is in the key', (text) => {
    const [, office] = /<avulsa><CNPJ>([^<]*)/.exec(text) ?? [];
    return (
      office !== undefined &&
      text.includes(`Id="NFe${first(text, 'chNFe')}"`) &&
      first(text, 'chNFe')?.slice(6, 20) === office
    );
  });
  some('issued by an office, as a summary', (text) => /<resNFe.*<chNFe>.{22}89\d.*<CPF>/.test(text), 3);
  some('NFC-e', (text) => /<mod>65</.test(text));
  some('as recipient', (text) => /<dest><CNPJ>98765432000198/.test(text));
  some('as carrier', (text) => /<transporta><CNPJ>98765432000198/.test(text));
  some('as third party', (text) => /<autXML><CNPJ>98765432000198/.test(text));
  some('recipient abroad', (text) => /<dest><idEstrangeiro/.test(text));
  some('empty idEstrangeiro', (text) => text.includes('<idEstrangeiro/>'));
  some('an event about the company’s own note', (text) => /<procEventoNFe.*<chNFe>.{6}98765432000198/.test(text));
  some('a cancellation', (text) => text.includes('<tpEvento>110111<'));
  some('escaped characters', (text) => text.includes('&amp;') && text.includes('&quot;'));
  some('accents', (text) => /<xNome>[^<]*[À-ÿ]/.test(text));
  some('another time zone', (text) => /dhEmi>[^<]*-04:00</.test(text));
  some('denied', (text) => text.includes('<cSitNFe>2<'));
  some('line breaks in the certificate', (text) => /<X509Certificate>[^<]*\n/.test(text));
  some('IBS and CBS', (text) => text.includes('<IBSCBSTot>'));
});

test('size follows the number of items', () => {
  const sizes = (items: number) =>
    all(sequence({ count: 30, kinds: { procNFe: 1 }, items: { min: items, max: items } })).map(({ xml }) => xml.length);
  const middle = (items: number) => sizes(items).sort((a, b) => a - b)[15] ?? 0;
  const within = (size: number, from: number, to: number) => assert.ok(size >= from && size <= to, String(size));
  within(middle(2), 5_500, 8_500);
  within(middle(6), 9_000, 14_000);
  within(middle(60), 60_000, 90_000);
});

test('events speak mostly of notes that came shortly before, sometimes of ones that never come', () => {
  const documents = all(sequence());
  const notes = new Map<string, number>();
  const distances: (number | null)[] = [];
  documents.forEach(({ kind, xml }, index) => {
    const key = first(xml, 'chNFe') ?? '';
    if (kind === 'resNFe' || kind === 'procNFe') notes.set(key, index);
    else distances.push(notes.has(key) ? index - (notes.get(key) ?? 0) : null);
  });
  const orphans = distances.filter((distance) => distance === null).length;
  assert.ok(orphans > 5 && orphans < distances.length / 3, `${orphans} of ${distances.length}`);
  assert.ok(distances.every((distance) => distance === null || (distance > 0 && distance <= 40)));
});

test('what nobody knows yet, and what is long out of force, is well-formed too', () => {
  const kinds = Object.fromEntries(NFE_KINDS.map((kind) => [kind, 1]));
  const roots = new Map<string, string>();
  for (const { kind, schema, xml } of all(sequence({ count: 200, kinds, eventType: '998877' }))) {
    const { root } = parseXml(xml);
    roots.set(schema, root.local);
    const version = root.attributes.find(({ name }) => name === 'versao')?.value;
    if (kind === 'procNFe310') assert.equal(version, '3.10');
    if (kind === 'procNFe200') {
      assert.equal(version, '2.00');
      assert.match(first(xml, 'dEmi') ?? '', /^\d{4}-\d\d-\d\d$/);
    }
    if (kind === 'procEventoNFe' || kind === 'resEvento') assert.equal(first(xml, 'tpEvento'), '998877');
    assert.ok([...withDescendants(root)].every(({ namespace }) => namespace !== ''));
  }
  assert.deepEqual(Object.fromEntries(roots), {
    'procNFe_v4.00.xsd': 'nfeProc',
    'procNFe_v3.10.xsd': 'nfeProc',
    'procNFe_v2.00.xsd': 'nfeProc',
    'resNFe_v1.01.xsd': 'resNFe',
    'procEventoNFe_v1.00.xsd': 'procEventoNFe',
    'resEvento_v1.01.xsd': 'resEvento',
    'resNovoDocumento_v1.00.xsd': 'resNovoDocumento',
  });
});

describe('finding a note by its key', () => {
  test('every key leads back to its document (property)', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat(100_000), (seed, index) => {
        const made = sequence({ count: 100_001, kinds: { resNFe: 1 } }, seed);
        const key = first(made.documentAt(index).xml, 'chNFe') ?? '';
        const found = made.findNote(key);
        assert.equal(found?.index, index);
        assert.equal(made.documentOfNote(found).xml, made.documentAt(index).xml);
      }),
      { numRuns: 60 },
    );
  });

  test('a key of somebody else leads nowhere', () => {
    const foreign = first(sequence({}, 'outra').documentAt(0).xml, 'chNFe') ?? '';
    assert.equal(sequence().findNote(foreign), null);
    assert.equal(sequence().findNote('texto'), null);
  });

  test('a cancellation that came is known', () => {
    const made = sequence();
    const cancelled = all(made)
      .filter(({ xml }) => first(xml, 'tpEvento') === '110111')
      .map(({ xml }) => first(xml, 'chNFe') ?? '');
    assert.ok(cancelled.length > 20);
    for (const key of cancelled) assert.equal(made.findNote(key)?.cancelled, true);
    const others = all(made)
      .map(({ xml }) => first(xml, 'chNFe') ?? '')
      .filter((key) => !cancelled.includes(key));
    for (const key of others.slice(0, 200)) assert.equal(made.findNote(key)?.cancelled, false);
  });
});

test('a whole note after its summary is the same note', () => {
  const made = sequence({ count: 50, kinds: { resNFe: 1 } });
  const summary = made.documentAt(7).xml;
  const key = first(summary, 'chNFe') ?? '';
  assert.equal(made.findNote(key)?.manifested, false);
  made.append({ type: 'full', notes: [7], arrivedAt: ARRIVED });
  const whole = made.documentAt(50);
  assert.equal(whole.schema, 'procNFe_v4.00.xsd');
  for (const name of ['chNFe', 'vNF', 'nProt', 'dhEmi', 'dhRecbto'])
    assert.equal(first(whole.xml, name), first(summary, name));
  assert.equal(first(whole.xml, 'digVal'), first(summary, 'digVal') ?? first(whole.xml, 'digVal'));
  assert.equal(made.findNote(key)?.manifested, true);
});

test('positions outside are refused', () => {
  assert.throws(() => sequence({ count: 3 }).documentAt(3), RangeError);
  assert.throws(() => sequence({ count: 3 }).documentAt(-1), RangeError);
});
