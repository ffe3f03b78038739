import type { DocumentKind, DocumentMetadata } from '../model/document.js';
import { keyMetadata } from './access-key.js';
import { DOCUMENT, PARTY_PATHS, readParties } from './cte-parties.js';
import { RELATED_PATHS, readRelatedKeys } from './cte-related.js';
import { stateOfCteProtocol } from './cte-status.js';
import { digestWarnings } from './digest.js';
import { documentKey } from './document-key.js';
import { present, type RootReader, rootReader } from './reader.js';
import { ufByCode } from './uf.js';
import { environment } from './values.js';

const PROTOCOL = 'protCTe/infProt';

/** tpCTe. 5 and 6 are the simplified ones. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['0', 'normal'],
  ['1', 'complement'],
  ['2', 'annulment'],
  ['3', 'substitute'],
  ['4', 'gtve'],
  ['5', 'simplified'],
  ['6', 'simplified_substitute'],
]);

const MODALS: ReadonlyMap<string, string> = new Map([
  ['01', 'road'],
  ['02', 'air'],
  ['03', 'water'],
  ['04', 'rail'],
  ['05', 'pipeline'],
  ['06', 'multimodal'],
]);

/**
 * The whole document with its protocol, layouts 1.04 to 4.00. One reader for the four roots: they share every name below `infCte`, and a
 * root with another one's document inside is read all the same.
 */
function procReader(kind: DocumentKind, root: string): RootReader {
  return rootReader(
    kind,
    root,
    {
      ...PARTY_PATHS,
      ...RELATED_PATHS,
      procLayout: '@versao',
      id: `${DOCUMENT}@Id`,
      layout: `${DOCUMENT}@versao`,
      ufCode: `${DOCUMENT}/ide/cUF`,
      model: `${DOCUMENT}/ide/mod`,
      series: `${DOCUMENT}/ide/serie`,
      number: `${DOCUMENT}/ide/nCT`,
      issuedAt: `${DOCUMENT}/ide/dhEmi`,
      environment: `${DOCUMENT}/ide/tpAmb`,
      type: `${DOCUMENT}/ide/tpCTe`,
      modal: `${DOCUMENT}/ide/modal`,
      total: `${DOCUMENT}/vPrest/vTPrest`,
      /** CT-e Simplificado. */
      totalOfAll: `${DOCUMENT}/total/vTPrest`,
      documentTotal: `${DOCUMENT}/imp/vTotDFe`,
      documentTotalOfAll: `${DOCUMENT}/total/vTotDFe`,
      thirdPartyCnpj: `${DOCUMENT}/autXML/CNPJ`,
      thirdPartyCpf: `${DOCUMENT}/autXML/CPF`,
      signedDigest: '*/Signature/SignedInfo/Reference/DigestValue',
      protocolKey: `${PROTOCOL}/chCTe`,
      statusCode: `${PROTOCOL}/cStat`,
      protocol: `${PROTOCOL}/nProt`,
      authorizedAt: `${PROTOCOL}/dhRecbto`,
      digest: `${PROTOCOL}/digVal`,
    },
    (xml) => {
      const { key, agreed, warnings } = documentKey(xml.text('id')?.replace(/^[A-Za-z]+/, ''), xml.text('protocolKey'));
      const { parties, warnings: ofParties } = readParties(xml);
      const { related, warnings: ofKeys } = readRelatedKeys(xml);
      const statusCode = xml.text('statusCode');
      const digestValue = xml.text('digest');
      const documentTotal = xml.text('documentTotal') ?? xml.text('documentTotalOfAll');
      const thirdParties = xml.all('thirdPartyCnpj', 'thirdPartyCpf');
      const type = xml.text('type');
      const modal = xml.text('modal');
      const metadata: DocumentMetadata = {
        ...(key && keyMetadata(key)),
        ...present({
          uf: ufByCode(xml.text('ufCode') ?? ''),
          model: xml.text('model'),
          series: xml.text('series'),
          number: xml.text('number'),
          layout: xml.text('layout') ?? xml.text('procLayout'),
          issuedAt: xml.text('issuedAt'),
          type: TYPES.get(type ?? '') ?? type,
          modal: MODALS.get(modal ?? '') ?? modal,
          // Of the service; with the taxes of the Reform on top of it a document has a second total. A GTV-e has none.
          total: xml.text('total') ?? xml.text('totalOfAll') ?? documentTotal,
          documentTotal,
          environment: environment(xml.text('environment')),
          statusCode,
          protocol: xml.text('protocol'),
          authorizedAt: xml.text('authorizedAt'),
          digestValue,
          ...parties,
          authorizedThirdParties: thirdParties.length > 0 ? thirdParties : undefined,
        }),
        ...related,
      };
      return {
        key,
        metadata,
        event: null,
        implies: agreed ? stateOfCteProtocol(statusCode) : null,
        warnings: [...warnings, ...ofParties, ...ofKeys, ...digestWarnings(digestValue, xml.text('signedDigest'))],
      };
    },
  );
}

/** A CT-e with its protocol, layouts 2.00 to 4.00. */
export const procCTe = procReader('procCTe', 'cteProc');
/** A CT-e for other services (people, values, luggage), with its protocol. */
export const procCTeOS = procReader('procCTeOS', 'cteOSProc');
/** A CT-e Simplificado, one freight for many deliveries, with its protocol. */
export const procCTeSimp = procReader('procCTeSimp', 'cteSimpProc');
/** A GTV-e (transport of values), with its protocol. */
export const procGTVe = procReader('procGTVe', 'GTVeProc');
