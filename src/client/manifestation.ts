import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { MANIFESTATION_RULES } from '../model/manifestation.js';
import { type DocumentType, ENVIRONMENTS, type Environment } from '../model/words.js';
import { captureWorkflowId } from '../workflows/messages.js';
import { EnvironmentUnknown, ManifestationNotPossible } from './errors.js';

/** A statement about one document. */
export interface ManifestationOptions {
  readonly companyId: string;
  /** Access key of the document, 44 characters. */
  readonly key: string;
  /** NF-e: `210200` confirmation, `210210` awareness, `210220` operation unknown. CT-e: `610111` takes a disagreement back. */
  readonly type: string;
  /** Default: that of the company's running capture of the document type. */
  readonly environment?: Environment;
}

/**
 * What can be said before anything is sent; the worker checks the rest. Gives the document type that the statement is about.
 *
 * @throws {ManifestationNotPossible}
 */
export function checkRequest(key: string, type: string): DocumentType {
  const rule = MANIFESTATION_RULES.get(type);
  if (!rule) throw new ManifestationNotPossible('type: expected 210200, 210210, 210220 or 610111');
  if (rule.justified || rule.class === 'tax_reform') {
    throw new ManifestationNotPossible(`${type} needs a justification or fields: request it by the HTTP API`);
  }
  if (rule.class === 'once') {
    throw new ManifestationNotPossible(`${type} cannot be taken back: confirm it by the HTTP API`);
  }
  if (!/^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/.test(key)) {
    throw new ManifestationNotPossible('key: expected an access key of 44 characters');
  }
  return rule.documentType;
}

/** The environment in which the company's documents of this type are captured now. @throws {EnvironmentUnknown} */
export async function runningEnvironment(
  client: Client,
  companyId: string,
  documentType: DocumentType,
): Promise<Environment> {
  const running: Environment[] = [];
  for (const environment of ENVIRONMENTS) {
    if (await isRunning(client, captureWorkflowId({ companyId, documentType, environment }))) {
      running.push(environment);
    }
  }
  const [environment, other] = running;
  if (environment === undefined || other !== undefined) throw new EnvironmentUnknown(companyId);
  return environment;
}

async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
