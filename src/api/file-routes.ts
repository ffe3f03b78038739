import { DocumentPdfs } from '../pdf/index.js';
import { type Api, answers } from './api.js';
import type { ApiDependencies } from './dependencies.js';
import { visibleDocument } from './document-access.js';
import { fileOf } from './document-files.js';
import { linkRoutes } from './links.js';
import { idParams } from './schemas/common.js';
import { FILE_PROBLEMS, fileAnswers, PDF_PROBLEMS } from './schemas/files.js';
import { sendFile } from './send-file.js';

/** A document's files: `/v1/documents/{id}/xml` and `/pdf`, and links to them. */
export function fileRoutes(app: Api, deps: ApiDependencies): void {
  const { database, objectStore } = deps;
  const sources = { objectStore, pdfs: new DocumentPdfs(deps) };

  app.get(
    '/v1/documents/:id/xml',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getDocumentXml',
        tags: ['documents'],
        summary: "The document's XML, byte for byte as the government gave it",
        description: 'Single ranges, `If-None-Match` and `If-Range` are honoured.',
        params: idParams,
        response: answers(fileAnswers('application/xml'), ...FILE_PROBLEMS),
      },
    },
    async (request, reply) => {
      const document = await visibleDocument(database, request, request.params.id);
      return sendFile(request, reply, await fileOf(sources, document, 'xml'));
    },
  );

  app.get(
    '/v1/documents/:id/pdf',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getDocumentPdf',
        tags: ['documents'],
        summary: "The document's printed form: DANFE, DACTE, DANFSe, correction letter",
        description:
          'As it has to be now: of a note that was cancelled meanwhile, with that mark. Kinds that have one show it as `links.pdf`. ' +
          'Single ranges, `If-None-Match` and `If-Range` are honoured.',
        params: idParams,
        response: answers(fileAnswers('application/pdf'), ...PDF_PROBLEMS),
      },
    },
    async (request, reply) => {
      const document = await visibleDocument(database, request, request.params.id);
      return sendFile(request, reply, await fileOf(sources, document, 'pdf'));
    },
  );

  linkRoutes(app, deps, sources);
}
