import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { taxIdMacs } from '../certificates/tax-id-mac.js';
import { taxIdKind } from '../documents/tax-id.js';
import { recordAudit } from '../storage/audit.js';
import { type CompanyRow, createCompany, listCompanies, patchCompany } from '../storage/companies.js';
import { adoptErased } from '../storage/erase-company.js';
import { type Api, answers, BODY_PROBLEMS, POST_PROBLEMS } from './api.js';
import { callerOf, requireUnlimited, visibleCompany } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { pageOf, pageQuery } from './paging.js';
import { notFound, Problem } from './problem.js';
import { answeredInstant, companyParams, isoInstant, patchOf, taxId, text, uf, uuid } from './schemas/common.js';

const tags = z
  .array(text(64), { error: 'expected a list of texts' })
  .max(50, 'expected at most 50 tags')
  .transform((all) => [...new Set(all)]);
const externalId = text(200).nullable().describe('Your own id of the company; several companies may share one');

const newCompany = z.strictObject({
  taxId: taxId.describe('CNPJ (14 characters, letters legal) or CPF (11 digits); punctuation is removed'),
  name: text(200),
  uf: uf.describe('State of the company, in letters: the government asks for it with every call'),
  externalId: externalId.optional(),
  tags: tags.optional(),
});

const companyPatch = patchOf({ name: text(200), uf, externalId, tags });

const company = z
  .object({
    id: uuid,
    taxId: z.string(),
    taxIdKind: z.enum(['cnpj', 'cpf']),
    root: z.string().describe('What the branches of one company share: 8 characters of a CNPJ; a whole CPF'),
    name: z.string(),
    uf: z.string(),
    externalId: z.string().nullable(),
    tags: z.array(z.string()),
    createdAt: answeredInstant,
    deletingAt: answeredInstant.nullable().describe('When its deletion was asked for'),
  })
  .meta({ id: 'Company' });

const listQuery = z.strictObject({
  ...pageQuery,
  taxId: taxId.optional(),
  root: z
    .string()
    .regex(/^([0-9A-Z]{8}|[0-9]{11})$/, 'expected the first 8 characters of a CNPJ, or a CPF')
    .optional(),
  externalId: text(200).optional(),
  tag: text(64).optional(),
});

/** Companies: `/v1/companies`. */
export function companyRoutes(app: Api, deps: ApiDependencies): void {
  const { database } = deps;

  app.post(
    '/v1/companies',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'createCompany',
        tags: ['companies'],
        summary: 'Register a company',
        body: newCompany,
        response: answers({ 201: company }, 'company_exists', 'key_limited', ...POST_PROBLEMS),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      requireUnlimited(caller);
      const created = await database.transaction(async (tx) => {
        const { externalId = null, tags = [], ...given } = request.body;
        const answer = await createCompany(tx, { id: uuidv7(), externalId, tags, ...given });
        if (!answer.ok) throw new Problem('company_exists', 'A company with this tax ID is registered already');
        await adoptErased(tx, answer.company.id, taxIdMacs(deps.keyring, answer.company.taxId), await deps.clock.now());
        await recordAudit(tx, { actor: caller.actor, action: 'company.create', target: answer.company.id });
        return answer.company;
      });
      return reply.code(201).header('location', `/v1/companies/${created.id}`).send(companyView(created));
    },
  );

  app.get(
    '/v1/companies',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listCompanies',
        tags: ['companies'],
        summary: 'List companies, newest first',
        querystring: listQuery,
        response: answers({ 200: pageOf(company) }),
      },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const { visible } = callerOf(request);
      const page = await listCompanies(database, { ...filter, visible }, { limit, cursor: cursor ?? null });
      return { data: page.rows.map(companyView), nextCursor: page.nextCursor };
    },
  );

  app.get(
    '/v1/companies/:companyId',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getCompany',
        tags: ['companies'],
        summary: 'Get one company',
        params: companyParams,
        response: answers({ 200: company }),
      },
    },
    async (request) => companyView(await visibleCompany(deps, request, request.params.companyId)),
  );

  app.patch(
    '/v1/companies/:companyId',
    {
      config: { scope: 'manage' },
      schema: {
        operationId: 'updateCompany',
        tags: ['companies'],
        summary: 'Change a company',
        description:
          'Only the given fields change. A tax ID never changes: register another company for another tax ID.',
        params: companyParams,
        body: companyPatch,
        response: answers({ 200: company }, ...BODY_PROBLEMS),
      },
    },
    async (request) => {
      const before = await visibleCompany(deps, request, request.params.companyId);
      return database.transaction(async (tx) => {
        const after = await patchCompany(tx, before.id, request.body);
        if (after === null) throw notFound('company');
        const changed = Object.keys(request.body);
        const { actor } = callerOf(request);
        await recordAudit(tx, { actor, action: 'company.update', target: before.id, detail: { changed } });
        return companyView(after);
      });
    },
  );
}

function companyView(row: CompanyRow): z.output<typeof company> {
  return {
    id: row.id,
    taxId: row.taxId,
    taxIdKind: taxIdKind(row.taxId),
    root: row.root,
    name: row.name,
    uf: row.uf,
    externalId: row.externalId,
    tags: row.tags,
    createdAt: isoInstant(row.createdAt),
    deletingAt: isoInstant(row.deletingAt),
  };
}
