import { type Element, MalformedXml, onlyChild, parseXml } from './element.js';

export type SoapVersion = '1.1' | '1.2';

const NAMESPACES: Record<SoapVersion, string> = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
};

/** One operation of a service: how its messages are wrapped. Every SOAP service of the simulator is read by the same reader. */
export interface SoapOperation {
  /** Namespace of the WSDL. */
  readonly namespace: string;
  readonly action: string;
  /** Path of local names from soap:Body to the element around the data. */
  readonly path: readonly string[];
}

/** A SOAP request, or why it is none. */
export type SoapRequest =
  /** `data`: the elements inside the data element. */
  | {
      readonly ok: true;
      readonly version: SoapVersion;
      readonly data: readonly Element[];
      /** Null: UTF-8 without BOM, as it must be. Else what was wrong with it. */
      readonly encodingFault: string | null;
    }
  /** `httpStatus` 415: not SOAP at all. */
  | { readonly ok: false; readonly httpStatus: 415 | 500; readonly version: SoapVersion; readonly reason: string };

/** Reads a SOAP 1.1 or 1.2 request, as strictly as IIS and .NET do. */
export function readSoapRequest(
  operation: SoapOperation,
  headers: { readonly contentType: string; readonly soapAction: string | null },
  body: Buffer,
): SoapRequest {
  const mediaType = headers.contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType !== 'application/soap+xml' && mediaType !== 'text/xml') {
    const reason = `Content-Type ${mediaType || '(none)'} is not a SOAP media type`;
    return { ok: false, httpStatus: 415, version: '1.2', reason };
  }
  const version: SoapVersion = mediaType === 'text/xml' ? '1.1' : '1.2';
  const fault = (reason: string): SoapRequest => ({ ok: false, httpStatus: 500, version, reason });

  const action =
    version === '1.1' ? headers.soapAction : (/;\s*action="?([^";]+)"?/i.exec(headers.contentType)?.[1] ?? null);
  if (version === '1.1' && action === null) return fault('SOAPAction header missing');
  if (action !== null && action.replaceAll('"', '') !== operation.action) return fault(`Unknown action ${action}`);

  const { text, encodingFault } = decode(body);
  let parsed: ReturnType<typeof parseXml>;
  try {
    parsed = parseXml(text);
  } catch (error) {
    if (error instanceof MalformedXml) return fault(`Not well-formed: ${error.message}`);
    throw error;
  }
  const envelope = parsed.root;
  if (envelope.local !== 'Envelope') return fault('The root element is not a SOAP envelope');
  if (envelope.namespace !== NAMESPACES[version]) return fault(`The envelope is not of SOAP ${version}`);

  let at: Element | null = onlyChild(envelope, 'Body');
  for (const local of operation.path) {
    at = at === null ? null : onlyChild(at, local);
    if (at !== null && at.namespace !== operation.namespace) at = null;
  }
  if (at === null) return fault(`Body does not hold ${operation.path.join(' > ')} of ${operation.namespace}`);
  const declared = parsed.declaredEncoding;
  const declaredFault = declared !== null && declared.toLowerCase() !== 'utf-8' ? `declares ${declared}` : null;
  return { ok: true, version, data: at.children, encodingFault: encodingFault ?? declaredFault };
}

/** A SOAP envelope around an answer. `header`: content of a soap:Header, which some real answers have. */
export function soapEnvelope(
  version: SoapVersion,
  content: string,
  options: { prefix?: string; header?: string } = {},
): string {
  const prefix = options.prefix ?? 'soap';
  const header = options.header === undefined ? '' : `<${prefix}:Header>${options.header}</${prefix}:Header>`;
  return (
    `<?xml version="1.0" encoding="utf-8"?><${prefix}:Envelope xmlns:${prefix}="${NAMESPACES[version]}"` +
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">' +
    `${header}<${prefix}:Body>${content}</${prefix}:Body></${prefix}:Envelope>`
  );
}

/** A SOAP fault. `blame`: whose fault it is. */
export function soapFault(version: SoapVersion, blame: 'sender' | 'receiver', reason: string): string {
  const text = reason.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  if (version === '1.1') {
    const code = blame === 'sender' ? 'Client' : 'Server';
    return soapEnvelope(
      version,
      `<soap:Fault><faultcode>soap:${code}</faultcode><faultstring>${text}</faultstring></soap:Fault>`,
    );
  }
  const code = blame === 'sender' ? 'Sender' : 'Receiver';
  return soapEnvelope(
    version,
    `<soap:Fault><soap:Code><soap:Value>soap:${code}</soap:Value></soap:Code>` +
      `<soap:Reason><soap:Text xml:lang="pt-BR">${text}</soap:Text></soap:Reason></soap:Fault>`,
  );
}

/** The Content-Type that this version of SOAP has. */
export function soapContentType(version: SoapVersion, charset = 'utf-8'): string {
  return `${version === '1.1' ? 'text/xml' : 'application/soap+xml'}; charset=${charset}`;
}

function decode(body: Buffer): { text: string; encodingFault: string | null } {
  if (body.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]))) {
    return { text: body.subarray(3).toString('utf8'), encodingFault: 'begins with a byte order mark' };
  }
  const text = body.toString('utf8');
  return text.includes('\ufffd')
    ? { text: body.toString('latin1'), encodingFault: 'is not UTF-8' }
    : { text, encodingFault: null };
}
