import { PdfFailed } from '../errors.js';
import type { Field } from '../kit/fields.js';
import { dateAndTime, documentNumber, inGroups, joined, quantity, seriesNumber } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { cargoRows, type Price, readPrice } from './cargo.js';
import { coded, MODALS, SERVICES, TYPES } from './codes.js';
import { goodsTables } from './goods.js';
import { type List, type Records, readLists } from './lists.js';
import type { ModalBlock } from './modal/block.js';
import { readModal } from './modal/index.js';
import { type Parties, readParties } from './parties.js';
import { issuersNotes, remarksOf, taxOfficesNotes } from './remarks.js';
import { taxRows } from './taxes.js';

/** The documents that have a DACTE, by their elements. */
const FORMS = ['CTe', 'CTeOS', 'CTeSimp'] as const;
type Form = (typeof FORMS)[number];

/**
 * A CT-e as it is printed: every field is a text ready for paper, empty where the XML has nothing. Layouts 1.04 to 4.00 are read alike.
 * Only this part of the DACTE knows the XML.
 */
export interface Cte {
  readonly form: Form;
  /** As in the XML, without groups. Empty when there is none. */
  readonly key: string;
  readonly model: string;
  readonly number: string;
  readonly series: string;
  readonly landscape: boolean;
  /** dhEmi as written. */
  readonly issued: string;
  readonly issuedAt: string;
  readonly isTest: boolean;
  /** tpEmis; `1` is the normal one. */
  readonly emission: string;
  /** Contents of the QR code, as the issuer signed them; layouts before 3.00 have none. */
  readonly qrCode: string;
  readonly protocol: Protocol;
  /** Codes with their meaning: means of transport, kind of document, kind of service. */
  readonly modal: string;
  readonly type: string;
  readonly service: string;
  readonly isGlobal: boolean;
  /** CFOP and what it is about. */
  readonly nature: string;
  readonly start: string;
  readonly end: string;
  /** States on the way, of a CT-e OS. */
  readonly route: string;
  /** SUFRAMA registration of the recipient. */
  readonly suframa: string;
  readonly parties: Parties;
  /** What a CT-e OS is about; null in others. */
  readonly described: readonly Field[] | null;
  readonly cargo: readonly (readonly Field[])[];
  readonly price: Price;
  readonly taxes: readonly (readonly Field[])[];
  readonly lists: readonly List[];
  /** Where the cargo is expected to pass; null without. */
  readonly flow: readonly Field[] | null;
  readonly modalBlock: ModalBlock | null;
  readonly goods: readonly Records[];
  readonly remarks: readonly string[];
  readonly issuersNotes: readonly string[];
  readonly taxOfficesNotes: readonly string[];
}

interface Protocol {
  readonly number: string;
  readonly at: string;
  /** cStat; empty when nobody has authorized the document. */
  readonly status: string;
}

/**
 * @param root `cteProc`, `cteOSProc`, `cteSimpProc`, or what is inside of them alone
 * @throws {PdfFailed} `other_document`, `contradiction`
 */
export function readCte(root: XmlNode): Cte {
  const { form, document } = documentIn(root);
  const xml = document.at('infCte');
  if (!xml.exists) throw new PdfFailed('other_document', 'The document is no CT-e: it has no infCte');
  const approval = root.at('protCTe/infProt');
  const key = xml.attribute('Id').replace(/^CTe/, '') || approval.text('chCTe');
  if (approval.text('chCTe') !== '' && approval.text('chCTe') !== key) {
    throw new PdfFailed('contradiction', 'The protocol is about another CT-e: their keys differ');
  }
  const ide = xml.at('ide');
  const normal = xml.at('infCTeNorm');
  const place = (end: 'Ini' | 'Fim') => joined([ide.text(`xMun${end}`), ide.text(`UF${end}`)], ' - ');
  const isApproved = approval.text('nProt') !== '';
  return {
    form,
    key,
    model: ide.text('mod') || key.slice(20, 22),
    number: documentNumber(ide.text('nCT')),
    series: seriesNumber(ide.text('serie')),
    landscape: ide.text('tpImp') === '2',
    issued: ide.text('dhEmi'),
    issuedAt: dateAndTime(ide.text('dhEmi')),
    isTest: ide.text('tpAmb') === '2',
    emission: ide.text('tpEmis'),
    qrCode: document.at('infCTeSupl').code('qrCodCTe'),
    protocol: {
      number: approval.text('nProt'),
      at: dateAndTime(approval.text('dhRecbto')),
      status: isApproved ? approval.text('cStat') : '',
    },
    modal: MODALS.get(ide.text('modal')) ?? ide.text('modal'),
    type: coded(ide.text('tpCTe'), TYPES),
    service: coded(ide.text('tpServ'), SERVICES),
    isGlobal: ide.text('indGlobalizado') === '1',
    nature: joined([ide.text('CFOP'), ide.text('natOp')], ' - '),
    start: place('Ini'),
    end: place('Fim'),
    route: joined(
      ide.all('infPercurso').map((state) => state.text('UFPer')),
      ' / ',
    ),
    suframa: xml.text('dest/ISUF') || xml.text('toma/ISUF'),
    parties: readParties(xml),
    described: form === 'CTeOS' ? describedService(normal) : null,
    cargo: cargoRows(normal.at('infCarga').exists ? normal.at('infCarga') : xml.at('infCarga')),
    price: readPrice(xml),
    taxes: taxRows(xml.at('imp')),
    lists: readLists(xml),
    flow: readFlow(xml.at('compl/fluxo')),
    modalBlock: readModal(normal.at('infModal').exists ? normal.at('infModal') : xml.at('infModal')),
    goods: goodsTables(normal),
    remarks: remarksOf(xml),
    issuersNotes: issuersNotes(xml),
    taxOfficesNotes: taxOfficesNotes(xml),
  };
}

/** Title of the PDF: what a reader shows in its window. */
export function titleOf({ form, number, series, key }: Cte): string {
  return joined([`${form === 'CTeOS' ? 'DACTE OS' : 'DACTE'} ${number} série ${series}`, inGroups(key)], ' – ');
}

/** What is inside decides: production has sent one form under another one's root. */
function documentIn(root: XmlNode): { form: Form; document: XmlNode } {
  for (const form of FORMS) {
    const document = root.name === form ? root : root.at(form);
    if (document.exists) return { form, document };
  }
  throw new PdfFailed('other_document', 'The document is no CT-e: it has no CTe, CTeOS or CTeSimp');
}

function describedService(normal: XmlNode): Field[] {
  const service = normal.at('infServico');
  return [
    { label: 'QUANTIDADE', value: quantity(service.text('infQ/qCarga')), share: 1, align: 'right' },
    { label: 'DESCRIÇÃO DO SERVIÇO PRESTADO', value: service.text('xDescServ'), share: 6 },
  ];
}

function readFlow(fluxo: XmlNode): Field[] | null {
  if (fluxo.children.length === 0) return null;
  return [
    { label: 'SIGLA DA ORIGEM', value: fluxo.text('xOrig'), share: 1 },
    {
      label: 'SIGLAS DAS PASSAGENS',
      value: joined(
        fluxo.all('pass').map((pass) => pass.text('xPass')),
        ' / ',
      ),
      share: 3,
    },
    { label: 'SIGLA DO DESTINO', value: fluxo.text('xDest'), share: 1 },
    { label: 'ROTA', value: fluxo.text('xRota'), share: 1 },
  ];
}
