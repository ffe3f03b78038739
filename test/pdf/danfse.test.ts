import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { municipalityName, place } from '../../src/pdf/danfse/municipalities.js';
import { sum } from '../../src/pdf/danfse/values.js';
import { NoPdf, PdfFailed } from '../../src/pdf/index.js';
import type { Mark } from '../../src/pdf/kit/sheet.js';
import { layOut } from '../../src/pdf/print.js';
import { sharedFile } from '../support/shared.js';
import { DANFSE_CASES, LONG_DESCRIPTION, LONG_REMARK } from './danfse-cases.js';
import { anyEdits, withEdits } from './edits.js';
import { outsideOf, overlapsOn, textsOf, wordsOf } from './layout-text.js';
import { write, type Xml } from './nfe-sample.js';
import { computation, declaration, FOREIGNER, type Group, serviceNote, TAKER } from './nfse-sample.js';

const sheetOf = (xml: string, state: 'authorized' | 'blocked' = 'authorized') => {
  const { sheets } = layOut({ kind: 'NFSe', xml: Buffer.from(xml), situation: { state } });
  assert.equal(sheets.length, 1);
  const [sheet] = sheets;
  assert.ok(sheet);
  return sheet;
};

function assertReadable(xml: string): void {
  const sheet = sheetOf(xml);
  assert.doesNotMatch(wordsOf(sheet), /undefined|\bNaN\b|\bnull\b|\[object/);
  assert.deepEqual(overlapsOn(sheet), []);
  assert.deepEqual(outsideOf(sheet), []);
}

/** Texts from the label on, so that what belongs to it comes next. */
function fieldOf(xml: string, label: string): string {
  const texts = textsOf(sheetOf(xml)).map(({ text }) => text);
  return texts[texts.indexOf(label) + 1] ?? '';
}

describe('a DANFSe of any note', () => {
  for (const { name, kind, xml, situation, texts } of DANFSE_CASES) {
    test(`${name}: one sheet with everything expected, nothing over anything else`, () => {
      const { sheets } = layOut({ kind, xml: Buffer.from(xml), situation });
      assert.equal(sheets.length, 1);
      const page = sheets.map(wordsOf).join('\n').replaceAll('\n', ' ');
      for (const text of texts) assert.ok(page.includes(text), text);
      assertReadable(xml);
    });

    test(`${name}: no number that is not in the XML, but for the two sums`, () => {
      const known = xml.replace(/[.:/T-]/g, '').replace(/[^0-9A-Z]+/g, ' ');
      const sums = ['Exclusões e Reduções da Base de Cálculo', 'Total do IBS/CBS', 'Total Deduções/Reduções'].map(
        (label) => fieldOf(xml, label),
      );
      for (const { text } of textsOf(sheetOf(xml))) {
        if (sums.includes(text) || /CF 150/.test(text)) continue;
        const own = text.replace('DANFSe v2.0', '').replace('Lei nº 12.741/2012', '');
        for (const [number] of own.matchAll(/\d[\d.,:/-]*/g))
          assert.ok(isKnown(number, known), `"${number}" of "${text}"`);
      }
    });
  }

  test('an empty field is a hyphen', () => {
    const bare = write('NFSe', { infNFSe: { '@Id': computation()['@Id'] } });
    for (const label of [
      'NÚMERO DA NFS-E',
      'CNPJ / CPF / NIF',
      'Código da NBS',
      'ISSQN Apurado',
      'Valor Líquido da NFS-e',
    ]) {
      assert.equal(fieldOf(bare, label), '-', label);
    }
  });

  test('every value of a usual note is on its page', () => {
    const page = wordsOf(sheetOf(serviceNote())).replaceAll(/[.\s-]/g, '');
    // What NT 008 does not print, or prints as a text or a date or in a QR code only.
    const elsewhere = new Set(
      'verAplic tpEmis procEmi nDFSe nro xNBS tpAmb ambGer cStat tpEmit cLocEmi opSimpNac regEspTrib tribISSQN tpRetISSQN pAliq CST vBCPisCofins tpRetPisCofins indFinal indDest finNFSe dhEmi dhProc dCompet cLocPrestacao cLocIncid cTribNac fone CEP CNPJ'.split(
        ' ',
      ),
    );
    const emitter = new Set(['fone', 'email']);
    walk({ ...computation(), emit: omit(computation().emit, emitter), DPS: declaration() }, (name, text) => {
      if (elsewhere.has(name) || name.startsWith('@')) return;
      const printed = /^\d+\.\d\d$/.test(text) ? brazilian(text) : text;
      assert.ok(page.includes(printed.replaceAll(/[.\s-]/g, '')), `${name} ${text}`);
    });
  });
});

function omit(group: Xml | undefined, names: ReadonlySet<string>): Group {
  return Object.fromEntries(Object.entries(group as Group).filter(([name]) => !names.has(name)));
}

function walk(content: Xml | undefined, visit: (name: string, text: string) => void, name = ''): void {
  if (typeof content === 'string') visit(name, content);
  else if (content !== undefined) {
    for (const [inner, value] of Object.entries(content as Group))
      walk(value, visit, Array.isArray(content) ? name : inner);
  }
}

/** `1234.5` → `1.234,50`, by another way than the code under test. */
function brazilian(amount: string): string {
  return new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2 }).format(Number(amount));
}

function isKnown(printed: string, digits: string): boolean {
  const [, day, month, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(printed) ?? [];
  const plain = year === undefined ? printed.replace(/\D/g, '') : `${year}${month}${day}`;
  return digits.includes(plain);
}

describe('who is who', () => {
  test('the provider is `prest`; what it leaves out is taken from `emit` only when that is the same', () => {
    assert.equal(fieldOf(serviceNote(), 'Nome / Nome Empresarial'), 'Prestadora Inventada de Programas Ltda');
    const other = serviceNote({ dps: { tpEmit: '2', prest: { CNPJ: TAKER.CNPJ } } });
    assert.equal(fieldOf(other, 'Nome / Nome Empresarial'), '-');
    assert.equal(fieldOf(other, 'Município / Sigla UF'), '-');
  });

  test('the recipient is the taker, or another, or nobody', () => {
    const same = 'O DESTINATÁRIO É O PRÓPRIO TOMADOR/ADQUIRENTE DA OPERAÇÃO';
    const group = declaration().IBSCBS as Group;
    const page = (IBSCBS: Group) => wordsOf(sheetOf(serviceNote({ dps: { IBSCBS } })));
    assert.ok(page(group).includes(same));
    assert.ok(page({ ...group, indDest: '1', dest: { CNPJ: TAKER.CNPJ } }).includes(same));
    assert.ok(page({ ...group, indDest: '1' }).includes('DESTINATÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e'));
    assert.ok(page({ ...group, indDest: '1', dest: FOREIGNER }).includes('Beispielhandel GmbH'));
  });

  test('a taker without an address, with empty elements, with a reason for no NIF', () => {
    for (const toma of [
      { CPF: '13579246810', xNome: 'Fulano' },
      { ...TAKER, end: '' },
      { cNaoNIF: '1', xNome: 'Foreign' },
    ]) {
      assertReadable(serviceNote({ dps: { toma } }));
    }
    assert.match(
      wordsOf(sheetOf(serviceNote({ dps: { toma: { CNPJ: '', xNome: ' ', end: { endNac: '' } } } }))),
      /TOMADOR\/ADQUIRENTE DA OPERAÇÃO NÃO IDENTIFICADO/,
    );
  });
});

describe('taxes', () => {
  const withFederal = (tribFed: Group, dCompet = '2026-12-01') =>
    serviceNote({ dps: { dCompet, valores: { trib: { tribFed } } } });

  test('withheld PIS and COFINS belong to what is withheld, and are no debt of the provider', () => {
    const own = { vPis: '65.00', vCofins: '300.00' };
    const withheld = withFederal({ vRetCSLL: '100.00', piscofins: { ...own, tpRetPisCofins: '1' } });
    assert.equal(fieldOf(withheld, 'Contribuições Sociais - Retidas'), 'R$ 465,00');
    assert.equal(fieldOf(withheld, 'PIS - Débito Apuração Própria'), 'R$ 0,00');
    const other = withFederal({ vRetCSLL: '100.00', piscofins: { ...own, tpRetPisCofins: '2' } });
    assert.equal(fieldOf(other, 'Contribuições Sociais - Retidas'), 'R$ 100,00');
    assert.equal(fieldOf(other, 'COFINS - Débito Apuração Própria'), 'R$ 300,00');
  });

  test('PIS and COFINS end with 2026', () => {
    const label = 'PIS - Débito Apuração Própria';
    assert.ok(wordsOf(sheetOf(withFederal({}, '2026-12-31'))).includes(label));
    assert.ok(!wordsOf(sheetOf(withFederal({}, '2027-01-01'))).includes(label));
  });

  test('IBS and CBS have a block when the note has them', () => {
    assert.match(wordsOf(sheetOf(serviceNote())), /TRIBUTAÇÃO IBS \/ CBS/);
    assert.doesNotMatch(wordsOf(sheetOf(serviceNote({ reform: false }))), /TRIBUTAÇÃO IBS/);
  });

  test('sums are exact, and there is none of what is no amount', () => {
    assert.equal(sum(['0.10', '0.20', '']), '0.30');
    assert.equal(sum(['9999999999999.99', '0.01']), '10000000000000.00');
    assert.equal(sum(['1.005', '-2']), '-0.995');
    assert.equal(sum(['', '']), '');
    assert.equal(sum(['1.00', 'N/A']), '');
  });
});

describe('places', () => {
  test('names of municipalities, federal units, countries', () => {
    assert.equal(municipalityName('3550308'), 'São Paulo');
    assert.equal(municipalityName('5101837'), 'Boa Esperança do Norte');
    assert.equal(municipalityName('9999999'), '');
    assert.equal(municipalityName(''), '');
    assert.equal(place('', '4106902', ''), 'Curitiba / PR / BR');
    assert.equal(place('', '', 'US'), 'US');
    assert.equal(place('', '', ''), '');
  });
});

describe('long texts', () => {
  const page = (xml: string) => wordsOf(sheetOf(xml)).replaceAll('\n', ' ');
  const usual = declaration().serv as Group;

  test('1,297 characters of description and 1,997 of remarks, with "…" after them', () => {
    const serv = { ...usual, cServ: { xDescServ: LONG_DESCRIPTION }, infoCompl: { xInfComp: LONG_REMARK } };
    const printed = page(serviceNote({ dps: { serv } }));
    assert.ok(printed.includes(`${LONG_DESCRIPTION.slice(0, 1297).trimEnd()}…`));
    assert.ok(printed.includes(`${`Inf. Cont.: ${LONG_REMARK}`.slice(0, 1997).trimEnd()}…`));
  });

  test('texts of the longest length that is printed are whole', () => {
    const serv = {
      ...usual,
      cServ: { xDescServ: LONG_DESCRIPTION.slice(0, 1297).trimEnd() },
      infoCompl: { xInfComp: LONG_REMARK.slice(0, 1985).trimEnd() },
    };
    assert.doesNotMatch(page(serviceNote({ dps: { serv } })), /…/);
  });

  test('a description has the lines that the remarks do not need', () => {
    const lines = Array.from({ length: 60 }, (_, i) => `Item ${i + 1}.`);
    const linesWith = (remark: string) => {
      const serv = { ...usual, cServ: { xDescServ: lines.join('\n') }, infoCompl: { xInfComp: remark } };
      return page(serviceNote({ dps: { serv } })).match(/Item \d+\./g)?.length ?? 0;
    };
    const [alone, beside] = [linesWith('Curta'), linesWith('Longa '.repeat(330))];
    assert.ok(beside >= 5 && alone > beside, `${alone} and ${beside} lines`);
  });

  test('where they do not fit they end with "…", and the line about approximate taxes stays', () => {
    const party = { ...TAKER, xNome: 'W'.repeat(150), email: 'm'.repeat(80), IM: '8'.repeat(60) };
    const wide = {
      prest: { ...party, regTrib: { opSimpNac: '3', regApTribSN: '2' } },
      toma: party,
      interm: { ...party, CNPJ: '1' },
      serv: { cServ: { xDescServ: 'W'.repeat(2000) }, infoCompl: { xInfComp: 'W '.repeat(1000) } },
      IBSCBS: { ...(declaration().IBSCBS as Group), dest: { ...party, CNPJ: '2' } },
    };
    const xml = serviceNote({ dps: wide });
    assertReadable(xml);
    assert.match(page(xml), /W…/);
    assert.match(page(xml), /Lei nº 12\.741\/2012: Federais: R\$ 1\.614,00/);
  });

  test('every field too long: each is one line, and the page still one', () => {
    const kept = new Set(['tpAmb', 'tpEmit', 'indDest', 'tribISSQN']);
    const wide = (content: Xml | undefined, name = ''): Xml | undefined => {
      if (typeof content === 'string') return name.startsWith('@') || kept.has(name) ? content : 'W'.repeat(2000);
      if (content === undefined) return undefined;
      return Object.fromEntries(Object.entries(content as Group).map(([inner, value]) => [inner, wide(value, inner)]));
    };
    const IBSCBS = { ...(declaration().IBSCBS as Group), indDest: '1', dest: FOREIGNER };
    const dps = { ...declaration(), interm: TAKER, IBSCBS };
    const xml = write('NFSe', { infNFSe: wide({ ...computation(), DPS: { infDPS: dps } }) });
    assertReadable(xml);
    assert.match(fieldOf(xml, 'Código da NBS'), /^W+…$/);
  });

  test('an Id that is no key is printed as far as it fits, and no QR code made of it', () => {
    const xml = serviceNote({ note: { '@Id': `NFS${'8'.repeat(5000)}` } });
    assertReadable(xml);
    assert.match(fieldOf(xml, 'CHAVE DE ACESSO DA NFS-E'), /^8+…$/);
    const isBlack = (mark: Mark) => mark.kind === 'fill' && mark.grey === 0;
    assert.ok(!sheetOf(xml).marks.some(isBlack));
    assert.ok(sheetOf(serviceNote()).marks.some(isBlack));
  });

  test('any part taken away, emptied or filled with nonsense: still one page', () => {
    const full: Group = { ...computation(), DPS: { infDPS: { ...declaration(), interm: TAKER } } };
    fc.assert(
      fc.property(anyEdits, (edits) => {
        const note = withEdits(full, edits);
        assertReadable(write('NFSe', { infNFSe: { ...(note as object), '@Id': full['@Id'] } }));
      }),
      { numRuns: 150 },
    );
  });
});

describe('what it depends on', () => {
  test('a block of events marks nothing', () => {
    const xml = serviceNote();
    assert.deepEqual(sheetOf(xml, 'blocked').marks, sheetOf(xml).marks);
  });

  test('other documents, and other kinds of the NFS-e', () => {
    const print = (kind: 'NFSe' | 'DPS' | 'evento' | 'pedRegEvento' | 'CNC', xml: string) =>
      layOut({ kind, xml: Buffer.from(xml), situation: { state: 'unknown' } });
    for (const xml of ['<DPS/>', '<NFSe/>', '<nfeProc/>', '<evento><infNFSe/></evento>']) {
      assert.throws(
        () => print('NFSe', xml),
        (error) => error instanceof PdfFailed && error.failure === 'other_document',
      );
    }
    for (const kind of ['DPS', 'evento', 'pedRegEvento', 'CNC'] as const) {
      assert.throws(() => print(kind, '<DPS/>'), NoPdf);
    }
  });
});

describe('the collected cases', () => {
  const folder = sharedFile('cases');
  test('every service note among them has a page', {
    skip: folder === null && 'the case files are not here (../shared)',
  }, () => {
    const files = readdirSync(folder ?? '').filter((file) => /nfse-(note|without|toma)/.test(file));
    assert.ok(files.length >= 3);
    for (const file of files) assertReadable(readFileSync(`${folder}/${file}`, 'utf8'));
  });
});
