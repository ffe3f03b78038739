import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { checkHolder } from '../certificates/check.js';
import { type OpenedCertificate, openA1 } from '../certificates/open-a1.js';
import { CertificateProblem } from '../certificates/problem.js';
import { sealKey } from '../certificates/vault.js';
import { taxIdRoot } from '../documents/tax-id.js';
import type { CertificateAcceptance } from '../model/certificate-acceptance.js';
import { recordAudit } from '../storage/audit.js';
import { listCompanyCaptures } from '../storage/captures.js';
import { type CertificateRow, deleteCertificate, getCertificate, storeCertificate } from '../storage/certificates.js';
import type { CompanyRow } from '../storage/companies.js';
import { type Api, answers, BODY_PROBLEMS } from './api.js';
import { callerOf, visibleCompany } from './authorization.js';
import { wakeCapturesOfRoot } from './certificate-wake.js';
import type { ApiDependencies } from './dependencies.js';
import { invalidInput, notFound, Problem } from './problem.js';
import { answeredInstant, companyParams, isoInstant } from './schemas/common.js';

const MAX_PFX_BYTES = 64 * 1024;

const upload = z.strictObject({
  pfx: z
    .base64({ error: 'expected the file in base64' })
    .min(1, 'expected the file in base64')
    .describe('The .pfx or .p12 file in base64, at most 64 kB before encoding'),
  password: z
    .string({ error: 'expected the password of the file; an empty text if it has none' })
    .max(500, 'expected at most 500 characters'),
});

const certificate = z
  .object({
    subject: z.string(),
    taxId: z.string().describe('Of the holder: the company itself, or another one with the same root'),
    notBefore: answeredInstant,
    notAfter: answeredInstant,
    thumbprint: z.string().describe('SHA-256 of the certificate, hex'),
  })
  .meta({ id: 'Certificate', description: 'A stored A1 certificate. Its private key never leaves the service' });

const uploaded = certificate
  .extend({
    accepted: z
      .boolean()
      .nullable()
      .describe(
        'Whether the government lets this certificate in, asked just now and without a query. False: no call will be answered, ' +
          'although nothing is wrong with the file; null: it did not say. It is stored in any case',
      ),
    acceptedReason: z.string().describe('What the government answered, in words'),
  })
  .meta({ id: 'UploadedCertificate', description: 'A certificate that was stored just now' });

const UPLOAD_PROBLEMS = [
  'certificate_password_wrong',
  'certificate_unreadable',
  'certificate_no_private_key',
  'certificate_key_mismatch',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_other_company',
  'certificate_hardware_key',
] as const;

/** The certificate of a company: `/v1/companies/{companyId}/certificate`. */
export function certificateRoutes(app: Api, deps: ApiDependencies): void {
  const { database } = deps;

  app.put(
    '/v1/companies/:companyId/certificate',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'storeCertificate',
        tags: ['companies'],
        summary: "Store the company's A1 certificate",
        description:
          'Replaces the one before. File and password are thrown away once opened; the private key is kept encrypted. ' +
          'A certificate serves every company with the same root (the first 8 characters of the CNPJ). Captures that waited for it go on by themselves.',
        params: companyParams,
        body: upload,
        response: answers({ 200: uploaded }, ...UPLOAD_PROBLEMS, 'company_being_deleted', ...BODY_PROBLEMS),
      },
    },
    async (request) => {
      const company = await visibleCompany(deps, request, request.params.companyId);
      if (company.deletingAt !== null) {
        throw new Problem('company_being_deleted', 'The deletion of this company was asked for');
      }
      const now = await deps.clock.now();
      const opened = openChecked(request.body, company, now);
      const row = certificateRow(deps, opened, company, now);
      await database.transaction(async (tx) => {
        await storeCertificate(tx, row);
        await recordAudit(tx, {
          actor: callerOf(request).actor,
          action: 'certificate.store',
          target: company.id,
          detail: { thumbprint: row.thumbprint, notAfter: isoInstant(row.notAfter) },
        });
      });
      const [{ accepted, reason }] = await Promise.all([
        acceptance(deps, opened, company),
        wakeCapturesOfRoot(deps, row.root, request.log),
      ]);
      return { ...certificateView(row), accepted, acceptedReason: reason };
    },
  );

  app.get(
    '/v1/companies/:companyId/certificate',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getCertificate',
        tags: ['companies'],
        summary: "Get the company's own certificate",
        params: companyParams,
        response: answers({ 200: certificate }),
      },
    },
    async (request) => {
      const company = await visibleCompany(deps, request, request.params.companyId);
      const row = await getCertificate(database, company.id);
      if (row === null) throw new Problem('not_found', 'The company has no certificate of its own');
      return certificateView(row);
    },
  );

  app.delete(
    '/v1/companies/:companyId/certificate',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'deleteCertificate',
        tags: ['companies'],
        summary: "Forget the company's own certificate",
        description: 'Its captures wait in phase `certificate`, unless another company with the same root has one.',
        params: companyParams,
        response: answers({ 204: z.undefined().describe('Forgotten') }),
      },
    },
    async (request, reply) => {
      const company = await visibleCompany(deps, request, request.params.companyId);
      await database.transaction(async (tx) => {
        if (!(await deleteCertificate(tx, company.id))) throw notFound('certificate');
        const { actor } = callerOf(request);
        await recordAudit(tx, { actor, action: 'certificate.delete', target: company.id });
      });
      return reply.code(204).send();
    },
  );
}

function openChecked({ pfx, password }: z.output<typeof upload>, company: CompanyRow, now: number): OpenedCertificate {
  const file = Buffer.from(pfx, 'base64');
  if (file.length > MAX_PFX_BYTES) {
    throw invalidInput({ field: 'pfx', message: `expected at most ${MAX_PFX_BYTES} bytes, got ${file.length}` });
  }
  try {
    const opened = openA1(file, password);
    checkHolder(opened, company.taxId, now);
    return opened;
  } catch (error) {
    if (error instanceof CertificateProblem) throw new Problem(error.code, error.message);
    throw error;
  } finally {
    file.fill(0);
  }
}

/** In the environment that the company is captured in; without a capture, in production. */
async function acceptance(
  { checkCertificate, database }: ApiDependencies,
  opened: OpenedCertificate,
  { id }: CompanyRow,
): Promise<CertificateAcceptance> {
  if (!checkCertificate) return { accepted: null, reason: 'the government was not asked' };
  const running = (await listCompanyCaptures(database, id)).find(({ enabled }) => enabled);
  return checkCertificate(opened, running?.environment ?? 'production');
}

function certificateRow(
  { keyring }: ApiDependencies,
  opened: OpenedCertificate,
  company: CompanyRow,
  now: number,
): CertificateRow {
  const id = uuidv7();
  const { keyId, wrappedKey, sealed } = sealKey(keyring, opened, id);
  return {
    id,
    companyId: company.id,
    root: taxIdRoot(opened.taxId),
    taxId: opened.taxId,
    subject: opened.subject,
    thumbprint: opened.thumbprint,
    notBefore: opened.notBefore,
    notAfter: opened.notAfter,
    chain: opened.chainPem,
    keyId,
    wrappedKey: Buffer.from(wrappedKey),
    sealed: Buffer.from(sealed),
    createdAt: now,
  };
}

function certificateView(row: CertificateRow): z.output<typeof certificate> {
  return {
    subject: row.subject,
    taxId: row.taxId,
    notBefore: isoInstant(row.notBefore),
    notAfter: isoInstant(row.notAfter),
    thumbprint: row.thumbprint,
  };
}
