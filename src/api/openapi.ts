import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { Scope } from './api.js';

const TAGS = [
  { name: 'companies', description: 'Tax IDs that documents are captured for, and their certificates' },
  { name: 'captures', description: 'What runs for a company, and where it stands' },
  { name: 'documents', description: 'What was captured' },
  { name: 'exports', description: 'Documents of a period in one ZIP, and documents from elsewhere' },
  { name: 'manifestations', description: 'What companies say about documents that they received' },
  { name: 'webhooks', description: 'Endpoints, deliveries, and the feed for customers without an endpoint' },
  { name: 'operations', description: 'Usage, alerts, API keys, health' },
];

/** OpenAPI 3.1, made from the schemas that validate the requests. */
export const openApiDocument: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Malote',
      version: '1',
      description:
        'Fetches the fiscal documents that others issue to a Brazilian company, all of them. JSON, UTF-8; an instant is RFC 3339 with its offset, ' +
        'an amount a decimal string, an NSU a string of 15 digits; tax IDs and keys are strings too: letters are legal in them. ' +
        'Lists give `{ data, nextCursor }`. Every answer carries `X-Request-Id`. Errors are `application/problem+json` with a stable `code`. ' +
        'Fields and values may be added at any time: ignore what you do not know.',
    },
    tags: TAGS,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `mlt_…`. `x-scope` of an operation names the scope that the key needs',
        },
      },
    },
  },
  transform: (route) => {
    const transformed = jsonSchemaTransform(route);
    const { scope } = (route.route.config ?? {}) as { scope?: Scope };
    if (scope === undefined) return transformed;
    const schema = { ...transformed.schema, security: [{ apiKey: [] }], 'x-scope': scope };
    if (route.route.method === 'POST') Object.assign(schema, { headers: IDEMPOTENCY_HEADER });
    return { ...transformed, schema };
  },
  transformObject: (document) => withoutUnused(jsonSchemaTransformObject(document)),
};

const IDEMPOTENCY_HEADER = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'A repeat with the same key and body within 24 hours gets the answer of the first and changes nothing',
    },
  },
};

type Document = ReturnType<typeof jsonSchemaTransformObject>;

/** Every named schema comes out twice, as input and as output: keeps the ones that something refers to. */
function withoutUnused(document: Document): Document {
  const { components, ...rest } = document as { readonly components?: { readonly schemas?: Record<string, unknown> } };
  const all = components?.schemas ?? {};
  const kept = new Set<string>();
  const keep = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (name === undefined || kept.has(name)) continue;
      kept.add(name);
      keep(all[name]);
    }
  };
  keep(rest);
  const schemas = Object.fromEntries(Object.entries(all).filter(([name]) => kept.has(name)));
  return { ...rest, components: { ...components, schemas } } as Document;
}
