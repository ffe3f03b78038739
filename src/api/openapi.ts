import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { Scope } from './api.js';

const TAGS = [
  { name: 'companies', description: 'Tax IDs that documents are captured for, and their certificates' },
  { name: 'captures', description: 'What runs for a company, and where it stands' },
  { name: 'documents', description: 'What was captured' },
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
        'Captures every fiscal document issued against a Brazilian company. JSON, UTF-8; times in RFC 3339 with offset; ' +
        'amounts as decimal strings; NSUs as 15-digit strings; tax IDs and keys as strings, in which letters are legal. ' +
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
    const config = route.route.config as { scope?: Scope } | undefined;
    return config?.scope === undefined
      ? transformed
      : { ...transformed, schema: { ...transformed.schema, security: [{ apiKey: [] }], 'x-scope': config.scope } };
  },
  transformObject: jsonSchemaTransformObject,
};
