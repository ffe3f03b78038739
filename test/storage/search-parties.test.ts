import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listDocuments } from '../../src/storage/documents.js';
import { newDocument } from './documents-support.js';
import { newCompany, openDatabase } from './support.js';

const { db } = await openDatabase();

test('everybody who takes part in a CT-e is found by name and by number', async () => {
  const { id: companyId } = await newCompany(db);
  const party = (name: string, taxId: string) => ({ name, taxId });
  const metadata = {
    issuer: party('Transportes Inventados', '30313233000101'),
    sender: party('Remetente São João', '10111213000102'),
    dispatcher: party('Expedidora Norte', '50515253000103'),
    receiver: party('Recebedora Sul', '60616263000104'),
    recipient: party('Destinatária Leste', '20212223000105'),
    taker: party('Pagadora Oeste', '70717273000106'),
  };
  const document = await newDocument(db, {
    company_id: companyId,
    document_type: 'cte',
    kind: 'procCTe',
    metadata: JSON.stringify(metadata),
  });
  await newDocument(db, { company_id: companyId, metadata: JSON.stringify({ issuer: party('Outra', '1') }) });
  for (const { name, taxId } of Object.values(metadata)) {
    for (const q of [
      name,
      taxId,
      name
        .normalize('NFD')
        .replace(/\p{Mark}/gu, '')
        .toUpperCase(),
      taxId.slice(0, 8),
    ]) {
      const { rows } = await listDocuments(db, { companyId, q }, { limit: 10 });
      assert.deepEqual(
        rows.map(({ id }) => id),
        [document],
        q,
      );
    }
  }
});
