import { isUtf8 } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { type Element, MalformedXml, parseXml, withDescendants } from '../soap/element.js';

/** A request for the registration of an event, as far as its layout goes. */
export interface NfseEventRequest {
  /** The `pedRegEvento` element to the letter: what is signed is these characters. */
  readonly text: string;
  readonly id: string;
  readonly environmentCode: string;
  readonly author: string;
  readonly key: string;
  /** Milliseconds. */
  readonly occurredAt: number;
  /** Six digits. */
  readonly type: string;
  readonly reasonCode: string | null;
  readonly reason: string | null;
  readonly signed: boolean;
}

/** A statement, or the code that it is refused with. */
export type ReadRequest =
  | { readonly ok: true; readonly request: NfseEventRequest }
  | { readonly ok: false; readonly code: string; readonly detail: string };

const NFSE = 'http://www.sped.fazenda.gov.br/nfse';
const FIELD = 'pedidoRegistroEventoXmlGZipB64';
/** Children of infPedReg, in their order; the author is one of two, the event whatever stands last. */
const CHILDREN = /^tpAmb verAplic dhEvento (CNPJAutor|CPFAutor) chNFSe e([0-9]{6})$/;
const TIME = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[-+]\d\d:00$/;

const fault = (code: string, detail: string) => ({ ok: false, code, detail }) as const;

/** Reads the body of a POST: JSON, base64, gzip, XML, layout 1.01, in the order in which Sefin finds fault. */
export function readEventRequest(body: Buffer): ReadRequest {
  let packed: unknown;
  try {
    packed = (JSON.parse(body.toString('utf8')) as Record<string, unknown>)[FIELD];
  } catch {
    return fault('E1225', 'the body is no JSON');
  }
  if (typeof packed !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(packed))
    return fault('E1225', `${FIELD} is no base64`);
  let bytes: Buffer;
  try {
    bytes = gunzipSync(Buffer.from(packed, 'base64'));
  } catch {
    return fault('E1225', 'no gzip');
  }
  if (!isUtf8(bytes)) return fault('E1229', 'not UTF-8');
  const text = bytes.toString('utf8');
  try {
    return layout(text, parseXml(text).root);
  } catch (error) {
    if (error instanceof MalformedXml) return fault('E1226', error.message);
    throw error;
  }
}

function layout(text: string, root: Element): ReadRequest {
  for (const { prefix, attributes } of withDescendants(root)) {
    if (prefix !== '' || attributes.some(({ name }) => name.startsWith('xmlns:'))) return fault('E1228', 'prefixes');
  }
  if (root.local !== 'pedRegEvento' || root.namespace !== NFSE) return fault('E1235', 'the root is no pedRegEvento');
  if (attributeOf(root, 'versao') !== '1.01') return fault('E1825', `versao ${attributeOf(root, 'versao')}`);
  const [info, signature, ...others] = root.children;
  if (info?.local !== 'infPedReg' || others.length > 0) return fault('E1235', 'pedRegEvento holds something else');
  const match = CHILDREN.exec(info.children.map(({ local }) => local).join(' '));
  if (!match) return fault('E1235', 'infPedReg holds other elements');
  const textOf = (local: string) => info.children.find((child) => child.local === local)?.text ?? '';
  const event = info.children.at(-1);
  const detail = (local: string) => event?.children.find((child) => child.local === local)?.text ?? null;
  if (!TIME.test(textOf('dhEvento'))) return fault('E1235', 'dhEvento is not of its form');
  return {
    ok: true,
    request: {
      text: text.replace(/^<\?xml[^>]*\?>\s*/, ''),
      id: attributeOf(info, 'Id') ?? '',
      environmentCode: textOf('tpAmb'),
      author: textOf(match[1] ?? ''),
      key: textOf('chNFSe'),
      occurredAt: Date.parse(textOf('dhEvento')),
      type: match[2] ?? '',
      reasonCode: detail('cMotivo'),
      reason: detail('xMotivo'),
      signed: signature?.local === 'Signature',
    },
  };
}

function attributeOf(element: Element, name: string): string | null {
  return element.attributes.find((attribute) => attribute.name === name)?.value ?? null;
}
