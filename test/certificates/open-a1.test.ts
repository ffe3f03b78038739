import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import forge from 'node-forge';
import { openA1 } from '../../src/certificates/open-a1.js';
import { CertificateProblem, type CertificateProblemCode } from '../../src/certificates/problem.js';
import {
  AUTHORITY,
  exportPfx,
  fileOf,
  issue,
  makeRoot,
  openssl,
  type Pair,
  textOf,
  writeTestFile,
} from './make-certificates.js';

const CNPJ = '98765432000198';
const CPF = '52998224725';
const PASSWORD = 'amostra123';
/** Birth date, CPF, NIS, RG, issuer of the RG. */
const PERSON = `01011980${CPF}00000000000000000000000SSPSP`;

let root: Pair;
let intermediate: Pair;
let company: Pair;

before(() => {
  root = makeRoot('root');
  intermediate = issue('intermediate', root, {
    subject: '/C=BR/O=ICP-Teste/CN=AC Intermediaria',
    extensions: AUTHORITY,
  });
  company = issue('company', intermediate, {
    subject: `/C=BR/O=ICP-Teste/CN=COMPRADOR FICTICIO SA:${CNPJ}`,
    names: [`2.16.76.1.3.3;UTF8:${CNPJ}`, '2.16.76.1.3.2;UTF8:JOSE DA AMOSTRA', `2.16.76.1.3.4;UTF8:${PERSON}`],
    notBefore: '20260101030000Z',
    notAfter: '20270101025959Z',
  });
});

function problemOf(action: () => unknown): CertificateProblem {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof CertificateProblem, inspect(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'expected a CertificateProblem' });
}

function refused(code: CertificateProblemCode, action: () => unknown): void {
  const problem = problemOf(action);
  assert.equal(problem.code, code, problem.message);
}

/** Kinds of files that the openssl program does not make. */
function forgePfx(
  keyPem: string,
  certificates: string[],
  password: string | null,
  algorithm: '3des' | 'aes256',
): Buffer {
  const pfx = forge.pkcs12.toPkcs12Asn1(
    forge.pki.privateKeyFromPem(keyPem),
    certificates.map((pem) => forge.pki.certificateFromPem(pem)),
    password as string,
    { algorithm },
  );
  return Buffer.from(forge.asn1.toDer(pfx).getBytes(), 'latin1');
}

const LEGACY = ['-legacy'];
const TRIPLE_DES = ['-legacy', '-certpbe', 'PBE-SHA1-3DES', '-keypbe', 'PBE-SHA1-3DES', '-macalg', 'sha1'];

describe('kinds of files (C83, C85)', () => {
  const kinds: [string, string, string[]][] = [
    ['AES-256', PASSWORD, []],
    ['RC2-40, which OpenSSL 3 refuses', PASSWORD, LEGACY],
    ['3DES', PASSWORD, TRIPLE_DES],
    ['AES-256 with an accented password', 'senhação', []],
    ['RC2-40 with an accented password', 'senhação', LEGACY],
    ['3DES with an accented password', 'senhação', TRIPLE_DES],
    ['password outside Latin-1', 'señal-€-日本', []],
    ['empty password', '', []],
    ['empty password, RC2-40', '', LEGACY],
    ['plain keyBag', PASSWORD, ['-keypbe', 'NONE']],
    ['nothing encrypted, only the MAC', PASSWORD, ['-keypbe', 'NONE', '-certpbe', 'NONE']],
    ['no MAC', PASSWORD, ['-nomac']],
    ['SHA-512 MAC and many iterations', PASSWORD, ['-macalg', 'sha512', '-iter', '100000']],
  ];
  for (const [kind, password, args] of kinds) {
    test(`${kind} opens`, () => {
      const opened = openA1(exportPfx(company, password, ...args), password);
      assert.equal(opened.taxId, CNPJ);
      assert.equal(opened.keyPem, company.keyPem);
      assert.equal(opened.chainPem, company.certificatePem);
    });
    if (password !== '') {
      test(`${kind} does not open with another password`, () => {
        refused('certificate_password_wrong', () => openA1(exportPfx(company, password, ...args), `${password}x`));
      });
    }
  }

  test('an accented password is not confused with another one', () => {
    for (const args of [[], LEGACY, TRIPLE_DES]) {
      refused('certificate_password_wrong', () => openA1(exportPfx(company, 'senhação', ...args), 'senhãção'));
    }
  });

  test('old programs made UTF-8 bytes into characters', () => {
    const bytes = forgePfx(company.keyPem, [company.certificatePem], forge.util.encodeUtf8('senhação'), '3des');
    assert.equal(openA1(bytes, 'senhação').taxId, CNPJ);
  });

  test('an empty password that was no password at all', () => {
    assert.equal(openA1(forgePfx(company.keyPem, [company.certificatePem], null, '3des'), '').taxId, CNPJ);
  });

  test('bytes after the DER do not matter', () => {
    const pfx = exportPfx(company, PASSWORD);
    assert.equal(openA1(Buffer.concat([pfx, Buffer.from('\r\n')]), PASSWORD).taxId, CNPJ);
    assert.equal(openA1(Buffer.concat([pfx, Buffer.alloc(512)]), PASSWORD).taxId, CNPJ);
  });

  test('Base64 text in place of the binary is read, with line breaks or without', () => {
    const text = exportPfx(company, PASSWORD).toString('base64');
    assert.equal(openA1(Buffer.from(text), PASSWORD).taxId, CNPJ);
    assert.equal(openA1(Buffer.from(`${text.replace(/(.{76})/g, '$1\r\n')}\n`), PASSWORD).taxId, CNPJ);
  });

  test('4096-bit RSA and elliptic-curve keys open', () => {
    for (const key of ['rsa:4096', 'ec']) {
      const pair = issue('other', intermediate, {
        key,
        subject: `/CN=X:${CNPJ}`,
        names: [`2.16.76.1.3.3;UTF8:${CNPJ}`],
      });
      for (const args of [[], LEGACY]) {
        const opened = openA1(exportPfx(pair, PASSWORD, ...args), PASSWORD);
        assert.equal(opened.taxId, CNPJ);
        assert.equal(opened.keyPem, pair.keyPem);
      }
    }
  });
});

describe('what comes out', () => {
  test('subject, validity in UTC, thumbprint', () => {
    const opened = openA1(exportPfx(company, PASSWORD), PASSWORD);
    assert.equal(opened.subject, `C=BR, O=ICP-Teste, CN=COMPRADOR FICTICIO SA:${CNPJ}`);
    assert.equal(new Date(opened.notBefore).toISOString(), '2026-01-01T03:00:00.000Z');
    assert.equal(new Date(opened.notAfter).toISOString(), '2027-01-01T02:59:59.000Z');
    const fingerprint = openssl('x509', '-in', 'company.crt', '-noout', '-fingerprint', '-sha256').toString();
    assert.equal(opened.thumbprint, fingerprint.split('=')[1]?.trim().replaceAll(':', '').toLowerCase());
  });

  test('the local time zone changes nothing', () => {
    const zone = process.env.TZ;
    process.env.TZ = 'America/Sao_Paulo';
    try {
      const opened = openA1(exportPfx(company, PASSWORD), PASSWORD);
      assert.equal(new Date(opened.notAfter).toISOString(), '2027-01-01T02:59:59.000Z');
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });
});

describe('leaf and chain (C84)', () => {
  const subjects = (chainPem: string) =>
    chainPem
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .filter(Boolean)
      .map((pem) => /CN=(.*)$/m.exec(new X509Certificate(pem).subject)?.[1]);

  test('the leaf is the one whose key fits, issuers follow upwards, root and strangers are left out', () => {
    const stranger = makeRoot('stranger');
    const orders = [
      [root, intermediate, stranger],
      [stranger, intermediate, root],
      [intermediate],
      [intermediate, intermediate, root],
    ];
    for (const order of orders) {
      for (const args of [[], LEGACY]) {
        writeTestFile('others.pem', order.map((pair) => pair.certificatePem).join(''));
        const opened = openA1(exportPfx(company, PASSWORD, '-certfile', 'others.pem', ...args), PASSWORD);
        assert.deepEqual(subjects(opened.chainPem), [`COMPRADOR FICTICIO SA:${CNPJ}`, 'AC Intermediaria']);
      }
    }
  });

  test('the authority stands first in the file', () => {
    const certificates = [root, intermediate, company].map((pair) => pair.certificatePem);
    const opened = openA1(forgePfx(company.keyPem, certificates, PASSWORD, '3des'), PASSWORD);
    assert.deepEqual(subjects(opened.chainPem), [`COMPRADOR FICTICIO SA:${CNPJ}`, 'AC Intermediaria']);
  });

  test('three levels of issuers', () => {
    const lower = issue('lower', intermediate, { subject: '/CN=AC Emissora', extensions: AUTHORITY });
    const leaf = issue('deep', lower, { subject: `/CN=FUNDO:${CNPJ}` });
    writeTestFile('others.pem', intermediate.certificatePem + root.certificatePem + lower.certificatePem);
    const opened = openA1(exportPfx(leaf, PASSWORD, '-certfile', 'others.pem'), PASSWORD);
    assert.deepEqual(subjects(opened.chainPem), [`FUNDO:${CNPJ}`, 'AC Emissora', 'AC Intermediaria']);
  });

  test('of two certificates for one key the one valid longer is taken', () => {
    const renewed = issue('renewed', intermediate, {
      keyOf: company,
      subject: `/CN=RENOVADO:${CNPJ}`,
      notAfter: '20300101000000Z',
    });
    const pfx = exportPfx(company, PASSWORD, '-certfile', `${renewed.name}.crt`);
    assert.match(openA1(pfx, PASSWORD).subject, /RENOVADO/);
  });

  test('the certificate bytes are the ones in the file', () => {
    const opened = openA1(exportPfx(company, PASSWORD, ...LEGACY), PASSWORD);
    assert.deepEqual(new X509Certificate(opened.chainPem).raw, new X509Certificate(company.certificatePem).raw);
  });
});

describe('the holder (C88)', () => {
  let serial = 0;
  const taxIdOf = (subject: string, names: string[]): string => {
    serial += 1;
    const pair = issue(`holder${serial}`, intermediate, { subject, names, keyOf: company });
    return openA1(exportPfx(pair, PASSWORD), PASSWORD).taxId;
  };

  test('every string type that authorities use', () => {
    const hex = Buffer.from(CNPJ).toString('hex');
    for (const value of [
      `UTF8:${CNPJ}`,
      `PRINTABLESTRING:${CNPJ}`,
      `IA5STRING:${CNPJ}`,
      `FORMAT:HEX,OCTETSTRING:${hex}`,
      `BMPSTRING:${CNPJ}`,
    ]) {
      assert.equal(taxIdOf('/CN=SEM NUMERO', [`2.16.76.1.3.3;${value}`]), CNPJ, value);
    }
  });

  test('an alphanumeric CNPJ keeps its letters', () => {
    assert.equal(taxIdOf('/CN=LETRAS', ['2.16.76.1.3.3;UTF8:12ABC34501DE35']), '12ABC34501DE35');
    assert.equal(taxIdOf('/CN=LETRAS:12abc34501de35', []), '12ABC34501DE35');
  });

  test('a CNPJ that begins with zero keeps its 14 characters (C18)', () => {
    assert.equal(taxIdOf('/CN=ZERO', ['2.16.76.1.3.3;UTF8:01234567000195']), '01234567000195');
  });

  test('an e-CPF has its CPF inside the positional block', () => {
    assert.equal(taxIdOf('/CN=PESSOA DA AMOSTRA', [`2.16.76.1.3.1;UTF8:${PERSON}`]), CPF);
    assert.equal(
      taxIdOf('/CN=PESSOA DA AMOSTRA', [`2.16.76.1.3.1;FORMAT:HEX,OCTETSTRING:${Buffer.from(PERSON).toString('hex')}`]),
      CPF,
    );
  });

  test('the person responsible for a company is not its holder', () => {
    assert.equal(taxIdOf('/CN=EMPRESA', [`2.16.76.1.3.4;UTF8:${PERSON}`, `2.16.76.1.3.3;UTF8:${CNPJ}`]), CNPJ);
  });

  test('the names win over the common name, which is the fallback', () => {
    assert.equal(taxIdOf('/CN=NOME DE OUTRO:11222333000181', [`2.16.76.1.3.3;UTF8:${CNPJ}`]), CNPJ);
    assert.equal(taxIdOf(`/CN=SO NO NOME: COM DOIS PONTOS:${CNPJ}`, []), CNPJ);
    assert.equal(taxIdOf(`/CN=PESSOA:${CPF}`, []), CPF);
  });

  test('a certificate without a tax ID is no company’s', () => {
    refused('certificate_other_company', () => taxIdOf('/CN=servidor.exemplo.test', []));
    refused('certificate_other_company', () =>
      taxIdOf('/CN=ZEROS', [`2.16.76.1.3.1;UTF8:${PERSON.replace(CPF, '00000000000')}`]),
    );
  });
});

describe('files that cannot be used', () => {
  test('no private key', () => {
    openssl('pkcs12', '-export', '-nokeys', '-in', 'company.crt', '-out', 'no-key.pfx', '-passout', `pass:${PASSWORD}`);
    refused('certificate_no_private_key', () => openA1(fileOf('no-key.pfx'), PASSWORD));
  });

  test('only a certificate, PEM or DER', () => {
    refused('certificate_no_private_key', () => openA1(Buffer.from(company.certificatePem), PASSWORD));
    refused('certificate_no_private_key', () =>
      openA1(openssl('x509', '-in', 'company.crt', '-outform', 'DER'), PASSWORD),
    );
  });

  test('an A3 certificate without its key', () => {
    const token = issue('token', intermediate, {
      subject: `/CN=EM TOKEN:${CNPJ}`,
      extensions: ['certificatePolicies=2.16.76.1.2.3.6'],
      keyOf: company,
    });
    openssl('pkcs12', '-export', '-nokeys', '-in', 'token.crt', '-out', 'token.pfx', '-passout', `pass:${PASSWORD}`);
    refused('certificate_hardware_key', () => openA1(fileOf('token.pfx'), PASSWORD));
    refused('certificate_hardware_key', () => openA1(Buffer.from(token.certificatePem), PASSWORD));
    // With its key it is as good as any other.
    assert.equal(openA1(exportPfx(token, PASSWORD), PASSWORD).taxId, CNPJ);
  });

  test('key of another certificate', () => {
    const stranger = issue('mismatch', intermediate, { subject: `/CN=OUTRO:${CNPJ}` });
    const pfx = forgePfx(company.keyPem, [stranger.certificatePem], PASSWORD, 'aes256');
    refused('certificate_key_mismatch', () => openA1(pfx, PASSWORD));
  });

  test('something else', () => {
    const pem = company.keyPem + company.certificatePem;
    const mangled = Buffer.from(exportPfx(company, PASSWORD).toString('utf8'));
    const pfx = exportPfx(company, PASSWORD);
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('hello'),
      Buffer.from('<html></html>'),
      Buffer.from(pem),
      mangled,
      pfx.subarray(0, 900),
      Buffer.from('MIIK'),
    ]) {
      refused('certificate_unreadable', () => openA1(bytes, PASSWORD));
    }
    refused('certificate_unreadable', () => openA1(openssl('rsa', '-in', 'company.key', '-outform', 'DER'), PASSWORD));
  });

  test('a damaged file', () => {
    const pfx = exportPfx(company, PASSWORD);
    for (let at = 0; at < pfx.length; at += 37) {
      const damaged = Buffer.from(pfx);
      damaged[at] = (damaged[at] ?? 0) ^ 0x55;
      try {
        openA1(damaged, PASSWORD);
      } catch (error) {
        assert.ok(error instanceof CertificateProblem, `byte ${at}: ${inspect(error)}`);
      }
    }
  });

  test('a file that would hold up the process with key derivation', () => {
    for (const args of [
      ['-iter', '1000001'],
      ['-iter', '1000001', '-nomac'],
      ['-iter', '1000001', '-certpbe', 'NONE', '-nomac'],
    ]) {
      const pfx = exportPfx(company, PASSWORD, ...args);
      const problem = problemOf(() => openA1(pfx, PASSWORD));
      assert.equal(problem.code, 'certificate_unreadable');
      assert.match(problem.message, /rounds of key derivation/, 'with the right password: refused before any round');
    }
  });
});

test('a problem shows neither password nor key nor tax ID (C96)', () => {
  const secret = 'segredo-da-amostra';
  const stranger = issue('secrets', intermediate, { subject: `/CN=OUTRO:${CNPJ}` });
  const files = [
    exportPfx(company, PASSWORD),
    forgePfx(company.keyPem, [stranger.certificatePem], secret, 'aes256'),
    Buffer.from(textOf('company.key')),
  ];
  for (const file of files) {
    const shown = inspect(
      problemOf(() => openA1(file, secret)),
      { depth: 10, showHidden: true },
    );
    for (const forbidden of [secret, 'PRIVATE KEY', CNPJ]) assert.ok(!shown.includes(forbidden), shown);
  }
});
