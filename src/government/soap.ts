import { findElement, type XmlElement } from './xml-elements.js';
import { xmlSource } from './xml-source.js';

/** Content type of a SOAP 1.2 request, which names the action (nfe-cte.md 1a). */
export function soapContentType(action: string): string {
  return `application/soap+xml; charset=utf-8; action="${action}"`;
}

/** A SOAP 1.2 message around `body`, without header, in UTF-8 without byte order mark. The bytes of `body` stay as they are: it may be signed. */
export function soapEnvelope(body: string): Uint8Array {
  return Buffer.from(
    '<?xml version="1.0" encoding="utf-8"?>' +
      '<soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope">' +
      `<soap12:Body>${body}</soap12:Body></soap12:Envelope>`,
  );
}

/** What stands in a SOAP body, or why nothing does. */
export type SoapAnswer =
  | { readonly ok: true; readonly element: XmlElement; readonly warnings: readonly string[] }
  | {
      readonly ok: false;
      /** In our own words: says what came instead. */
      readonly reason: string;
      /** What the sender said, if anything; else the reason. */
      readonly text: string;
    };

/**
 * Finds the element that a service answers with, by its local name: whatever the envelope, its header, prefixes and namespaces; also when it was
 * sent as text (CDATA or escaped). Never throws.
 */
export function readSoapAnswer(bytes: Uint8Array, contentType: string | null, name: string): SoapAnswer {
  if (bytes.length === 0) return unreadable('empty answer');
  const source = xmlSource(bytes, contentType);
  if (!source) return unreadable('answer in UTF-16');
  const outer = findElement(source, name);
  const search = outer.found || !outer.wrapping ? outer : findElement(outer.wrapping.inner(), name);
  if (search.found) {
    return {
      ok: true,
      element: search.found,
      warnings: search.fault ? [`answer not well-formed: ${search.fault}`] : [],
    };
  }
  const soapFault = findElement(source, 'Fault').found;
  if (soapFault) {
    const [said] = ['Text', 'faultstring'].flatMap((field) => soapFault.descendants(field));
    return unreadable('SOAP fault', said?.text);
  }
  if (/<html|<!doctype html/i.test(source.text.slice(0, 4000))) {
    return unreadable('HTML page', /<title>\s*([^<]{1,200})/i.exec(source.text)?.[1]);
  }
  return unreadable(search.fault ? `not well-formed: ${search.fault}` : `no ${name} in the answer`);
}

function unreadable(reason: string, said?: string): SoapAnswer {
  return { ok: false, reason, text: said ? `${reason}: ${said}` : reason };
}
