import fastifySwagger from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import fastify, { LogController } from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { alertRoutes } from './alerts.js';
import type { Api } from './api.js';
import { apiKeyRoutes } from './api-keys.js';
import { archiveRoutes } from './archives.js';
import { requireKeys } from './authorization.js';
import { callLogRoutes } from './call-log.js';
import { captureRoutes } from './captures.js';
import { certificateRoutes } from './certificates.js';
import { companyRoutes } from './companies.js';
import { companyDeletionRoutes } from './company-deletion.js';
import { cursorRoutes } from './cursor.js';
import type { ApiDependencies } from './dependencies.js';
import { documentRoutes } from './documents.js';
import { answerError, sendProblem } from './error-handler.js';
import { eventFeedRoutes } from './event-feed.js';
import { exportRoutes } from './exports.js';
import { fileRoutes } from './file-routes.js';
import { gapRoutes } from './gaps.js';
import { healthRoutes } from './health.js';
import { honourIdempotencyKeys } from './idempotency.js';
import { importRoutes } from './imports.js';
import { manifestationRoutes } from './manifestations.js';
import { nfseOnDemandRoutes } from './nfse-on-demand.js';
import { openApiDocument } from './openapi.js';
import { Problem } from './problem.js';
import { referencePage } from './reference-page.js';
import { releaseHistoryRoutes } from './release-history.js';
import { reprocessRoutes } from './reprocess.js';
import { requestId, traceRequests } from './request-trace.js';
import { usageRoutes } from './usage.js';
import { webhookDeliveryRoutes } from './webhook-deliveries.js';
import { webhookEndpointActionRoutes } from './webhook-endpoint-actions.js';
import { webhookEndpointRoutes } from './webhook-endpoints.js';

/** Bytes of a request's body. The largest legal one is a certificate file of 64 kB in base64. */
const BODY_LIMIT = 128 * 1024;

/** The whole HTTP API, not yet listening. Closing it closes none of its dependencies. */
export async function buildServer(deps: ApiDependencies): Promise<Api> {
  const app: Api = fastify({
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    requestIdHeader: false,
    bodyLimit: BODY_LIMIT,
    frameworkErrors: answerError,
    // Keep-alive connections without a request must not hold up a stop.
    forceCloseConnections: 'idle',
  }).withTypeProvider<ZodTypeProvider>();

  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) => {
    sendProblem(new Problem('route_not_found', `There is no ${request.method} on this path`), request, reply);
  });
  acceptOnlyJson(app);
  // A connection kept alive after its last answer would hold up the stop for a minute.
  app.addHook('onSend', async (_, reply) => {
    if (deps.isStopping()) reply.header('connection', 'close');
  });
  traceRequests(app, deps.metrics);
  requireKeys(app, deps);
  honourIdempotencyKeys(app, deps);

  await app.register(fastifySwagger, openApiDocument);
  await app.register(fastifySwaggerUi, referencePage);
  app.after(() => {
    for (const routes of ROUTES) routes(app, deps);
  });
  await app.ready();
  return app;
}

const ROUTES = [
  companyRoutes,
  companyDeletionRoutes,
  certificateRoutes,
  captureRoutes,
  cursorRoutes,
  gapRoutes,
  reprocessRoutes,
  releaseHistoryRoutes,
  callLogRoutes,
  documentRoutes,
  fileRoutes,
  manifestationRoutes,
  nfseOnDemandRoutes,
  archiveRoutes,
  exportRoutes,
  importRoutes,
  eventFeedRoutes,
  webhookEndpointRoutes,
  webhookEndpointActionRoutes,
  webhookDeliveryRoutes,
  usageRoutes,
  alertRoutes,
  apiKeyRoutes,
  healthRoutes,
];

/** JSON alone, and none at all: many clients say JSON on every POST, also where there is nothing to send. */
function acceptOnlyJson(app: Api): void {
  app.removeContentTypeParser('text/plain');
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parse(request, body.toString(), done);
  });
}
