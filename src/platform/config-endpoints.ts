import { z } from 'zod';
import { ENVIRONMENTS } from '../model/words.js';

/** Government addresses that an installation may replace, per environment (design.md section 9, MALOTE_ENDPOINTS_FILE). */
export const ENDPOINT_NAMES = [
  'nfeDistribution',
  'nfeEvent',
  'nfeEventSvrs',
  'cteDistribution',
  'cteEvent',
  'adn',
  'sefin',
] as const;
export type EndpointName = (typeof ENDPOINT_NAMES)[number];

const address = z.string().refine((text) => URL.canParse(text) && new URL(text).protocol === 'https:', {
  error: 'is no https address',
});
const addresses = z.strictObject(
  Object.fromEntries(ENDPOINT_NAMES.map((name) => [name, address.optional()])) as Record<
    EndpointName,
    z.ZodOptional<typeof address>
  >,
);

/** Content of the endpoints file. Every part may be absent: then the built-in address holds. */
export const endpointsFile = z.strictObject(
  Object.fromEntries(ENVIRONMENTS.map((name) => [name, addresses.optional()])) as Record<
    (typeof ENVIRONMENTS)[number],
    z.ZodOptional<typeof addresses>
  >,
);
export type EndpointOverrides = z.infer<typeof endpointsFile>;
