import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type ArchiveRow, getArchive } from '../storage/archives.js';
import { type Api, answers, bytes } from './api.js';
import { callerOf, seesCompany } from './authorization.js';
import type { ApiDependencies } from './dependencies.js';
import { notFound, Problem } from './problem.js';
import { idParams } from './schemas/common.js';
import { FILE_PROBLEMS, fileAnswers } from './schemas/files.js';
import { sendFile } from './send-file.js';

/** The exact answers of the government: `/v1/archives/{id}`. */
export function archiveRoutes(app: Api, { database, objectStore }: ApiDependencies): void {
  async function visibleArchive(
    request: FastifyRequest & { readonly params: { readonly id: string } },
  ): Promise<ArchiveRow> {
    const archive = await getArchive(database, request.params.id);
    if (archive === null || !seesCompany(callerOf(request), archive.companyId)) throw notFound('archive');
    return archive;
  }

  async function wholeArchive({ objectKey, sha256 }: ArchiveRow): Promise<Buffer> {
    const content = await objectStore.get(objectKey);
    if (createHash('sha256').update(content).digest('hex') !== sha256) {
      throw new Problem('content_damaged', 'The archive does not hold the bytes that were captured');
    }
    return content;
  }

  app.get(
    '/v1/archives/:id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getArchive',
        tags: ['documents'],
        summary: 'The exact bytes of one government answer',
        params: idParams,
        description:
          "Under the government's own content type. Single ranges, `If-None-Match` and `If-Range` are honoured.",
        response: answers(fileAnswers('application/octet-stream'), ...FILE_PROBLEMS),
      },
    },
    async (request, reply) => {
      const archive = await visibleArchive(request);
      return sendFile(request, reply, {
        sha256: archive.sha256,
        type: archive.contentType ?? 'application/octet-stream',
        name: `archive-${archive.id}`,
        disposition: 'attachment',
        read: () => wholeArchive(archive),
      });
    },
  );

  app.get(
    '/v1/archives/:id/request',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getArchivedRequest',
        tags: ['documents'],
        summary: 'The exact bytes that were sent for one government answer',
        description: 'Kept for CT-e, whose answers alone do not show what was asked. 404 where none is kept.',
        params: idParams,
        response: answers({ 200: bytes('The SOAP message as it was sent', 'application/soap+xml') }, 'content_damaged'),
      },
    },
    async (request, reply) => {
      const { id, requestKey } = await visibleArchive(request);
      if (requestKey === null) throw new Problem('not_found', 'No request is kept with this answer');
      return reply
        .type('application/soap+xml')
        .header('content-disposition', `attachment; filename="archive-${id}-request"`)
        .send(await objectStore.get(requestKey));
    },
  );
}
