import { type Cell, notice, row } from './grid.js';
import type { ServiceNote } from './note.js';
import type { Band } from './paper.js';
import type { Party } from './party.js';
import type { Federal, IbsCbs, Issqn } from './taxes.js';

/** The blocks of NT 008, annex I: which field is where. */

/** How a page is filled. */
export interface Density {
  /** Lines that a field may have. */
  readonly lines: number;
  /** Whether rows of ISSQN stay away of which no field has anything (note 5 of item 2.4.5). */
  readonly brief: boolean;
}

/** Who is who: a block for each, or one line that there is nobody. */
export function partyBlocks(note: ServiceNote, { lines }: Density): Band[][] {
  const { provider, taker, recipient, intermediary } = note;
  const regime: Cell[] = [
    { label: 'Simples Nacional na Data de Competência', value: note.simples, span: 2 },
    { label: 'Regime de Apuração Tributária pelo SN', value: note.simplesRegime, span: 2 },
  ];
  return [
    [...partyRows('PRESTADOR / FORNECEDOR', provider ?? NOBODY, true, lines), row(regime, lines)],
    taker === null
      ? [notice('TOMADOR/ADQUIRENTE DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e')]
      : partyRows('TOMADOR / ADQUIRENTE', taker, true, lines),
    recipient === 'taker'
      ? [notice('O DESTINATÁRIO É O PRÓPRIO TOMADOR/ADQUIRENTE DA OPERAÇÃO')]
      : recipient === null
        ? [notice('DESTINATÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e')]
        : partyRows('DESTINATÁRIO DA OPERAÇÃO', recipient, false, lines),
    intermediary === null
      ? [notice('INTERMEDIÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e')]
      : partyRows('INTERMEDIÁRIO DA OPERAÇÃO', intermediary, true, lines),
  ];
}

const NOBODY: Party = {
  id: '',
  municipalRegistration: '',
  phone: '',
  name: '',
  city: '',
  codes: '',
  street: '',
  email: '',
};

function partyRows(title: string, party: Party, hasRegistration: boolean, lines: number): Band[] {
  const registration = { label: 'Indicador Municipal (Inscrição)', value: party.municipalRegistration };
  return [
    row(
      [
        title,
        { label: 'CNPJ / CPF / NIF', value: party.id },
        hasRegistration ? registration : '',
        { label: 'Telefone', value: party.phone },
      ],
      lines,
    ),
    row(
      [
        { label: 'Nome / Nome Empresarial', value: party.name, span: 2 },
        { label: 'Município / Sigla UF', value: party.city },
        { label: 'Código IBGE / CEP', value: party.codes },
      ],
      lines,
    ),
    row(
      [
        { label: 'Endereço', value: party.street, span: 2 },
        { label: 'E-mail', value: party.email, span: 2 },
      ],
      lines,
    ),
  ];
}

/** What was done, and where. */
export function serviceRow({ service }: ServiceNote, { lines }: Density): Band {
  return row(
    [
      'SERVIÇO PRESTADO',
      { label: 'Código de Tributação Nacional / Municipal', value: service.codes },
      { label: 'Código da NBS', value: service.nbs },
      { label: 'Local da Prestação / Sigla UF / País', value: service.place },
    ],
    lines,
  );
}

/** Municipal and federal taxes, and those of the Reform if there are any. */
export function taxBlocks({ issqn, federal, ibsCbs }: ServiceNote, density: Density): Band[][] {
  return [
    issqn === null
      ? [notice('TRIBUTAÇÃO MUNICIPAL (ISSQN) - OPERAÇÃO NÃO SUJEITA AO ISSQN')]
      : issqnRows(issqn, density),
    federalRows(federal, density),
    ...(ibsCbs === null ? [] : [ibsCbsRows(ibsCbs, density)]),
  ];
}

function issqnRows(tax: Issqn, { lines, brief }: Density): Band[] {
  const droppable: Cell[][] = [
    [
      { label: 'Regime Especial de Tributação do ISSQN', value: tax.specialRegime },
      { label: 'Tipo de Imunidade do ISSQN', value: tax.immunity },
      { label: 'Suspensão da Exigibilidade do ISSQN', value: tax.suspension },
      { label: 'Número Processo Suspensão', value: tax.process },
    ],
    [
      { label: 'Benefício Municipal', value: tax.benefit },
      { label: 'Cálculo do BM', value: tax.benefitAmount },
      { label: 'Total Deduções/Reduções', value: tax.deductions },
      { label: 'Desconto Incondicionado', value: tax.discount },
    ],
  ];
  return [
    row(
      [
        'TRIBUTAÇÃO MUNICIPAL (ISSQN)',
        { label: 'Tipo de Tributação do ISSQN', value: tax.kind },
        { label: 'Município / Sigla UF / País da Incidência do ISSQN', value: tax.place, span: 2 },
      ],
      lines,
    ),
    ...droppable.filter((cells) => !brief || cells.some(({ value }) => value !== '')).map((cells) => row(cells, lines)),
    row(
      [
        { label: 'BC ISSQN', value: tax.base },
        { label: 'Alíquota Aplicada', value: tax.rate },
        { label: 'Retenção do ISSQN', value: tax.withholding },
        { label: 'ISSQN Apurado', value: tax.amount },
      ],
      lines,
    ),
  ];
}

function federalRows({ own, ...tax }: Federal, { lines }: Density): Band[] {
  const first = row(
    [
      'TRIBUTAÇÃO FEDERAL (EXCETO CBS)',
      { label: 'IRRF', value: tax.incomeTax },
      { label: 'Contribuição Previdenciária - Retida', value: tax.socialSecurity },
      { label: 'Contribuições Sociais - Retidas', value: tax.socialContributions },
    ],
    lines,
  );
  if (own === null) return [first];
  const second: Cell[] = [
    { label: 'PIS - Débito Apuração Própria', value: own.pis },
    { label: 'COFINS - Débito Apuração Própria', value: own.cofins },
    { label: 'Descrição Contrib. Sociais - Retidas', value: own.withheld, span: 2 },
  ];
  return [first, row(second, lines)];
}

function ibsCbsRows(tax: IbsCbs, { lines }: Density): Band[] {
  return [
    row(
      [
        'TRIBUTAÇÃO IBS / CBS',
        { label: 'CST / cClassTrib', value: tax.classification },
        {
          label: 'Indicador de Operação / Código IBGE Incidência / Município Incidência / Sigla UF',
          value: tax.operation,
          span: 2,
        },
      ],
      lines,
    ),
    row(
      [
        { label: 'Exclusões e Reduções da Base de Cálculo', value: tax.exclusions },
        { label: 'Base de Cálculo Após Exclusões e Reduções', value: tax.base },
        { label: 'Red. Alíquota IBS / Red. Alíquota CBS', value: tax.reductions },
        { label: 'Alíquota - IBS UF / IBS Mun', value: tax.ibsRates },
      ],
      lines,
    ),
    row(
      [
        { label: 'Alíq. Efetiva Municipal - IBS', value: tax.municipalRate },
        { label: 'Valor Apurado Municipal - IBS', value: tax.municipalAmount },
        { label: 'Alíq. Efetiva Estadual - IBS', value: tax.stateRate },
        { label: 'Valor Apurado Estadual - IBS', value: tax.stateAmount },
      ],
      lines,
    ),
    row(
      [
        { label: 'Valor Total Apurado - IBS', value: tax.ibsAmount },
        { label: 'Alíquota - CBS', value: tax.cbsRate },
        { label: 'Alíquota Efetiva - CBS', value: tax.cbsEffectiveRate },
        { label: 'Valor Total Apurado - CBS', value: tax.cbsAmount },
      ],
      lines,
    ),
  ];
}

/** What it costs in the end. */
export function totalRows({ totals }: ServiceNote, { lines }: Density): Band[] {
  return [
    row(
      [
        'VALOR TOTAL DA NFS-E',
        { label: 'Valor da Operação / Serviço', value: totals.service },
        { label: 'Desconto Incondicionado', value: totals.unconditionalDiscount },
        { label: 'Desconto Condicionado', value: totals.conditionalDiscount },
      ],
      lines,
    ),
    row(
      [
        { label: 'Total das Retenções (ISSQN / Federais)', value: totals.withheld },
        { label: 'Valor Líquido da NFS-e', value: totals.net },
        { label: 'Total do IBS/CBS', value: totals.ibsCbs },
        { label: 'Valor Líquido da NFS-e + IBS/CBS', value: totals.total, shaded: true },
      ],
      lines,
    ),
  ];
}
