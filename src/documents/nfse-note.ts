import type { DocumentMetadata, Party } from '../model/document.js';
import { nfseDocumentKey, nfseKeyMetadata } from './nfse-key.js';
import { dpsParty, dpsPartyPaths } from './nfse-parties.js';
import { stateOfNfse } from './nfse-status.js';
import { party } from './party.js';
import { present, type RootReader, rootReader } from './reader.js';
import { environment } from './values.js';
import { compileGroup, readGroup } from './xml/groups.js';
import type { FieldsWith } from './xml/paths.js';

/** tpEmit: who emitted the note. Then `emit` and the key carry that party, and never by themselves the provider. */
const EMITTERS: ReadonlyMap<string, string> = new Map([
  ['1', 'provider'],
  ['2', 'taker'],
  ['3', 'intermediary'],
]);

/** Groups of metadata: name, path below infDPS. Amounts, rates and codes as written. */
const SERVICE = {
  nationalCode: 'serv/cServ/cTribNac',
  municipalCode: 'serv/cServ/cTribMun',
  nbsCode: 'serv/cServ/cNBS',
  description: 'serv/cServ/xDescServ',
  municipality: 'serv/locPrest/cLocPrestacao',
  country: 'serv/locPrest/cPaisPrestacao',
} as const;
const AMOUNTS = {
  service: 'valores/vServPrest/vServ',
  received: 'valores/vServPrest/vReceb',
  unconditionalDiscount: 'valores/vDescCondIncond/vDescIncond',
  conditionalDiscount: 'valores/vDescCondIncond/vDescCond',
  deduction: 'valores/vDedRed/vDR',
} as const;
const FEDERAL_TAXES = {
  pis: 'valores/trib/tribFed/piscofins/vPis',
  cofins: 'valores/trib/tribFed/piscofins/vCofins',
  pisCofinsWithheld: 'valores/trib/tribFed/piscofins/tpRetPisCofins',
  socialSecurity: 'valores/trib/tribFed/vRetCP',
  incomeTax: 'valores/trib/tribFed/vRetIRRF',
  csll: 'valores/trib/tribFed/vRetCSLL',
} as const;
const ISS_OF_DPS = {
  taxation: 'valores/trib/tribMun/tribISSQN',
  withheldBy: 'valores/trib/tribMun/tpRetISSQN',
} as const;
const REFORM_OF_DPS = {
  purpose: 'IBSCBS/finNFSe',
  operation: 'IBSCBS/cIndOp',
  recipientIndicator: 'IBSCBS/indDest',
} as const;

/** The same below infNFSe: what the government computed. */
const ISS = {
  municipality: 'cLocIncid',
  base: 'valores/vBC',
  rate: 'valores/pAliqAplic',
  amount: 'valores/vISSQN',
} as const;
const TOTALS = { withheld: 'valores/vTotalRet', net: 'valores/vLiq' } as const;
const REFORM = {
  municipality: 'IBSCBS/cLocalidadeIncid',
  base: 'IBSCBS/valores/vBC',
  ibs: 'IBSCBS/totCIBS/gIBS/vIBSTot',
  ibsState: 'IBSCBS/totCIBS/gIBS/gIBSUFTot/vIBSUF',
  ibsMunicipal: 'IBSCBS/totCIBS/gIBS/gIBSMunTot/vIBSMun',
  cbs: 'IBSCBS/totCIBS/gCBS/vCBS',
  total: 'IBSCBS/totCIBS/vTotNF',
} as const;

/** What a DPS says, be it by itself or inside its note. */
const dpsPaths = (dps: string) => ({
  ...dpsPartyPaths(dps),
  ...compileGroup('service', dps, SERVICE),
  ...compileGroup('amounts', dps, AMOUNTS),
  ...compileGroup('federalTaxes', dps, FEDERAL_TAXES),
  ...compileGroup('issOfDps', dps, ISS_OF_DPS),
  ...compileGroup('reformOfDps', dps, REFORM_OF_DPS),
  environment: `${dps}/tpAmb`,
  issuedAt: `${dps}/dhEmi`,
  series: `${dps}/serie`,
  dpsNumber: `${dps}/nDPS`,
  competence: `${dps}/dCompet`,
  emittedBy: `${dps}/tpEmit`,
  replacesKey: `${dps}/subst/chSubstda`,
  rejectedKey: `${dps}/chNFSeRej`,
});
type DpsPath = keyof ReturnType<typeof dpsPaths>;

function readDps(xml: FieldsWith<DpsPath>): DocumentMetadata {
  const emittedBy = xml.text('emittedBy');
  return present({
    environment: environment(xml.text('environment')),
    issuedAt: xml.text('issuedAt'),
    series: xml.text('series'),
    dpsNumber: xml.text('dpsNumber'),
    // A calendar date, which has no zone and must not get one: 1 September is never 31 August (case C75).
    competence: xml.text('competence'),
    emittedBy: EMITTERS.get(emittedBy ?? '') ?? emittedBy,
    issuer: dpsParty(xml, 'provider'),
    recipient: dpsParty(xml, 'taker'),
    intermediary: dpsParty(xml, 'intermediary'),
    otherRecipient: dpsParty(xml, 'otherRecipient'),
    service: readGroup(xml, 'service', SERVICE),
    amounts: readGroup(xml, 'amounts', AMOUNTS),
    federalTaxes: readGroup(xml, 'federalTaxes', FEDERAL_TAXES),
    total: xml.text('amounts.service'),
    replacesKey: xml.text('replacesKey'),
    rejectedKey: xml.text('rejectedKey'),
  });
}

/** A DPS is what a provider declared; it has no key, and is no note. */
export const dps: RootReader = rootReader('DPS', 'DPS', { layout: '@versao', ...dpsPaths('infDPS') }, (xml) => ({
  key: null,
  metadata: {
    ...readDps(xml),
    ...present({
      layout: xml.text('layout'),
      iss: readGroup(xml, 'issOfDps', ISS_OF_DPS),
      ibsCbs: readGroup(xml, 'reformOfDps', REFORM_OF_DPS),
    }),
  },
  event: null,
  implies: null,
  warnings: [],
}));

const NOTE = 'infNFSe';

/** The note, layouts 1.00 and 1.01. */
export const nfseNote: RootReader = rootReader(
  'NFSe',
  'NFSe',
  {
    ...dpsPaths(`${NOTE}/DPS/infDPS`),
    ...compileGroup('iss', NOTE, ISS),
    ...compileGroup('totals', NOTE, TOTALS),
    ...compileGroup('ibsCbs', NOTE, REFORM),
    layout: '@versao',
    id: `${NOTE}@Id`,
    number: `${NOTE}/nNFSe`,
    generatedBy: `${NOTE}/ambGer`,
    statusCode: `${NOTE}/cStat`,
    authorizedAt: `${NOTE}/dhProc`,
    'emitter.cnpj': `${NOTE}/emit/CNPJ`,
    'emitter.cpf': `${NOTE}/emit/CPF`,
    'emitter.im': `${NOTE}/emit/IM`,
    'emitter.name': `${NOTE}/emit/xNome`,
    'emitter.uf': `${NOTE}/emit/enderNac/UF`,
  },
  (xml) => {
    const { key, agreed, warnings } = nfseDocumentKey(xml.text('id')?.replace(/^NFS/, ''));
    const statusCode = xml.text('statusCode');
    const declared = readDps(xml);
    const emitter = party({
      taxId: xml.text('emitter.cnpj') ?? xml.text('emitter.cpf'),
      name: xml.text('emitter.name'),
      uf: xml.text('emitter.uf'),
      municipalRegistration: xml.text('emitter.im'),
    });
    const metadata: DocumentMetadata = {
      ...(key && nfseKeyMetadata(key)),
      ...declared,
      ...present({
        layout: xml.text('layout'),
        number: xml.text('number'),
        statusCode,
        authorizedAt: xml.text('authorizedAt'),
        generatedBy: xml.text('generatedBy'),
        issuer: provider(declared, emitter),
        emitter,
        totals: readGroup(xml, 'totals', TOTALS),
        iss: readGroup(xml, 'iss', ISS, readGroup(xml, 'issOfDps', ISS_OF_DPS)),
        ibsCbs: readGroup(xml, 'ibsCbs', REFORM, readGroup(xml, 'reformOfDps', REFORM_OF_DPS)),
      }),
    };
    return { key, metadata, event: null, implies: agreed ? stateOfNfse(statusCode) : null, warnings };
  },
);

/** The DPS leaves out what `emit` says of a provider that is the emitter: its name. A note without `prest` names none unless it does so. */
function provider({ issuer, emittedBy }: DocumentMetadata, emitter: Party | undefined): Party | undefined {
  const isEmitter = issuer?.taxId === undefined ? emittedBy === 'provider' : issuer.taxId === emitter?.taxId;
  return isEmitter && !issuer?.foreign ? { ...emitter, ...issuer } : issuer;
}
