import { isRegisteredCteEvent, isRegisteredEvent } from '../../documents/index.js';
import type { DocumentKind } from '../../model/document.js';
import type { Section } from '../kit/flow.js';
import { textBox } from '../kit/lines.js';
import { FORM } from '../kit/style.js';
import { type Column, table, textCell, valueCell } from '../kit/table.js';
import type { XmlNode } from '../kit/xml-node.js';
import { sectionTitle } from './title.js';

/** What the letters of NF-e and CT-e have under different names, and what each has to say. */
export interface Letter {
  readonly kind: DocumentKind;
  /** Of what it is a correction. */
  readonly subject: string;
  readonly article: 'um' | 'uma';
  readonly heading: string;
  readonly event: string;
  readonly registration: string;
  readonly key: string;
  isRegistered(cStat: string): boolean;
  /** The element with the description and the conditions of use. */
  detail(event: XmlNode): XmlNode;
  correction(detail: XmlNode, width: number): Section;
}

const TEXT = { font: FORM.regular, size: 10 } as const;

/** Where a letter about an NF-e has its fields. */
export const NFE_LETTER: Letter = {
  kind: 'procEventoNFe',
  subject: 'NF-e',
  article: 'uma',
  heading: 'NOTA FISCAL ELETRÔNICA',
  event: 'evento/infEvento',
  registration: 'retEvento/infEvento',
  key: 'chNFe',
  isRegistered: isRegisteredEvent,
  detail: (event) => event.at('detEvento'),
  correction: (detail, width) => textBox(sectionTitle('CORREÇÃO'), detail.paragraphs('xCorrecao'), width, TEXT),
};

/** The letter of a CT-e names each field and its new value. */
export const CTE_LETTER: Letter = {
  kind: 'procEventoCTe',
  subject: 'CT-e',
  article: 'um',
  heading: 'CONHECIMENTO DE TRANSPORTE ELETRÔNICO',
  event: 'eventoCTe/infEvento',
  registration: 'retEventoCTe/infEvento',
  key: 'chCTe',
  isRegistered: isRegisteredCteEvent,
  detail: (event) => event.at('detEvento/evCCeCTe'),
  correction(detail, width) {
    const style = { regular: FORM.regular, bold: FORM.bold, size: 9, smallest: 6, title: 6 };
    const [group, item, field, value]: [Column, Column, Column, Column] = [
      { title: 'GRUPO ALTERADO', width: width * 0.18 },
      { title: 'ITEM', width: width * 0.07, align: 'center' },
      { title: 'CAMPO ALTERADO', width: width * 0.2 },
      { title: 'NOVO VALOR', width: width * 0.55 },
    ];
    const rows = detail
      .all('infCorrecao')
      .map((change) => [
        valueCell([change.text('grupoAlterado')], group, style),
        valueCell([change.text('nroItemAlterado')], item, style),
        valueCell([change.text('campoAlterado')], field, style),
        textCell(change.paragraphs('valorAlterado'), value, style),
      ]);
    return table([group, item, field, value], rows, style, sectionTitle('CORREÇÃO'));
  },
};
