import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import type { Keyring } from '../certificates/keyring.js';
import type { CheckCertificate } from '../model/certificate-acceptance.js';
import type { Clock } from '../platform/clock.js';
import type { Database } from '../storage/database.js';
import type { SecretBox } from '../storage/endpoints.js';
import type { ObjectStore } from '../storage/object-store/index.js';
import type { WebhookSender } from '../webhooks/sender.js';
import type { TemporalGateway } from './temporal-gateway.js';

/** Everything that the API works with. Nothing of it is made, or closed, by the server itself. */
export interface ApiDependencies {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly temporal: TemporalGateway;
  readonly clock: Clock;
  /** The master keys: seal private keys of certificates and stored answers. */
  readonly keyring: Keyring;
  /** The same keys, as webhook secrets are sealed with them. */
  readonly secretBox: SecretBox;
  /** For `POST /v1/webhook-endpoints/{id}/test` alone; everything else is sent by the workers. */
  readonly sender: WebhookSender;
  /** The key of `MALOTE_API_KEY`, with every scope. Null: only keys of the database are valid. */
  readonly bootstrapKey: string | null;
  /** Asks the government whether it takes an uploaded certificate. Null: nobody asks. */
  readonly checkCertificate: CheckCertificate | null;
  /** Divides the waits of the government's rules; 1 in production. */
  readonly timeScale: number;
  /** Where customers reach this API, without a slash at its end. Null: links lead to where their request came in. */
  readonly publicUrl: string | null;
  /** Lets webhooks go to private addresses and over plain HTTP. */
  readonly allowPrivateWebhooks: boolean;
  readonly logger: FastifyBaseLogger;
  readonly metrics: Registry;
  /** True from the moment the process was asked to stop: `/readyz` says so before anything is closed. */
  readonly isStopping: () => boolean;
}
