import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Certificates for tests, made by the openssl program in a folder of their own that goes with the process. Made-up holders; the
 * numbers have valid check digits.
 */
const folder = mkdtempSync(join(tmpdir(), 'malote-test-certificates-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

export function openssl(...args: string[]): Buffer {
  return execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
}

export function fileOf(name: string): Buffer {
  return readFileSync(join(folder, name));
}

export function textOf(name: string): string {
  return fileOf(name).toString();
}

export function writeTestFile(name: string, content: string | Uint8Array): void {
  writeFileSync(join(folder, name), content);
}

export interface Pair {
  /** Base name of NAME.key (PKCS#8 PEM) and NAME.crt in the folder. */
  readonly name: string;
  readonly keyPem: string;
  readonly certificatePem: string;
}

export interface LeafOptions {
  readonly subject?: string;
  /** `rsa:2048`, `rsa:4096`, `ec` (P-256). */
  readonly key?: string;
  /** Lines of an openssl extension section; `subjectAltName=@names` may refer to `names`. */
  readonly extensions?: readonly string[];
  readonly names?: readonly string[];
  /** openssl's form YYYYMMDDHHMMSSZ. */
  readonly notBefore?: string;
  readonly notAfter?: string;
  /** Reuses the key of another pair. */
  readonly keyOf?: Pair;
}

function newKey(name: string, kind: string): void {
  const algorithm =
    kind === 'ec'
      ? ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']
      : ['-algorithm', 'RSA', '-pkeyopt', `rsa_keygen_bits:${kind.split(':')[1]}`];
  openssl('genpkey', ...algorithm, '-out', `${name}.key`);
}

/** A self-signed authority. */
export function makeRoot(name: string, subject = `/C=BR/O=ICP-Teste/CN=AC Raiz ${name}`): Pair {
  newKey(name, 'rsa:2048');
  openssl(...`req -x509 -key ${name}.key -out ${name}.crt -days 3650 -subj`.split(' '), subject);
  return { name, keyPem: textOf(`${name}.key`), certificatePem: textOf(`${name}.crt`) };
}

/** A certificate issued by `issuer`. Serial numbers are random. */
export function issue(name: string, issuer: Pair, options: LeafOptions = {}): Pair {
  if (options.keyOf) writeTestFile(`${name}.key`, options.keyOf.keyPem);
  else newKey(name, options.key ?? 'rsa:2048');
  openssl(
    'req',
    '-new',
    '-key',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    options.subject ?? `/CN=${name}`,
    '-utf8',
  );
  const names = options.names?.map((line, index) => `otherName.${index} = ${line}`) ?? [];
  writeTestFile(
    `${name}.cnf`,
    [
      '[ca]',
      'default_ca = authority',
      '[authority]',
      'new_certs_dir = .',
      `database = ${name}.db`,
      'rand_serial = yes',
      'default_md = sha256',
      'policy = anything',
      'unique_subject = no',
      'email_in_dn = no',
      '[anything]',
      ...['countryName', 'organizationName', 'organizationalUnitName', 'commonName'].map(
        (field) => `${field} = optional`,
      ),
      '[extensions]',
      ...(options.extensions ?? ['basicConstraints=CA:FALSE', 'extendedKeyUsage=clientAuth']),
      ...(names.length > 0 ? ['subjectAltName=@names', '[names]', ...names] : []),
    ].join('\n'),
  );
  writeTestFile(`${name}.db`, '');
  const dates = [
    '-startdate',
    options.notBefore ?? '20200101000000Z',
    '-enddate',
    options.notAfter ?? '20491231235959Z',
  ];
  openssl(
    ...`ca -batch -notext -config ${name}.cnf -extensions extensions -in ${name}.csr -out ${name}.crt`.split(' '),
    ...`-cert ${issuer.name}.crt -keyfile ${issuer.name}.key`.split(' '),
    ...dates,
  );
  return { name, keyPem: textOf(`${name}.key`), certificatePem: textOf(`${name}.crt`) };
}

export const AUTHORITY = ['basicConstraints=critical,CA:TRUE', 'keyUsage=keyCertSign,cRLSign'];

/** A PFX by `openssl pkcs12 -export`; `args` choose its kind. */
export function exportPfx(pair: Pair, password: string, ...args: string[]): Buffer {
  openssl(
    'pkcs12',
    '-export',
    '-inkey',
    `${pair.name}.key`,
    '-in',
    `${pair.name}.crt`,
    '-out',
    'out.pfx',
    '-passout',
    `pass:${password}`,
    ...args,
  );
  return fileOf('out.pfx');
}

/** Where the files are, for programs that are started on them. */
export function folderOf(): string {
  return folder;
}
