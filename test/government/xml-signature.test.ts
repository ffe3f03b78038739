import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { signEnveloped } from '../../src/government/xml-signature.js';
import { AUTHORITY, issue, makeRoot, openssl, writeTestFile } from '../certificates/make-certificates.js';
import { sharedFile } from '../support/shared.js';
import { verifySignature } from './verify-signature.js';

const root = makeRoot('signing-root');
const authority = issue('signing-authority', root, { extensions: AUTHORITY });
const leaf = issue('signing-leaf', authority);
const certificate = {
  keyPem: leaf.keyPem,
  chainPem: leaf.certificatePem + authority.certificatePem,
  thumbprint: 'of-no-interest',
};

const ID = 'ID2102403526091122233300018155001000001006110203040801';
const event = (details: string, id = ID) =>
  `<evento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><infEvento Id="${id}"><cOrgao>91</cOrgao>` +
  `<detEvento versao="1.00">${details}</detEvento></infEvento></evento>`;
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

describe('signature of an element', () => {
  test('another implementation finds digest and signature right', () => {
    const { digest, signature } = verifySignature(signEnveloped(event('<xJust>Recusada</xJust>'), ID, certificate));
    assert.deepEqual({ digest, signature }, { digest: true, signature: true });
  });

  test('has exactly the algorithms and elements of the contract, and only the leaf certificate', () => {
    const signed = signEnveloped(event('<xJust>Recusada</xJust>'), ID, certificate);
    assert.deepEqual(verifySignature(signed).shape, [
      'SignedInfo',
      'CanonicalizationMethod http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
      'SignatureMethod http://www.w3.org/2000/09/xmldsig#rsa-sha1',
      'Reference',
      'Transforms',
      'Transform http://www.w3.org/2000/09/xmldsig#enveloped-signature',
      'Transform http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
      'DigestMethod http://www.w3.org/2000/09/xmldsig#sha1',
      'DigestValue',
      'SignatureValue',
      'KeyInfo',
      'X509Data',
      'X509Certificate',
    ]);
    const der = /<X509Certificate>([A-Za-z0-9+/=]+)<\/X509Certificate>/.exec(signed)?.[1];
    const expected = leaf.certificatePem.replace(/-----[A-Z ]+-----|\s/g, '');
    assert.equal(der, expected);
  });

  test('openssl alone agrees with the signature value', () => {
    const signed = signEnveloped(event('<xJust>Recusada</xJust>'), ID, certificate);
    const info = /<SignedInfo>.*<\/SignedInfo>/.exec(signed)?.[0] ?? '';
    // The canonical form by hand: the namespace comes down from Signature, empty elements are written out.
    const canonical = info
      .replace('<SignedInfo>', '<SignedInfo xmlns="http://www.w3.org/2000/09/xmldsig#">')
      .replace(/<(\w+)( [^>]*)\/>/g, '<$1$2></$1>');
    writeTestFile('info.xml', canonical);
    writeTestFile('value.bin', Buffer.from(/<SignatureValue>(.*)<\/SignatureValue>/.exec(signed)?.[1] ?? '', 'base64'));
    writeTestFile('public.pem', openssl('x509', '-in', `${leaf.name}.crt`, '-pubkey', '-noout'));
    const verdict = openssl('dgst', '-sha1', '-verify', 'public.pem', '-signature', 'value.bin', 'info.xml');
    assert.match(verdict.toString(), /Verified OK/);
  });

  test('whatever the text, the signed characters stay as they were and the signature holds', () => {
    const character = fc.constantFrom(...'aZ09 ÿãç&<>"\'-\u00a0€😀\t');
    fc.assert(
      fc.property(fc.array(character, { minLength: 1, maxLength: 40 }), (characters) => {
        const xml = event(`<xJust>${escaped(characters.join(''))}</xJust>`);
        const signed = signEnveloped(xml, ID, certificate);
        const begin = signed.indexOf('<Signature ');
        const end = signed.indexOf('</Signature>') + '</Signature>'.length;
        assert.equal(signed.slice(0, begin) + signed.slice(end), xml);
        const { digest, signature } = verifySignature(signed);
        assert.ok(digest && signature);
      }),
      { numRuns: 60 },
    );
  });

  test('a changed character, or a namespace that the surrounding message brings into scope, is noticed', () => {
    const signed = signEnveloped(event('<xJust>Recusada</xJust>'), ID, certificate);
    assert.equal(verifySignature(signed.replace('Recusada', 'Recusado')).digest, false);
    // Case C58, and why the AN verifies the event alone: in the envelope its canonical form is another.
    const inEnvelope = `<soap12:Body xmlns:soap12="http://www.w3.org/2003/05/soap-envelope">${signed}</soap12:Body>`;
    assert.equal(verifySignature(inEnvelope).digest, false);
  });

  test('refuses what it could not sign as one element, without quoting it', () => {
    for (const [xml, id] of [
      [event('x'), 'ID1'],
      [event('x') + event('y'), ID],
      ['no xml', ID],
      [event('x', "x' or '1'='1"), "x' or '1'='1"],
    ] as const) {
      assert.throws(
        () => signEnveloped(xml, id, certificate),
        /^Error: an element to be signed must carry its Id once/,
      );
    }
    const foreign = { ...certificate, keyPem: 'not a key' };
    assert.throws(() => signEnveloped(event('x'), ID, foreign), /^Error: the element could not be signed$/);
  });

  const goodCase = sharedFile('cases/56-evento-210240-good.xml');
  test('has the form of the good event of case C56', { skip: goodCase === null && 'no shared cases here' }, () => {
    const bytes = readFileSync(goodCase ?? '', 'utf8');
    const [unsigned] = /<infEvento .*<\/infEvento>/.exec(bytes) ?? [''];
    const signed = signEnveloped(
      `<evento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00">${unsigned}</evento>`,
      ID,
      certificate,
    );
    const blank = (xml: string) => /<Signature.*<\/Signature>/.exec(xml)?.[0].replace(/>[A-Za-z0-9+/=]+</g, '>…<');
    assert.equal(blank(signed), blank(bytes));
  });
});
