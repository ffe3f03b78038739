import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { createCompany } from '../../src/storage/companies.js';
import { createDatabase, type Database, type DatabaseOptions } from '../../src/storage/database.js';
import { testDatabase } from '../support/database.js';

export interface OpenDatabase {
  readonly db: Database;
  readonly url: string;
}

/** A fresh migrated database for the tests of one file or suite; closed and dropped after them. */
export async function openDatabase(options: Partial<DatabaseOptions> = {}): Promise<OpenDatabase> {
  const { url, drop } = await testDatabase();
  const db = createDatabase({ url, applicationName: 'malote test', max: 4, ...options });
  after(async () => {
    await db.close();
    await drop();
  });
  return { db, url };
}

let companies = 0;

/** A company with a made-up CNPJ (its check digits are not checked here). */
export async function newCompany(db: Database, fields: { taxId?: string; uf?: string; tags?: string[] } = {}) {
  companies += 1;
  const taxId = fields.taxId ?? `${String(companies).padStart(8, '0')}000100`;
  const made = await createCompany(db, { id: randomUUID(), name: `Empresa ${companies}`, uf: 'SP', ...fields, taxId });
  if (!made.ok) throw new Error(made.problem);
  return made.company;
}
