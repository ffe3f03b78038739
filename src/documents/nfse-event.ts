import type { DocumentKind } from '../model/document.js';
import { eventInfo, sequenceNumber } from './event-reading.js';
import { nfseDocumentKey, nfseKeyMetadata } from './nfse-key.js';
import { NFSE_EVENTS, stateOfNfseEvent } from './nfse-status.js';
import { present, type RootReader, rootReader } from './reader.js';
import { environment } from './values.js';
import type { FieldsWith } from './xml/paths.js';

/**
 * `Id` of an event (EVT) or of the request for it (PRE): key, type and, where the layout has one, sequence. Requests lost theirs with
 * layout 1.01; events of both layouts, and mixtures of them, are in circulation (contract section 2.4).
 */
const ID = /^(?:EVT|PRE)([0-9A-Z]{50})([0-9]{6})([0-9]{3})?$/;

/** The element of the event is named after its type; the old layout wraps a rejection or its annulment once more. */
const DETAILS = {
  description: ['xDesc'],
  reasonCode: ['cMotivo', 'infRej/cMotivo', 'infAnRej/cMotivo'],
  reason: ['xMotivo', 'infRej/xMotivo', 'infAnRej/xMotivo'],
  replacedByKey: ['chSubstituta'],
  blockedEventType: ['codEvento'],
  annulledEventId: ['idEvManifRej', 'infAnRej/idEvManifRej'],
  liftedBlockId: ['idBloqOfic'],
} as const;
type Detail = keyof typeof DETAILS;
const DETAIL_NAMES = Object.keys(DETAILS) as Detail[];

/** Known types by their elements; an unknown type's element is whatever else stands there. */
const ELEMENTS = [...[...NFSE_EVENTS.keys()].map((type) => `e${type}`), '*'];

function detailPaths(request: string): Record<string, string> {
  return Object.fromEntries(
    ELEMENTS.flatMap((element) => [
      ...(element === '*' ? [] : [[`element/${element}`, `${request}/${element}`]]),
      ...DETAIL_NAMES.flatMap((detail) =>
        DETAILS[detail].map((path) => [`${detail}/${element}/${path}`, `${request}/${element}/${path}`]),
      ),
    ]),
  );
}

function readDetails(xml: FieldsWith<string>): Partial<Record<Detail, string>> {
  const textOf = (detail: Detail) =>
    ELEMENTS.flatMap((element) => DETAILS[detail].map((path) => xml.text(`${detail}/${element}/${path}`))).find(
      (text) => text !== undefined,
    );
  return present(Object.fromEntries(DETAIL_NAMES.map((detail) => [detail, textOf(detail)])));
}

/**
 * @param registered path of what the government wrote around the request; null: the request stands alone, and changes nothing
 */
function eventReader(kind: DocumentKind, root: string, registered: string | null): RootReader {
  const request = registered === null ? 'infPedReg' : `${registered}/pedRegEvento/infPedReg`;
  const around = registered ?? 'infPedReg';
  return rootReader<string>(
    kind,
    root,
    {
      ...detailPaths(request),
      layout: '@versao',
      id: `${around}@Id`,
      requestId: `${request}@Id`,
      key: `${request}/chNFSe`,
      environment: `${request}/tpAmb`,
      occurredAt: `${request}/dhEvento`,
      authorCnpj: `${request}/CNPJAutor`,
      authorCpf: `${request}/CPFAutor`,
      requestSequence: `${request}/nPedRegEvento`,
      sequence: `${around}/nSeqEvento`,
      registeredAt: `${around}/dhProc`,
      generatedBy: `${around}/ambGer`,
    },
    (xml) => {
      const id = ID.exec(xml.text('id') ?? '');
      const requestId = ID.exec(xml.text('requestId') ?? '');
      const { key, agreed, warnings } = nfseDocumentKey(xml.text('key'), id?.[1], requestId?.[1]);
      const element = ELEMENTS.find((name) => name !== '*' && xml.has(`element/${name}`))?.slice(1);
      const types = new Set([element, id?.[2], requestId?.[2]].filter((type) => type !== undefined));
      const [type] = types;
      const { description, ...details } = readDetails(xml);
      const event = eventInfo(type, {
        description,
        sequence: sequenceNumber(xml.text('sequence') ?? id?.[3] ?? requestId?.[3] ?? xml.text('requestSequence')),
        occurredAt: xml.text('occurredAt'),
        registeredAt: xml.text('registeredAt'),
        author: xml.text('authorCnpj') ?? xml.text('authorCpf'),
      });
      const certain = registered !== null && agreed && types.size === 1 && type !== undefined;
      return {
        key,
        metadata: {
          ...(key && nfseKeyMetadata(key)),
          ...present({
            layout: xml.text('layout'),
            environment: environment(xml.text('environment')),
            generatedBy: xml.text('generatedBy'),
          }),
          ...details,
        },
        event,
        implies: certain ? stateOfNfseEvent(type) : null,
        warnings: [
          ...warnings,
          ...(types.size > 1 ? [`event_type_differs: ${[...types].join(' and ')}`] : []),
          ...(type === undefined ? ['event_type_missing: the event says not what it is'] : []),
        ],
      };
    },
  );
}

/** A registered event about an NFS-e. */
export const evento = eventReader('evento', 'evento', 'infEvento');
/** What somebody asked for; whether it was registered is not known (contract section 6, symptom 28). */
export const pedRegEvento = eventReader('pedRegEvento', 'pedRegEvento', null);
