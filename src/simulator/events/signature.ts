import { X509Certificate } from 'node:crypto';
import { SignedXml } from 'xml-crypto';
import { type ClientIdentity, identityOf } from '../server/client-identity.js';
import { type Element, parseXml } from '../soap/element.js';

/** What is found wrong with an event's signature, by the government's codes. */
export interface SignatureFault {
  readonly cStat: '290' | '291' | '297' | '298';
  readonly detail: string;
}

/** By the place of the algorithm: canonical form, signature, the two transforms, digest. */
type Algorithms = readonly (readonly string[])[];

const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';

/** What the manual of NF-e and CT-e prescribes. */
const PRESCRIBED: Algorithms = [[C14N], [`${DSIG}rsa-sha1`], [`${DSIG}enveloped-signature`], [C14N], [`${DSIG}sha1`]];

/** Inclusive and exclusive forms, SHA-1 and SHA-256: no manual of NFS-e prescribes one, and all of them are taken (nfse.md 2.6). */
const CANONICAL = [
  C14N,
  `${C14N}#WithComments`,
  ...['', 'WithComments'].map((end) => `http://www.w3.org/2001/10/xml-exc-c14n#${end}`),
];
/** Those that NF-e and CT-e take: inclusive C14N, RSA with SHA-1 or SHA-256. */
export const USUAL_ALGORITHMS: Algorithms = [
  CANONICAL,
  [`${DSIG}rsa-sha1`, 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'],
  [`${DSIG}enveloped-signature`],
  CANONICAL,
  [`${DSIG}sha1`, 'http://www.w3.org/2001/04/xmlenc#sha256'],
];

/** Judges certificates as the authority that issued them does. */
export interface SignatureJudge {
  /** PEM of the authorities that A1 certificates come from. */
  readonly issuers: readonly string[];
}

/**
 * Verifies the signature of one event, which stands alone: what is around it in the message is not in scope (case C58).
 *
 * @param event the `evento` element to the letter
 * @returns whose certificate signed it, or what is wrong
 */
export function verifySignature(
  event: string,
  { issuers }: SignatureJudge,
  at: number,
  taken: Algorithms = PRESCRIBED,
): { readonly ok: true; readonly signer: ClientIdentity } | { readonly ok: false; readonly fault: SignatureFault } {
  const wrong = (cStat: SignatureFault['cStat'], detail: string) => ({ ok: false, fault: { cStat, detail } }) as const;
  const { root } = parseXml(event);
  const [info, signature, ...others] = root.children;
  if (!info || !signature || others.length > 0) return wrong('298', 'evento must hold infEvento and Signature');
  const shape = faultOfShape(signature, attributeOf(info, 'Id'), taken);
  if (shape !== null) return wrong('298', shape);

  const written = find(signature, 'X509Certificate')?.text ?? '';
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(Buffer.from(written, 'base64'));
  } catch {
    return wrong('290', 'no certificate can be read');
  }
  if (!issuers.some((issuer) => certificate.checkIssued(new X509Certificate(issuer)))) {
    return wrong('290', 'the certificate is of another authority');
  }
  const signer = identityOf(certificate);
  if (at < signer.notBefore || at >= signer.notAfter) return wrong('291', 'the certificate is not valid now');
  return holds(event, certificate) ? { ok: true, signer } : wrong('297', 'digest or signature differ');
}

function holds(event: string, certificate: X509Certificate): boolean {
  const verifier = new SignedXml({ publicCert: certificate.toString() });
  const signature = /<Signature[\s>][\s\S]*<\/Signature>/.exec(event)?.[0];
  if (signature === undefined) return false;
  try {
    verifier.loadSignature(signature);
    return verifier.checkSignature(event);
  } catch {
    // The library throws for some of what does not verify.
    return false;
  }
}

/** The form that the manuals prescribe, to the last element. Null: it has it. */
function faultOfShape(signature: Element, id: string | null, taken: Algorithms): string | null {
  if (signature.local !== 'Signature' || signature.namespace !== DSIG) return 'Signature is missing';
  const expected: readonly [path: string, children: string][] = [
    ['', 'SignedInfo SignatureValue KeyInfo'],
    ['SignedInfo', 'CanonicalizationMethod SignatureMethod Reference'],
    ['SignedInfo Reference', 'Transforms DigestMethod DigestValue'],
    ['SignedInfo Reference Transforms', 'Transform Transform'],
    ['KeyInfo', 'X509Data'],
    ['KeyInfo X509Data', 'X509Certificate'],
  ];
  for (const [path, children] of expected) {
    const found = find(signature, path)
      ?.children.map(({ local }) => local)
      .join(' ');
    if (found !== children) return `${path || 'Signature'} holds ${found ?? 'nothing'} instead of ${children}`;
  }
  const transforms = find(signature, 'SignedInfo Reference Transforms')?.children ?? [];
  const algorithms = [
    find(signature, 'SignedInfo CanonicalizationMethod'),
    find(signature, 'SignedInfo SignatureMethod'),
    ...transforms,
    find(signature, 'SignedInfo Reference DigestMethod'),
  ].map((element) => element && attributeOf(element, 'Algorithm'));
  const other = algorithms.find((algorithm, i) => !taken[i]?.includes(algorithm ?? ''));
  if (other !== undefined) return `algorithm ${other}`;
  const reference = find(signature, 'SignedInfo Reference');
  return reference && attributeOf(reference, 'URI') === `#${id}` ? null : 'Reference names another Id';
}

/** By local names, blanks between levels; a single name is looked for at any depth. */
function find(from: Element, path: string): Element | null {
  if (path === '') return from;
  if (!path.includes(' ')) return from.children.find(({ local }) => local === path) ?? deeper(from, path);
  return path
    .split(' ')
    .reduce<Element | null>((at, name) => at?.children.find(({ local }) => local === name) ?? null, from);
}

function deeper(from: Element, name: string): Element | null {
  for (const child of from.children) {
    const found = find(child, name);
    if (found) return found;
  }
  return null;
}

function attributeOf(element: Element, name: string): string | null {
  return element.attributes.find((attribute) => attribute.name === name)?.value ?? null;
}
