import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventFields } from '../../src/documents/event-layout.js';
import { nfeEventDetails, nfeEventFaults } from '../../src/documents/nfe-event-fields.js';
import { MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';

const DEFAULTS = { uf: 'SP', application: 'Malote 0.1.0' } as const;
const stocked = (group: string, quantity: string, unit: string): EventFields => ({
  [group]: [
    { nItem: '1', vIBS: '10.00', vCBS: '0', gControleEstoque: { [quantity]: '3', [unit]: 'KG' } },
    { nItem: '990', vIBS: '0.55', vCBS: '1234567890123.99', gControleEstoque: { [quantity]: '0.1250', [unit]: 'L' } },
  ],
});

/** One good example of each type, with every optional part. */
const GOOD: Readonly<Record<string, EventFields>> = {
  '211110': {
    gCredPres: [
      {
        nItem: '1',
        vBC: '100.00',
        gIBS: { cCredPres: '01', pCredPres: '12.5000', vCredPres: '12.50' },
        gCBS: { cCredPres: '01', pCredPres: '3.00', vCredPres: '3.00' },
      },
    ],
  },
  '211124': stocked('gPerecimento', 'qPerecimento', 'uPerecimento'),
  '211128': { indAceitacao: '1' },
  '211130': stocked('gImobilizacao', 'qImobilizado', 'uImobilizado'),
  '211140': stocked('gConsumoComb', 'qComb', 'uComb'),
  '211150': { gCredito: { nItem: '7', vCredIBS: '9.10', vCredCBS: '0.90' } },
  '212110': { indAceitacao: '0' },
  '212120': { indAceitacao: '1' },
  '110001': { tpEventoAut: '211130', nProtEvento: '143260000000001' },
};

const faults = (type: string, given: unknown) =>
  nfeEventFaults(type, given).map(({ field, message }) => `${field}: ${message}`);

describe('fields of the Tax Reform events', () => {
  test('every type of that class has a layout and an example here', () => {
    const types = [...MANIFESTATION_RULES.values()].filter((rule) => rule.class === 'tax_reform');
    assert.deepEqual(types.map(({ type }) => type).sort(), Object.keys(GOOD).sort());
  });

  for (const [type, given] of Object.entries(GOOD)) {
    test(`${type}: a good example has no faults`, () => assert.deepEqual(faults(type, given), []));

    test(`${type}: what is written is valid by its XSD`, { skip: NO_SCHEMAS }, () => {
      const description = MANIFESTATION_RULES.get(type)?.description;
      const xml =
        `<detEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><descEvento>${description}</descEvento>` +
        `${nfeEventDetails(type, given, DEFAULTS)}</detEvento>`;
      assert.equal(schemaOf(`nfe/e${type}_v1.00.xsd`)(xml), null);
    });

    test(`${type}: each element left out is missed by its name`, () => {
      for (const name of Object.keys(given)) {
        const { [name]: _, ...rest } = given;
        assert.match(
          faults(type, rest).join('\n'),
          new RegExp(`^${name === 'gCredPres' ? 'gCredPresOper' : name}: is missing`),
        );
      }
    });
  }

  test('author, application and UF are written by the sender, unless given', () => {
    const given = { indAceitacao: '1' };
    assert.equal(
      nfeEventDetails('212110', given, DEFAULTS),
      '<cOrgaoAutor>35</cOrgaoAutor><tpAutor>8</tpAutor><verAplic>Malote 0.1.0</verAplic><indAceitacao>1</indAceitacao>',
    );
    assert.equal(
      nfeEventDetails('211128', { ...given, cOrgaoAutor: '43', verAplic: 'ERP & Co' }, DEFAULTS),
      '<cOrgaoAutor>43</cOrgaoAutor><tpAutor>2</tpAutor><verAplic>ERP &amp; Co</verAplic><indAceitacao>1</indAceitacao>',
    );
    assert.doesNotMatch(nfeEventDetails('110001', GOOD['110001'] ?? {}, DEFAULTS), /tpAutor/);
  });

  test('211110 knows the group of NT 2025.002 v1.40 and the one of the published XSD', () => {
    const given = {
      tpAutor: '1',
      gCredPresOper: {
        nItem: '2',
        vBCCredPres: '50.00',
        cCredPres: '04',
        gIBSCredPres: { pCredPres: '1.00', vCredPres: '0.50' },
      },
    };
    assert.deepEqual(faults('211110', given), []);
    assert.equal(
      nfeEventDetails('211110', given, DEFAULTS),
      '<cOrgaoAutor>35</cOrgaoAutor><tpAutor>1</tpAutor><verAplic>Malote 0.1.0</verAplic><gCredPresOper nItem="2">' +
        '<vBCCredPres>50.00</vBCCredPres><cCredPres>04</cCredPres><gIBSCredPres><pCredPres>1.00</pCredPres>' +
        '<vCredPres>0.50</vCredPres></gIBSCredPres></gCredPresOper>',
    );
  });

  test('every fault is told with its place, all at once', () => {
    const given = {
      gPerecimento: [
        { nItem: '1', vIBS: '10,00', vCBS: 5, gControleEstoque: { qPerecimento: '1', uPerecimento: 'QUILOS!' } },
        { nItem: '1', vIBS: '01.00', gControleEstoque: 'none', vISS: '1.00' },
        { nItem: '991', vIBS: '1.00', vCBS: '1.00', gControleEstoque: {} },
      ],
      descEvento: 'Perecimento, perda, roubo ou furto durante o transporte contratado pelo comprador',
      tpAutor: '1',
    };
    const told = faults('211124', given);
    for (const expected of [
      /^gPerecimento\[0\]\.vIBS: must be an amount/m,
      /^gPerecimento\[0\]\.vCBS: must be an amount like 1234\.56, as a string/m,
      /^gPerecimento\[0\]\.gControleEstoque\.uPerecimento: must be a unit/m,
      /^gPerecimento\[1\]\.vIBS: must be an amount/m,
      /^gPerecimento\[1\]\.vCBS: is missing/m,
      /^gPerecimento\[1\]\.vISS: is not in this layout, which has nItem, vIBS, vCBS, gControleEstoque/m,
      /^gPerecimento\[1\]\.gControleEstoque: must be an object with qPerecimento, uPerecimento/m,
      /^gPerecimento\[1\]\.nItem: is the same as in gPerecimento\[0\]/m,
      /^gPerecimento\[2\]\.nItem: must be the number of an item/m,
      /^gPerecimento\[2\]\.gControleEstoque\.qPerecimento: is missing: a quantity/m,
      /^descEvento: must be "Perecimento, .* adquirente", to the letter/m,
      /^tpAutor: must be 2 for this event/m,
    ]) {
      assert.match(told.join('\n'), expected);
    }
  });

  test('a text without its accents, and anything that is no object, is refused', () => {
    assert.match(faults('211130', { ...GOOD['211130'], descEvento: 'Imobilizacao de Item' }).join(), /descEvento/);
    for (const given of [null, undefined, 'x', 1, [], [{}]]) {
      assert.match(faults('211128', given).join(), /^: must be an object with/);
    }
    assert.match(faults('211124', { gPerecimento: [] }).join(), /gPerecimento: must have 1 to 990 entries and has 0/);
    const hostile: unknown = JSON.parse('{"__proto__": {"indAceitacao": "1"}}');
    assert.match(faults('211128', hostile).join('\n'), /^__proto__: is not in this layout/m);
  });

  test('texts are escaped', () => {
    const given = {
      gImobilizacao: { nItem: '1', vIBS: '0', vCBS: '0', gControleEstoque: { qImobilizado: '1', uImobilizado: '<&"' } },
    };
    assert.match(nfeEventDetails('211130', given, DEFAULTS), /<uImobilizado>&lt;&amp;&quot;<\/uImobilizado>/);
  });
});
