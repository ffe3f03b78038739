import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isLinkSignature, signLink } from '../certificates/link-signature.js';
import { hasPrintedForm } from '../model/printed-form.js';
import { getDocument } from '../storage/documents.js';
import { type Api, answers, openAnswers, POST_PROBLEMS } from './api.js';
import type { ApiDependencies } from './dependencies.js';
import { visibleDocument } from './document-access.js';
import { FILE_KINDS, type FileKind, type FileSources, fileOf } from './document-files.js';
import { Problem } from './problem.js';
import { answeredInstant, idParams, isoInstant, noBody, oneOf } from './schemas/common.js';
import { fileAnswers, PDF_PROBLEMS } from './schemas/files.js';
import { sendFile } from './send-file.js';

/** A link is made to be used now. Real time, whatever the time scale. */
const LIFETIME_MS = 15 * 60_000;

/** Links that open one file of one document without a key: `POST /v1/documents/{id}/links`, and `/links`, where they lead. */
export function linkRoutes(app: Api, deps: ApiDependencies, sources: FileSources): void {
  const { database, keyring, clock } = deps;

  app.post(
    '/v1/documents/:id/links',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'makeDocumentLinks',
        tags: ['documents'],
        summary: 'Make links to the files of a document that need no key, for 15 minutes',
        description:
          'Each link opens one file of this document, for whoever has it. They cannot be taken back: they end by themselves.',
        params: idParams,
        body: noBody,
        response: answers(
          {
            200: z.object({
              xml: z.url(),
              pdf: z.url().nullable().describe('Null: there is no printed form of this document'),
              expiresAt: answeredInstant,
            }),
          },
          ...POST_PROBLEMS,
        ),
      },
    },
    async (request) => {
      const { id, kind, eventType } = await visibleDocument(database, request, request.params.id);
      const base = deps.publicUrl ?? addressOf(request);
      // Whole seconds, and never less than promised.
      const expires = Math.ceil(((await clock.now()) + LIFETIME_MS) / 1000);
      const link = (file: FileKind) =>
        `${base}/links/${id}/${file}?expires=${expires}&signature=${signLink(keyring, signedContent(id, file, expires))}`;
      return {
        xml: link('xml'),
        pdf: hasPrintedForm(kind, eventType) ? link('pdf') : null,
        expiresAt: isoInstant(expires * 1000),
      };
    },
  );

  app.get(
    '/links/:id/:file',
    {
      schema: {
        operationId: 'openDocumentLink',
        tags: ['documents'],
        summary: 'The file that a link opens',
        description: 'Made by `POST /v1/documents/{id}/links`; answers like `/xml` and `/pdf` of the document.',
        params: idParams.extend({ file: oneOf(FILE_KINDS) }),
        // Whatever mail programs add to a link is no fault of who follows it.
        querystring: z.looseObject({ expires: z.unknown().optional(), signature: z.unknown().optional() }),
        response: openAnswers(
          fileAnswers('application/xml', 'application/pdf'),
          'link_invalid',
          'link_expired',
          ...PDF_PROBLEMS,
        ),
      },
    },
    async (request, reply) => {
      const { id, file } = request.params;
      const { expires, signature } = request.query;
      // The signature first: of a link that was changed nothing is told.
      const isOurs =
        typeof expires === 'string' &&
        typeof signature === 'string' &&
        isLinkSignature(keyring, signedContent(id, file, expires), signature);
      if (!isOurs)
        throw new Problem('link_invalid', 'The link is not one that was made here: it was changed or cut off');
      if (Number(expires) * 1000 <= (await clock.now())) {
        throw new Problem('link_expired', `The link was valid until ${isoInstant(Number(expires) * 1000)}`);
      }
      const document = await getDocument(database, id);
      if (document === null) throw new Problem('not_found', 'The document was deleted');
      reply.header('referrer-policy', 'no-referrer');
      return sendFile(request, reply, await fileOf(sources, document, file));
    },
  );
}

function signedContent(id: string, file: FileKind, expires: number | string): string {
  return `${file} ${id} ${expires}`;
}

/** How the caller itself reached this API. */
function addressOf({ protocol, host }: FastifyRequest): string {
  if (!host) throw new Problem('malformed_request', 'The request has no Host header, so there is no address for links');
  return `${protocol}://${host}`;
}
