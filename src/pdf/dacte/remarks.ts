import { amount, date, dateAndTime, inGroups, joined, labelled } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';

/** "Observações": the issuer's text first and complete, then what the form has no box for. Only what the XML says. */
export function remarksOf(xml: XmlNode): string[] {
  const ide = xml.at('ide');
  const compl = xml.at('compl');
  const normal = xml.at('infCTeNorm');
  return [
    ...compl.paragraphs('xObs'),
    ...prefixed('CT-e globalizado: ', normal.paragraphs('infGlobalizado/xObs')),
    ...line('; ', [
      labelled('Característica do transporte', compl.text('xCaracAd')),
      labelled('Característica do serviço', compl.text('xCaracSer')),
      labelled('Funcionário emissor', compl.text('xEmi')),
    ]),
    ...line('; ', [
      // 0: yes. What everybody expects is not worth a line.
      ide.text('retira') === '0' ? joined(['O recebedor retira a carga', ide.text('xDetRetira')], ': ') : '',
      labelled('Entrega', joined([programmedDay(compl.at('Entrega')), programmedHour(compl.at('Entrega'))], ', ')),
      labelled('Frete calculado', joined([compl.text('origCalc'), compl.text('destCalc')], ' - ')),
    ]),
    ...line('', [
      labelled('Entrada em contingência', joined([dateAndTime(ide.text('dhCont')), ide.text('xJust')], ' - ')),
    ]),
    ...line('; ', [
      labelled('CT-e substituído', inGroups(normal.text('infCteSub/chCte') || xml.text('infCteSub/chCte'))),
      labelled('CT-e anulado', inGroups(xml.text('infCteAnu/chCte'))),
      labelled('CT-e do pagamento antecipado', inGroups(paidBefore(xml))),
    ]),
    ...billing(normal.at('cobr').exists ? normal.at('cobr') : xml.at('cobr')),
  ];
}

/** "Uso exclusivo do emissor do CT-e". */
export function issuersNotes(xml: XmlNode): string[] {
  return xml.at('compl').all('ObsCont').flatMap(observation);
}

/** "Reservado ao fisco". */
export function taxOfficesNotes(xml: XmlNode): string[] {
  return [...xml.at('compl').all('ObsFisco').flatMap(observation), ...xml.paragraphs('imp/infAdFisco')];
}

function programmedDay(entrega: XmlNode): string {
  const day = date(entrega.text('comData/dProg'));
  const [from, to] = [date(entrega.text('noPeriodo/dIni')), date(entrega.text('noPeriodo/dFim'))];
  return joined([prepositionOf(entrega.text('comData/tpPer')), day, joined([from, to], ' a ')], ' ');
}

function programmedHour(entrega: XmlNode): string {
  const hours = joined([entrega.text('noInter/hIni'), entrega.text('noInter/hFim')], ' a ');
  return joined([prepositionOf(entrega.text('comHora/tpHor')), entrega.text('comHora/hProg'), hours], ' ');
}

/** tpPer and tpHor 1: at; 2: until; 3: from. */
function prepositionOf(code: string): string {
  return { '2': 'até', '3': 'a partir de' }[code] ?? '';
}

function paidBefore(xml: XmlNode): string {
  return (
    xml.text('ide/gPagAntecipado/chCTePagAnt') ||
    xml.text('ide/gPagAntecipado/chDFePagAnt') ||
    xml.text('gPagAntecipado/chCTePagAnt')
  );
}

function billing(cobr: XmlNode): string[] {
  const bill = cobr.at('fat');
  return [
    ...line('; ', [
      labelled('Fatura', bill.text('nFat')),
      labelled('valor', amount(bill.text('vOrig'))),
      labelled('desconto', amount(bill.text('vDesc'))),
      labelled('líquido', amount(bill.text('vLiq'))),
    ]),
    ...prefixed(
      'Duplicatas: ',
      line(
        '; ',
        cobr
          .all('dup')
          .map((dup) => joined([dup.text('nDup'), date(dup.text('dVenc')), amount(dup.text('vDup'))], ' ')),
      ),
    ),
  ];
}

function observation(group: XmlNode): string[] {
  const name = group.attribute('xCampo');
  return prefixed(name === '' ? '' : `${name}: `, group.paragraphs('xTexto'));
}

function prefixed(prefix: string, [first, ...others]: readonly string[]): string[] {
  return first === undefined ? [] : [`${prefix}${first}`, ...others];
}

function line(separator: string, texts: readonly string[]): string[] {
  const all = joined(texts, separator);
  return all === '' ? [] : [all];
}
