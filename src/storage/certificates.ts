import { type CompanyRow, lockOrders } from './companies.js';
import type { Queryable, Transaction } from './database.js';
import { instant } from './database.js';
import { Filter } from './filter.js';
import type { Page, PageRequest } from './keyset.js';
import { pageOf, readCursor } from './keyset.js';

/** A stored A1 certificate. Its private key is sealed: only src/certificates can open it. */
export interface CertificateRow {
  readonly id: string;
  readonly companyId: string;
  /** Of the certificate's holder: serves every branch. */
  readonly root: string;
  readonly taxId: string;
  readonly subject: string;
  /** SHA-256 of the leaf, hex. */
  readonly thumbprint: string;
  readonly notBefore: number;
  readonly notAfter: number;
  /** PEM, leaf first; public. */
  readonly chain: string;
  readonly keyId: string;
  readonly wrappedKey: Buffer;
  readonly sealed: Buffer;
  readonly createdAt: number;
}

const COLUMNS = `id, company_id as "companyId", root, tax_id as "taxId", subject, thumbprint, not_before as "notBefore",
  not_after as "notAfter", chain, key_id as "keyId", wrapped_key as "wrappedKey", sealed, created_at as "createdAt"`;

/** Stores a company's certificate in place of the one before, whose private key is forgotten. */
export async function storeCertificate(tx: Transaction, certificate: CertificateRow): Promise<void> {
  // Two at once: the later one stays, not both.
  await lockOrders(tx, certificate.companyId);
  await deleteCertificate(tx, certificate.companyId);
  await tx.query(
    `insert into certificates (id, company_id, root, tax_id, subject, thumbprint, not_before, not_after, chain, key_id,
       wrapped_key, sealed, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      certificate.id,
      certificate.companyId,
      certificate.root,
      certificate.taxId,
      certificate.subject,
      certificate.thumbprint,
      instant(certificate.notBefore),
      instant(certificate.notAfter),
      certificate.chain,
      certificate.keyId,
      certificate.wrappedKey,
      certificate.sealed,
      instant(certificate.createdAt),
    ],
  );
}

/** False: it had none. */
export async function deleteCertificate(db: Queryable, companyId: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from certificates where company_id = $1', [companyId]);
  return rowCount > 0;
}

/** The company's own certificate, valid or not. */
export async function getCertificate(db: Queryable, companyId: string): Promise<CertificateRow | null> {
  const { rows } = await db.query<CertificateRow>(
    `select ${COLUMNS} from certificates where company_id = $1 order by created_at desc limit 1`,
    [companyId],
  );
  return rows[0] ?? null;
}

/** A certificate to call with, or what is wrong with those there are (model/activity-contract.ts, `Refusal`). */
export type UsableCertificate =
  | { readonly ok: true; readonly certificate: CertificateRow }
  | {
      readonly ok: false;
      readonly problem: 'missing' | 'expired' | 'not_yet_valid';
      /** When the stored one becomes valid. */
      readonly until: number | null;
    };

/**
 * The certificate that a company calls with at an instant: its own, else one of the same root; the one valid longest. One
 * whose time has not come is preferred as an explanation to one that is over, because then the capture goes on by itself.
 */
export async function usableCertificate(
  db: Queryable,
  company: Pick<CompanyRow, 'id' | 'root'>,
  now: number,
): Promise<UsableCertificate> {
  const { rows } = await db.query<CertificateRow>(
    `select ${COLUMNS} from certificates where company_id = $1 or root = $2
     order by (company_id = $1) desc, not_after desc`,
    [company.id, company.root],
  );
  const valid = rows.find(({ notBefore, notAfter }) => notBefore <= now && now < notAfter);
  if (valid) return { ok: true, certificate: valid };
  const starts = rows.filter(({ notBefore }) => notBefore > now).map(({ notBefore }) => notBefore);
  if (starts.length > 0) return { ok: false, problem: 'not_yet_valid', until: Math.min(...starts) };
  return { ok: false, problem: rows.length === 0 ? 'missing' : 'expired', until: null };
}

/**
 * Takes the next turn of a certificate that may not be used too often.
 *
 * @param pacing milliseconds from this turn to the next
 * @returns null: the turn is taken. Else the instant of the next one (milliseconds)
 */
export async function takeTurn(
  tx: Transaction,
  certificateId: string,
  now: number,
  pacing: number,
): Promise<number | null> {
  const { rowCount } = await tx.query(
    'update certificates set paced_until = $3 where id = $1 and (paced_until is null or paced_until <= $2)',
    [certificateId, instant(now), instant(now + pacing)],
  );
  if (rowCount === 1) return null;
  const { rows } = await tx.query<{ pacedUntil: number }>(
    'select paced_until as "pacedUntil" from certificates where id = $1',
    [certificateId],
  );
  return rows[0]?.pacedUntil ?? now + pacing;
}

/** Certificates that end before an instant, the first to end first. @throws {InvalidCursor} */
export async function listExpiringCertificates(
  db: Queryable,
  before: number,
  { limit, cursor }: PageRequest,
): Promise<Page<CertificateRow>> {
  const where = new Filter()
    .add(instant(before), (v) => `not_after < ${v}`)
    .after(readCursor(cursor, ['instant', 'uuid']), 'not_after, id', '>');
  const { rows } = await db.query<CertificateRow>(
    `select ${COLUMNS} from certificates ${where.where} order by not_after, id limit ${limit + 1}`,
    where.values,
  );
  return pageOf(rows, limit, (row) => [row.notAfter, row.id]);
}
