import type { Command } from 'commander';
import { localTime, printFields, printJson, wantsJson } from './output.js';

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly events: readonly string[] | null;
  readonly companyIds: readonly string[] | null;
  readonly documentTypes: readonly string[] | null;
  readonly disabledReason: string | null;
  readonly failingSince: string | null;
  readonly previousSecretUntil: string | null;
  readonly description: string | null;
}

export const ENDPOINT_ID = 'id of "malote webhook list"';

export function endpointPath(id: string): string {
  return `/v1/webhook-endpoints/${encodeURIComponent(id)}`;
}

/** An endpoint, without its secret. */
export function showEndpoint(endpoint: Endpoint, command: Command): void {
  if (wantsJson(command)) {
    printJson(endpoint);
    return;
  }
  const { failingSince, previousSecretUntil } = endpoint;
  printFields({
    id: endpoint.id,
    url: endpoint.url,
    status: endpoint.status,
    'disabled because': endpoint.disabledReason,
    'failing since': failingSince === null ? null : localTime(failingSince),
    events: endpoint.events?.join(', ') ?? 'all',
    companies: endpoint.companyIds?.join(', ') ?? 'all',
    'document types': endpoint.documentTypes?.join(', ') ?? 'all',
    description: endpoint.description,
    'old secret until': previousSecretUntil === null ? null : localTime(previousSecretUntil),
  });
}
