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
  const { rows: before } = await tx.query<{ pacedUntil: number | null }>(
    `delete from certificates where company_id = $1
     returning case when thumbprint = $2 then paced_until end as "pacedUntil"`,
    [certificate.companyId, certificate.thumbprint],
  );
  await tx.query(
    `insert into certificates (id, company_id, root, tax_id, subject, thumbprint, not_before, not_after, chain, key_id,
       wrapped_key, sealed, created_at, paced_until)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
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
      // The same one once more: its turn is not over by that.
      instant(before[0]?.pacedUntil),
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
 * Takes the next turn of a certificate that may not be used too often. The service counts the certificate, not our rows: one that was
 * stored for several companies of its root has one turn.
 *
 * @param pacing milliseconds from this turn to the next
 * @returns null: the turn is taken. Else the instant of the next one (milliseconds)
 */
export async function takeTurn(
  tx: Transaction,
  { root, thumbprint }: Pick<CertificateRow, 'root' | 'thumbprint'>,
  now: number,
  pacing: number,
): Promise<number | null> {
  // Of two at once the later one waits for the earlier one's rows and finds each of them taken: that is what the row's own instant is for.
  const { rowCount } = await tx.query(
    `update certificates c set paced_until = $4
     where root = $1 and thumbprint = $2 and (paced_until is null or paced_until <= $3)
       and not exists (select from certificates o where o.root = $1 and o.thumbprint = $2 and o.paced_until > $3)`,
    [root, thumbprint, instant(now), instant(now + pacing)],
  );
  if (rowCount > 0) return null;
  const { rows } = await tx.query<{ pacedUntil: number | null }>(
    'select max(paced_until) as "pacedUntil" from certificates where root = $1 and thumbprint = $2',
    [root, thumbprint],
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
