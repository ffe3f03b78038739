import { readFileSync } from 'node:fs';
import { z } from 'zod';

/**
 * Every environment variable of Malote, with what the manual says of it (docs/operating.md is tested against this list).
 * Messages never repeat a value that may be secret.
 */
export const variables = z.object({
  DATABASE_URL: z
    .string()
    .refine((text) => URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol), {
      error: 'is no PostgreSQL address: expected postgresql://user:password@host:5432/database',
    })
    .optional()
    .meta({ default: 'embedded PostgreSQL', what: 'PostgreSQL 15 or newer' }),

  MALOTE_OBJECT_STORE: z
    .string()
    .refine((text) => isObjectStore(text), {
      error: 'is no object store: expected file:///absolute/path or s3://bucket/prefix?endpoint=…&region=…',
    })
    .optional()
    .meta({
      default: '`objects` in the data folder',
      what: '`file:///path`, or `s3://bucket/prefix?endpoint=…&region=…` with credentials from the standard AWS variables',
    }),

  MALOTE_DATA: z
    .string()
    .default('.malote')
    .meta({ default: '`.malote`', what: 'folder of the embedded default: database, Temporal, objects, keys' }),

  MALOTE_MASTER_KEY: z.string().optional().meta({
    default: 'made once by the embedded default',
    what: 'base64 of 32 bytes; encrypts certificates and webhook secrets, signs download links. With several, separated by commas, the first encrypts and signs, all decrypt and verify',
  }),

  MALOTE_API_KEY: z
    .string()
    .regex(/^mlt_[A-Za-z0-9_-]{32,}$/, { error: 'must be mlt_ and at least 32 letters, digits, _ or -' })
    .optional()
    .meta({
      default: 'made once by the embedded default',
      what: 'first API key, with every scope; make further ones through the API',
    }),

  MALOTE_HTTP_PORT: port().default(3000).meta({ default: '3000', what: 'port of the API' }),

  MALOTE_HTTP_HOST: z.string().optional().meta({
    default: '`127.0.0.1` for `malote dev`, `0.0.0.0` for `malote api`',
    what: 'address that the API listens on',
  }),

  MALOTE_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'is no http or https address' })
    .refine((text) => !/[?#]/.test(text), { error: 'must be an address without ? and #' })
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .meta({
      default: 'the address that the request came to',
      what: 'where customers reach the API, for the [links](api.md#files) that it makes; needed behind a proxy that ends TLS',
    }),

  MALOTE_WORKER_PORT: port()
    .optional()
    .meta({ default: 'none', what: 'port of a worker process for `/healthz` and `/metrics`' }),

  MALOTE_TEMPORAL_METRICS_PORT: port()
    .optional()
    .meta({ default: 'none', what: "port for the Temporal SDK's own Prometheus metrics" }),

  MALOTE_API_URL: z
    .url({ protocol: /^https?$/, error: 'is no http or https address' })
    .optional()
    .meta({
      default: 'the running `malote dev`, else `http://127.0.0.1:3000`',
      what: 'where the command line finds the API',
    }),

  MALOTE_ENDPOINTS_FILE: contentOf()
    .optional()
    .meta({ default: 'none', what: 'JSON file with government addresses over the built-in ones' }),

  MALOTE_GOVERNMENT_CA_FILE: contentOf().optional().meta({
    default: "the bundled ICP-Brasil roots and Mozilla's",
    what: 'PEM file of further authorities, trusted for government addresses and for nothing else',
  }),

  MALOTE_RATE_NFE: rate().default(30).meta({ default: '30', what: 'NF-e calls per second, over all workers' }),
  MALOTE_RATE_CTE: rate().default(30).meta({ default: '30', what: 'CT-e calls per second, over all workers' }),
  MALOTE_RATE_NFSE: rate().default(20).meta({ default: '20', what: 'NFS-e calls per second, over all workers' }),

  MALOTE_TIME_SCALE: decimal()
    .refine((scale) => scale >= 1 && scale <= 100_000, { error: 'must be a number from 1 to 100000' })
    .optional()
    .meta({
      default: '1 (`malote dev` with the simulator: 60)',
      what: 'divides the waits of the government’s rules, for tests and demonstrations. Refused where the government itself would be asked, and in a data folder whose captures began on another scale',
    }),

  MALOTE_ALLOW_PRIVATE_WEBHOOKS: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .default(false)
    .meta({ default: 'false', what: 'lets webhooks go to private, loopback and link-local addresses' }),

  MALOTE_SMTP_URL: z
    .string()
    .refine((text) => isSmtp(text), {
      error: 'is no mail server: expected smtp://user:password@host:587 or smtps://user:password@host:465',
    })
    .optional()
    .meta({
      default: 'none: no mails',
      what: 'mail server for [alerts](#mail): `smtp://user:password@host:587` (STARTTLS, which a password insists on) or `smtps://…:465`',
    }),

  MALOTE_ALERT_EMAIL_FROM: z
    .email({ error: 'is no mail address' })
    .optional()
    .meta({ default: 'none', what: 'sender of those mails' }),

  MALOTE_ALERT_EMAIL_TO: z
    .string()
    .refine((text) => addressesIn(text).every((address) => z.email().safeParse(address).success), {
      error: 'must be mail addresses, separated by commas',
    })
    .transform(addressesIn)
    .optional()
    .meta({ default: 'none', what: 'who gets those mails: addresses, separated by commas' }),

  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be trace, debug, info, warn, error, fatal or silent',
    })
    .default('info')
    .meta({ default: '`info`', what: 'least level that is logged' }),
});

function decimal() {
  return z.string().transform((text) => (/^[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text) : Number.NaN));
}

function port() {
  return decimal().refine((value) => Number.isInteger(value) && value >= 1 && value <= 65_535, {
    error: 'is no port: expected a whole number from 1 to 65535',
  });
}

function rate() {
  return decimal().refine((value) => value > 0 && value <= 10_000, {
    error: 'must be a number of calls per second above 0 and up to 10000',
  });
}

function addressesIn(text: string): string[] {
  return text.split(',').map((address) => address.trim());
}

function isSmtp(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  // A percent sign that encodes nothing: it was meant to be one, and had to be written %25.
  const encoded = `${username}${password}`.replace(/%[0-9A-Fa-f]{2}/g, '');
  return /^smtps?:$/.test(protocol) && hostname !== '' && !encoded.includes('%');
}

function isObjectStore(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, pathname } = new URL(text);
  return protocol === 's3:' ? host !== '' : protocol === 'file:' && host === '' && pathname.length > 1;
}

/** The content of the file that the variable names. */
function contentOf() {
  return z.string().transform((path, context) => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      context.addIssue(`names ${path}, which cannot be read (${(error as NodeJS.ErrnoException).code})`);
      return z.NEVER;
    }
  });
}
