import Fastify, { type FastifyInstance } from 'fastify';
import { ZodError } from 'zod';
import { type Companies, NotPossible } from '../companies.js';
import type { SimulatedType } from '../distribution/dialect.js';
import type { NfseCompanies } from '../nfse/companies.js';
import {
  certificateSchema,
  clockSchema,
  journalSchema,
  outageSchema,
  policySchema,
  scriptSchema,
} from '../requests.js';
import type { Simulator } from '../simulator.js';

/** Starts the control API on 127.0.0.1: plain HTTP and JSON. docs/simulator.md lists the routes. */
export async function startControlApi(
  simulator: Simulator,
  port: number,
): Promise<{ url: string; stop(): Promise<void> }> {
  const app = Fastify({ forceCloseConnections: true, bodyLimit: 50_000_000 });
  app.setErrorHandler(async (error, _request, reply) => {
    if (error instanceof ZodError) {
      const errors = error.issues.map(({ path, message }) => ({ field: path.join('.'), message }));
      return reply.status(422).send({ error: 'The request has faults', errors });
    }
    if (error instanceof NotPossible) return reply.status(404).send({ error: error.message });
    const { statusCode = 500, message } = error as { statusCode?: number; message: string };
    return reply.status(statusCode).send({ error: message });
  });
  app.setNotFoundHandler(async (request, reply) =>
    reply.status(404).send({ error: `No route ${request.method} ${request.url}: GET / lists them` }),
  );
  general(app, simulator);
  companies(app, simulator);
  behaviour(app, simulator);
  evidence(app, simulator);
  app.get('/', async () => ({ government: simulator.url, control: simulator.controlUrl, routes: routesOf(app) }));
  return { url: await app.listen({ host: '127.0.0.1', port }), stop: () => app.close() };
}

function general(app: FastifyInstance, simulator: Simulator): void {
  app.get('/endpoints', async () => simulator.endpoints());
  app.get('/ca.pem', async (_request, reply) => reply.type('application/x-pem-file').send(simulator.caPem));
  app.post('/certificates', async (request) => {
    const { pfx, ...pem } = simulator.issueA1(certificateSchema.parse(request.body));
    return { pfx: pfx.toString('base64'), ...pem };
  });
  const clock = () => ({ now: new Date(simulator.clock.now()).toISOString(), stopped: simulator.clock.stopped });
  app.get('/clock', async () => clock());
  app.put('/clock', async (request) => {
    const { now, advanceMs = 0, stopped } = clockSchema.parse(request.body);
    simulator.clock.push(now ?? simulator.clock.now() + advanceMs, stopped ?? simulator.clock.stopped);
    return clock();
  });
  app.post('/reset', async () => {
    simulator.reset();
    return { reset: true };
  });
}

/** The companies of a document type: NFS-e has boxes of another kind. */
function companiesOf({ companies: all, nfse }: Simulator, named: unknown): NfseCompanies | Companies {
  return (named as { documentType?: unknown } | null)?.documentType === 'nfse' ? nfse : all;
}

function companies(app: FastifyInstance, simulator: Simulator): void {
  type Who = {
    Params: { taxId: string };
    Querystring: { environment?: 'production' | 'homologation'; documentType?: SimulatedType };
  };
  const { companies: all } = simulator;
  const of = (named: unknown) => companiesOf(simulator, named);
  app.get('/companies', async () => [...all.list(), ...simulator.nfse.list()]);
  app.post('/companies', async ({ body }, reply) => reply.status(201).send(of(body).add(body as never)));
  app.get<Who>('/companies/:taxId', async ({ params, query }) => of(query).get({ ...params, ...query } as never));
  app.delete<Who>('/companies/:taxId', async ({ params, query }, reply) => {
    of(query).remove({ ...params, ...query } as never);
    return reply.status(204).send();
  });
  app.post<Who>('/companies/:taxId/arrivals', async ({ params, body }) =>
    of(body).arrive(withBody(body, params) as never),
  );
  app.post<Who>('/companies/:taxId/documents', async ({ params, body }) =>
    of(body).give(withBody(body, params) as never),
  );
  app.post<Who>('/companies/:taxId/whole', async ({ params, body }) => all.giveWhole(withBody(body, params) as never));
  app.post<Who>('/companies/:taxId/steal', async ({ params, body }) => all.steal(withBody(body, params) as never));
}

function behaviour(app: FastifyInstance, simulator: Simulator): void {
  app.get('/scripts', async () => simulator.scripts.all());
  app.post('/scripts', async (request, reply) => {
    const { count, documentType, taxId, environment, kind, answer } = scriptSchema.parse(request.body);
    const script = simulator.scripts.add({
      ...(documentType === undefined ? {} : { documentType }),
      ...(taxId === undefined ? {} : { taxId }),
      ...(environment === undefined ? {} : { environment }),
      ...(kind === undefined ? {} : { kind }),
      remaining: count,
      answer,
    });
    return reply.status(201).send(script);
  });
  app.delete('/scripts', async (_request, reply) => {
    simulator.scripts.clear();
    return reply.status(204).send();
  });
  app.delete<{ Params: { id: string } }>('/scripts/:id', async (request, reply) => {
    simulator.scripts.clear(Number(request.params.id));
    return reply.status(204).send();
  });
  app.get('/outage', async () => ({ mode: simulator.outage }));
  app.put('/outage', async (request) => {
    simulator.setOutage(outageSchema.parse(request.body).mode);
    return { mode: simulator.outage };
  });
  app.get('/policy', async () => simulator.policy);
  app.put('/policy', async (request) => {
    const wanted = policySchema.parse(request.body);
    const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
    simulator.policy = { ...simulator.policy, ...given };
    return simulator.policy;
  });
}

function evidence(app: FastifyInstance, simulator: Simulator): void {
  app.get('/journal', async (request) => simulator.journal.list(filterOf(request.query)));
  app.get('/violations', async (request) => simulator.journal.violations(filterOf(request.query)));
  app.get('/events', async () => simulator.events.list());
  app.get('/truth', async ({ query }) => companiesOf(simulator, query).truth(query as never));
  app.get('/document', async ({ query }, reply) => {
    const { schema, xml } = companiesOf(simulator, query).document(query as never);
    return reply.type('application/xml; charset=utf-8').header('x-schema', schema).send(xml);
  });
}

function filterOf(query: unknown): Parameters<Simulator['journal']['list']>[0] {
  const filter = journalSchema.parse(query);
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

function withBody<P extends object>(body: unknown, params: P): P {
  return { ...(body as object), ...params };
}

function routesOf(app: FastifyInstance): string[] {
  return app.printRoutes({ commonPrefix: false }).trimEnd().split('\n');
}
