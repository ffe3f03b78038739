import { z } from 'zod';
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
import { linkEnd, requireSigned, signedUrl } from './signed-url.js';

/** Links that open one file of one document without a key: `POST /v1/documents/{id}/links`, and `/links`, where they lead. */
export function linkRoutes(app: Api, deps: ApiDependencies, sources: FileSources): void {
  const { database } = deps;

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
      const expires = await linkEnd(deps);
      const link = (file: FileKind) =>
        signedUrl(deps, request, { path: `/links/${id}/${file}`, content: signedContent(id, file), expires });
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
      await requireSigned(deps, signedContent(id, file), request.query);
      const document = await getDocument(database, id);
      if (document === null) throw new Problem('not_found', 'The document was deleted');
      reply.header('referrer-policy', 'no-referrer');
      return sendFile(request, reply, await fileOf(sources, document, file));
    },
  );
}

function signedContent(id: string, file: FileKind): string {
  return `${file} ${id}`;
}
