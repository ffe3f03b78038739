import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { CONCLUSIVE_TYPES, legalDeadline, MANIFESTATION_RULES } from '../../src/model/manifestation.js';
import { sharedFile } from '../support/shared.js';

/**
 * Fixed pairs: a manifestation is a legal statement, and public tools get them wrong. Every value stands here a second time, beside the
 * place where the norm says it.
 */
const PAIRS: readonly [
  type: string,
  text: string,
  authority: string,
  days: number | null,
  times: number,
  source: string,
][] = [
  // NT 2020.001 v1.60: texts without accents; deadlines by Ajuste SINIEF 14/2026 (10 days, 90 days); two of each conclusive type.
  ['210200', 'Confirmacao da Operacao', 'an', 90, 2, 'e210200_v1.00.xsd'],
  ['210210', 'Ciencia da Operacao', 'an', 10, 1, 'e210210_v1.00.xsd'],
  ['210220', 'Desconhecimento da Operacao', 'an', 90, 2, 'e210220_v1.00.xsd'],
  ['210240', 'Operacao nao Realizada', 'an', 90, 2, 'e210240_v1.00.xsd'],
  // NT 2025.002: texts with accents, no deadline in the norm; nSeqEvento has two digits at most.
  ['211110', 'Solicitação de Apropriação de crédito presumido', 'svrs', null, 99, 'e211110_v1.00.xsd'],
  [
    '211124',
    'Perecimento, perda, roubo ou furto durante o transporte contratado pelo adquirente',
    'svrs',
    null,
    99,
    'e211124_v1.00.xsd',
  ],
  ['211128', 'Aceite de débito na apuração por emissão de nota de crédito', 'svrs', null, 99, 'e211128_v1.00.xsd'],
  ['211130', 'Imobilização de Item', 'svrs', null, 99, 'e211130_v1.00.xsd'],
  ['211140', 'Solicitação de Apropriação de Crédito de Combustível', 'svrs', null, 99, 'e211140_v1.00.xsd'],
  [
    '211150',
    'Solicitação de Apropriação de Crédito para bens e serviços que dependem de atividade do adquirente',
    'svrs',
    null,
    99,
    'e211150_v1.00.xsd',
  ],
  [
    '212110',
    'Manifestação sobre Pedido de Transferência de Crédito de IBS em Operação de Sucessão',
    'svrs',
    null,
    99,
    'e212110_v1.00.xsd',
  ],
  [
    '212120',
    'Manifestação sobre Pedido de Transferência de Crédito de CBS em Operação de Sucessão',
    'svrs',
    null,
    99,
    'e212120_v1.00.xsd',
  ],
  ['110001', 'Cancelamento de Evento', 'svrs', null, 99, 'e110001_v1.00.xsd'],
  // CT-e 4.00: 45 days (787), texts as the XSDs have them without accents; nSeqEvento has three digits at most.
  ['610110', 'Prestacao do Servico em Desacordo', 'cte', 45, 999, 'evPrestDesacordo_v4.00.xsd'],
  ['610111', 'Cancelamento Prestacao do Servico em Desacordo', 'cte', null, 999, 'evCancPrestDesacordo_v4.00.xsd'],
  // NFS-e 1.01: the texts have accents, and there is one statement of each kind.
  ['203202', 'Manifestação de NFS-e - Confirmação do Tomador', 'sefin', null, 1, 'tiposEventos_v1.01.xsd'],
  ['203206', 'Manifestação de NFS-e - Rejeição do Tomador', 'sefin', null, 1, 'tiposEventos_v1.01.xsd'],
];
const OF_THE_TEXT = /name="descEvento">[\s\S]*?<\/xs:element>/;
const JUSTIFIED: readonly string[] = ['210240', '610110'];

describe('manifestations', () => {
  for (const [type, text, authority, days, times, source] of PAIRS) {
    test(`${type} is "${text}"`, () => {
      const rule = MANIFESTATION_RULES.get(type);
      assert.equal(rule?.description, text);
      assert.equal(rule.type, type);
      assert.equal(rule.authority, authority);
      assert.equal(rule.days, days);
      assert.equal(rule.times, times);
      assert.equal(rule.justified, JUSTIFIED.includes(type), 'xJust is of 210240 alone (case C56), xObs of 610110');
    });

    const folder = { cte: 'cte', sefin: 'nfse/v1.01' }[authority] ?? 'nfe';
    const xsd = sharedFile(`schemas/${folder}/${source}`);
    test(`${source} names ${type} so`, {
      skip: xsd === null && 'the official schemas are not here (../shared)',
    }, () => {
      const ofType = authority === 'sefin' ? new RegExp(`name="TE${type}">[\\s\\S]*?</xs:complexType>`) : OF_THE_TEXT;
      const [texts] = ofType.exec(readFileSync(xsd ?? '', 'utf8')) ?? [];
      assert.ok(texts?.includes(`<xs:enumeration value="${text}"/>`));
    });
  }

  test('a rejection of an NFS-e has a reason of a closed list, nothing else has', () => {
    const reasons = [...MANIFESTATION_RULES.values()].filter((rule) => rule.reasons !== undefined);
    assert.deepEqual(
      reasons.map(({ type, reasons: list }) => [type, list]),
      [['203206', { codes: ['1', '2', '3', '4', '5', '9'], explained: '9' }]],
    );
  });

  test('nothing else is one', () => {
    assert.deepEqual([...MANIFESTATION_RULES.keys()].sort(), PAIRS.map(([type]) => type).sort());
    assert.deepEqual([...CONCLUSIVE_TYPES].sort(), ['210200', '210220', '210240']);
  });
});

describe('until when and how often', () => {
  const AUTHORIZED = '2026-11-30T10:00:00-03:00';
  const table: [type: string, lastInstant: string | null, times: number, source: string][] = [
    ['210210', '2026-12-10T13:00:00.000Z', 1, 'Ajuste SINIEF 14/2026: 10 days; NT 2020.001: once (594)'],
    ['210200', '2027-02-28T13:00:00.000Z', 2, 'Ajuste SINIEF 14/2026: 90 days; NT 2020.001 v1.60: twice (594)'],
    ['210220', '2027-02-28T13:00:00.000Z', 2, 'Ajuste SINIEF 14/2026: 90 days; NT 2020.001 v1.60: twice (594)'],
    ['210240', '2027-02-28T13:00:00.000Z', 2, 'Ajuste SINIEF 14/2026: 90 days; NT 2020.001 v1.60: twice (594)'],
    ['211110', null, 99, 'NT 2025.002: no deadline; layout: nSeqEvento of two digits'],
    ['211130', null, 99, 'NT 2025.002: no deadline; layout: nSeqEvento of two digits'],
    ['110001', null, 99, 'NT 2025.002: no deadline; nSeqEvento of the event that is cancelled'],
    ['610110', '2027-01-14T13:00:00.000Z', 999, 'MOC CT-e 4.00: 45 days (787); layout: nSeqEvento of three digits'],
    ['610111', null, 999, 'MOC CT-e 4.00: nSeqEvento of the event that is cancelled'],
  ];
  for (const [type, lastInstant, times, source] of table) {
    test(`${type}: ${lastInstant ?? 'no end'}, ${times} times (${source})`, () => {
      const rule = MANIFESTATION_RULES.get(type);
      assert.ok(rule);
      const end = legalDeadline(rule, Date.parse(AUTHORIZED));
      assert.equal(end === null ? null : new Date(end).toISOString(), lastInstant);
      assert.equal(rule.times, times);
      assert.equal(legalDeadline(rule, null), null, 'of a note whose authorization is not known');
    });
  }
});
