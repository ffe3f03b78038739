import { block, type Field } from '../kit/fields.js';
import type { Section } from '../kit/flow.js';
import { textWidth } from '../kit/fonts.js';
import { FORM } from '../kit/style.js';
import type { Note } from './note.js';
import type { Totals } from './totals.js';

/** The totals: one block up to November 2026 (MOC annex II), three since then (NT 2026.010). */
export function totalBlocks({ totals, reform, landscape }: Note, width: number): Section[] {
  const optional = (...names: (keyof Totals)[]) => names.filter((name) => totals[name] !== '');
  const fields = (...names: (keyof Totals)[]) => names.map((name) => field(totals, name));
  if (!reform) {
    const taxes = fields('vBC', 'vICMS', 'vBCST', 'vST', ...optional('vTotTrib'), 'vProd');
    const further = fields('vFrete', 'vSeg', 'vDesc', 'vOutro', 'vIPI', 'vNF');
    return [block('CÁLCULO DO IMPOSTO', landscape ? [[...taxes, ...further]] : [taxes, further], width, FORM)];
  }
  const monophase = optional('vIBSMono', 'vCBSMono', 'vIBSMonoReten', 'vCBSMonoReten');
  return [
    block(
      'TOTAL DOS PRODUTOS E TOTAL DA NOTA',
      [fields('vProd', 'vFrete', 'vSeg', 'vDesc', 'vOutro', ...optional('vTotTrib'), 'vNF')],
      width,
      FORM,
    ),
    block('TOTAL DO ICMS / IPI', [fields('vBC', 'vICMS', 'vBCST', 'vST', 'vIPI')], width, FORM),
    block(
      'TOTAL DO IBS / CBS / IS',
      [
        fields('vCBS', 'vIBSUF', 'vIBSMun', 'vIS', ...optional('vNFTot')),
        ...(monophase.length === 0 ? [] : [fields(...monophase)]),
      ],
      width,
      FORM,
    ),
  ];
}

function field(totals: Totals, name: keyof Totals): Field {
  const bold = name === 'vNF' ? { bold: true as const } : {};
  // Boxes as wide as their labels, so that twelve of them stand in a row; none too narrow for millions.
  const share = Math.max(50, textWidth(LABELS[name], FORM.regular, FORM.label.largest) + 4);
  return { label: LABELS[name], value: totals[name], share, align: 'right', ...bold };
}

const LABELS: Readonly<Record<keyof Totals, string>> = {
  vBC: 'BASE DE CÁLC. DO ICMS',
  vICMS: 'VALOR DO ICMS',
  vBCST: 'BASE DE CÁLC. ICMS ST',
  vST: 'VALOR DO ICMS ST',
  vProd: 'VALOR TOTAL PRODUTOS',
  vFrete: 'VALOR DO FRETE',
  vSeg: 'VALOR DO SEGURO',
  vDesc: 'DESCONTO',
  vOutro: 'OUTRAS DESPESAS',
  vIPI: 'VALOR DO IPI',
  vTotTrib: 'VALOR APROX. TRIBUTOS',
  vNF: 'VALOR TOTAL DA NOTA',
  vCBS: 'VALOR DA CBS',
  vIBSUF: 'VALOR DO IBS UF',
  vIBSMun: 'VALOR DO IBS MUNICÍPIO',
  vIS: 'VALOR DO IMPOSTO SELETIVO',
  vIBSMono: 'VALOR DO IBS MONOFÁSICO',
  vCBSMono: 'VALOR DA CBS MONOFÁSICA',
  vIBSMonoReten: 'IBS MONOF. SUJEITO A RETENÇÃO',
  vCBSMonoReten: 'CBS MONOF. SUJEITA A RETENÇÃO',
  vNFTot: 'VALOR TOTAL COM IBS / CBS / IS',
};
