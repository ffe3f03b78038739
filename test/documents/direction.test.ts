import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { directionOf, rolesOf } from '../../src/documents/index.js';
import type { DocumentMetadata } from '../../src/model/document.js';
import { PEOPLE } from './samples.js';

const { seller, buyer, branch, carrier, accountant } = PEOPLE;

describe('direction of an NF-e', () => {
  const cases: [string, DocumentMetadata, string, string[], string][] = [
    ['the issuer', { issuer: { taxId: seller }, recipient: { taxId: buyer } }, seller, ['issuer'], 'issued'],
    ['the recipient', { issuer: { taxId: seller }, recipient: { taxId: buyer } }, buyer, ['recipient'], 'received'],
    ['the carrier', { issuer: { taxId: seller }, carrier: { taxId: carrier } }, carrier, ['carrier'], 'received'],
    [
      'a note to oneself',
      { issuer: { taxId: buyer }, recipient: { taxId: buyer } },
      buyer,
      ['issuer', 'recipient'],
      'received',
    ],
    [
      'own transport',
      { issuer: { taxId: seller }, carrier: { taxId: seller } },
      seller,
      ['issuer', 'carrier'],
      'received',
    ],
    [
      'a branch is another party',
      { issuer: { taxId: buyer }, recipient: { taxId: branch } },
      branch,
      ['recipient'],
      'received',
    ],
    ['a branch that sells', { issuer: { taxId: branch }, recipient: { taxId: buyer } }, branch, ['issuer'], 'issued'],
    [
      'allowed to download',
      { issuer: { taxId: seller }, authorizedThirdParties: [accountant] },
      accountant,
      ['authorizedThirdParties'],
      'received',
    ],
    [
      'the issuer, also allowed to download',
      { issuer: { taxId: seller }, authorizedThirdParties: [seller] },
      seller,
      ['issuer', 'authorizedThirdParties'],
      'issued',
    ],
    ['nobody (case C78)', { issuer: { taxId: seller }, recipient: { taxId: buyer } }, accountant, [], 'received'],
    ['no parties at all: events, unknown kinds', {}, seller, [], 'received'],
    ['a foreign recipient', { issuer: { taxId: seller }, recipient: { foreign: true } }, seller, ['issuer'], 'issued'],
  ];
  for (const [name, metadata, taxId, roles, direction] of cases) {
    test(`${name}: ${direction}`, () => {
      assert.deepEqual(rolesOf('nfe', metadata, taxId), roles);
      assert.equal(directionOf('nfe', metadata, taxId), direction);
    });
  }
});
