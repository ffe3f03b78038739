import type { DocumentMetadata } from '../model/document.js';
import { keyMetadata } from './access-key.js';
import { digestWarnings } from './digest.js';
import { documentKey } from './document-key.js';
import { stateOfProtocol, stateOfSummary } from './nfe-status.js';
import { party } from './party.js';
import { present, rootReader } from './reader.js';
import { ufByCode } from './uf.js';
import { environment, operationType } from './values.js';

const NOTE = 'NFe/infNFe';
const PROTOCOL = 'protNFe/infProt';

/** The whole NF-e or NFC-e with its protocol, layouts 2.00 to 4.00. */
export const procNFe = rootReader(
  'procNFe',
  'nfeProc',
  {
    procLayout: '@versao',
    id: `${NOTE}@Id`,
    layout: `${NOTE}@versao`,
    ufCode: `${NOTE}/ide/cUF`,
    model: `${NOTE}/ide/mod`,
    series: `${NOTE}/ide/serie`,
    number: `${NOTE}/ide/nNF`,
    issuedAt: `${NOTE}/ide/dhEmi`,
    issuedOn: `${NOTE}/ide/dEmi`,
    operationType: `${NOTE}/ide/tpNF`,
    environment: `${NOTE}/ide/tpAmb`,
    issuerCnpj: `${NOTE}/emit/CNPJ`,
    issuerCpf: `${NOTE}/emit/CPF`,
    issuerName: `${NOTE}/emit/xNome`,
    issuerUf: `${NOTE}/emit/enderEmit/UF`,
    issuerIe: `${NOTE}/emit/IE`,
    recipientCnpj: `${NOTE}/dest/CNPJ`,
    recipientCpf: `${NOTE}/dest/CPF`,
    recipientForeignId: `${NOTE}/dest/idEstrangeiro`,
    recipientName: `${NOTE}/dest/xNome`,
    recipientUf: `${NOTE}/dest/enderDest/UF`,
    recipientIe: `${NOTE}/dest/IE`,
    carrierCnpj: `${NOTE}/transp/transporta/CNPJ`,
    carrierCpf: `${NOTE}/transp/transporta/CPF`,
    carrierName: `${NOTE}/transp/transporta/xNome`,
    carrierUf: `${NOTE}/transp/transporta/UF`,
    carrierIe: `${NOTE}/transp/transporta/IE`,
    thirdPartyCnpj: `${NOTE}/autXML/CNPJ`,
    thirdPartyCpf: `${NOTE}/autXML/CPF`,
    total: `${NOTE}/total/ICMSTot/vNF`,
    signedDigest: 'NFe/Signature/SignedInfo/Reference/DigestValue',
    protocolKey: `${PROTOCOL}/chNFe`,
    statusCode: `${PROTOCOL}/cStat`,
    protocol: `${PROTOCOL}/nProt`,
    authorizedAt: `${PROTOCOL}/dhRecbto`,
    digest: `${PROTOCOL}/digVal`,
  },
  (xml) => {
    const { key, agreed, warnings } = documentKey(xml.text('id')?.replace(/^NFe/, ''), xml.text('protocolKey'));
    const statusCode = xml.text('statusCode');
    const digestValue = xml.text('digest');
    const thirdParties = xml.all('thirdPartyCnpj', 'thirdPartyCpf');
    // Before layout 3.10 a foreign recipient had an empty CNPJ and UF EX; since then idEstrangeiro, which may be empty (case C37).
    const recipientTaxId = xml.text('recipientCnpj') ?? xml.text('recipientCpf');
    const foreign = xml.has('recipientForeignId') || (recipientTaxId === undefined && xml.text('recipientUf') === 'EX');
    const metadata: DocumentMetadata = {
      ...(key && keyMetadata(key)),
      ...present({
        uf: ufByCode(xml.text('ufCode') ?? ''),
        model: xml.text('model'),
        series: xml.text('series'),
        number: xml.text('number'),
        layout: xml.text('layout') ?? xml.text('procLayout'),
        // Up to layout 2.00 the issue was a calendar date, not an instant (case C39).
        issuedAt: xml.text('issuedAt') ?? xml.text('issuedOn'),
        total: xml.text('total'),
        operationType: operationType(xml.text('operationType')),
        environment: environment(xml.text('environment')),
        statusCode,
        protocol: xml.text('protocol'),
        authorizedAt: xml.text('authorizedAt'),
        digestValue,
        // From `emit`, never from the key, which in some series carries a tax office's own number (contract section 5).
        issuer: party({
          taxId: xml.text('issuerCnpj') ?? xml.text('issuerCpf'),
          name: xml.text('issuerName'),
          uf: xml.text('issuerUf'),
          stateRegistration: xml.text('issuerIe'),
        }),
        recipient: party({
          taxId: recipientTaxId,
          name: xml.text('recipientName'),
          uf: xml.text('recipientUf'),
          stateRegistration: xml.text('recipientIe'),
          foreign: foreign || undefined,
        }),
        carrier: party({
          taxId: xml.text('carrierCnpj') ?? xml.text('carrierCpf'),
          name: xml.text('carrierName'),
          uf: xml.text('carrierUf'),
          stateRegistration: xml.text('carrierIe'),
        }),
        authorizedThirdParties: thirdParties.length > 0 ? thirdParties : undefined,
      }),
    };
    return {
      key,
      metadata,
      event: null,
      implies: agreed ? stateOfProtocol(statusCode) : null,
      warnings: [...warnings, ...digestWarnings(digestValue, xml.text('signedDigest'))],
    };
  },
);

/** What the recipient gets before it manifests. */
export const resNFe = rootReader(
  'resNFe',
  'resNFe',
  {
    layout: '@versao',
    key: 'chNFe',
    cnpj: 'CNPJ',
    cpf: 'CPF',
    name: 'xNome',
    ie: 'IE',
    issuedAt: 'dhEmi',
    operationType: 'tpNF',
    total: 'vNF',
    digest: 'digVal',
    authorizedAt: 'dhRecbto',
    protocol: 'nProt',
    statusCode: 'cSitNFe',
  },
  (xml) => {
    const { key, warnings } = documentKey(xml.text('key'));
    const statusCode = xml.text('statusCode');
    return {
      key,
      metadata: {
        ...(key && keyMetadata(key)),
        ...present({
          layout: xml.text('layout'),
          issuedAt: xml.text('issuedAt'),
          total: xml.text('total'),
          operationType: operationType(xml.text('operationType')),
          statusCode,
          protocol: xml.text('protocol'),
          authorizedAt: xml.text('authorizedAt'),
          digestValue: xml.text('digest'),
          issuer: party({
            taxId: xml.text('cnpj') ?? xml.text('cpf'),
            name: xml.text('name'),
            stateRegistration: xml.text('ie'),
          }),
        }),
      },
      event: null,
      implies: stateOfSummary(statusCode),
      warnings,
    };
  },
);
