import { amount, date, inGroups, joined, quantity } from '../kit/formats.js';
import type { XmlNode } from '../kit/xml-node.js';
import { meaning, OTHER_DOCUMENTS } from './codes.js';

/** The documents of the goods: NF-e, NF on paper, others. Each is a few lines. */
export function origins(group: XmlNode): string[][] {
  return [
    ...group.all('infNFe').map((nfe) => [keyLine('NF-e', nfe.text('chave')), ...about(nfe)]),
    ...group
      .all('infNF')
      .map((nf) => [
        joined(
          ['NF', named('mod.', nf.text('mod')), named('série', nf.text('serie')), named('nº', nf.text('nDoc'))],
          ' ',
        ),
        ...details([
          date(nf.text('dEmi')),
          named('valor', amount(nf.text('vNF'))),
          named('CFOP', nf.text('nCFOP')),
          named('peso', quantity(nf.text('nPeso'))),
        ]),
        ...details([named('romaneio', nf.text('nRoma')), named('pedido', nf.text('nPed'))]),
        ...about(nf),
      ]),
    ...group
      .all('infOutros')
      .map((other) => [
        joined([meaning(other.text('tpDoc'), OTHER_DOCUMENTS), other.text('descOutros'), other.text('nDoc')], ' '),
        ...details([date(other.text('dEmi')), named('valor', amount(other.text('vDocFisc')))]),
        ...about(other),
      ]),
    ...group.all('infDCe').map((dce) => [keyLine('DC-e', dce.text('chave'))]),
  ];
}

/** What may stand with a document of any kind: SUFRAMA's number, the day of delivery, the units that it travels in with their seals. */
export function about(document: XmlNode): string[] {
  return [
    ...details([named('PIN SUFRAMA', document.text('PIN')), named('previsão', date(document.text('dPrev')))]),
    ...document
      .all('infUnidTransp')
      .flatMap((unit) => [
        ...details([
          unit.text('idUnidTransp'),
          seals(unit.all('lacUnidTransp')),
          named('rateio', quantity(unit.text('qtdRat'))),
        ]),
        ...unit.all('infUnidCarga').flatMap(cargoUnit),
      ]),
    ...document.all('infUnidCarga').flatMap(cargoUnit),
  ];
}

function cargoUnit(unit: XmlNode): string[] {
  return details([
    unit.text('idUnidCarga'),
    seals(unit.all('lacUnidCarga')),
    named('rateio', quantity(unit.text('qtdRat'))),
  ]);
}

function seals(groups: readonly XmlNode[]): string {
  return named(
    'lacres',
    joined(
      groups.map((group) => group.text('nLacre')),
      ', ',
    ),
  );
}

/** An access key in groups behind the kind of document that it is of. */
export function keyLine(kind: string, key: string): string {
  return joined([kind, inGroups(key)], ' ');
}

/** One line of what is there; none when nothing is. */
export function details(texts: readonly string[]): string[] {
  const line = joined(texts, ', ');
  return line === '' ? [] : [line];
}

/** `label value`, or nothing without a value. */
export function named(label: string, value: string): string {
  return value === '' ? '' : `${label} ${value}`;
}
