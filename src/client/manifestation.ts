import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { MANIFESTATION_RULES } from '../model/manifestation.js';
import { ENVIRONMENTS, type Environment } from '../model/words.js';
import { captureWorkflowId } from '../workflows/messages.js';
import { EnvironmentUnknown, ManifestationNotPossible } from './errors.js';

export interface ManifestationOptions {
  readonly companyId: string;
  /** Access key of the note, 44 characters. */
  readonly key: string;
  /** `210200` confirmation, `210210` awareness, `210220` operation unknown. */
  readonly type: string;
  /** Default: that of the company's running NF-e capture. */
  readonly environment?: Environment;
}

/** What can be said before anything is sent; the worker checks the rest. @throws {ManifestationNotPossible} */
export function checkRequest(key: string, type: string): void {
  const rule = MANIFESTATION_RULES.get(type);
  if (!rule) throw new ManifestationNotPossible('type: expected 210200, 210210 or 210220');
  if (rule.justified || rule.class === 'tax_reform') {
    throw new ManifestationNotPossible(`${type} needs a justification or fields: request it by the HTTP API`);
  }
  if (!/^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/.test(key)) {
    throw new ManifestationNotPossible('key: expected an access key of 44 characters');
  }
}

/** The environment in which the company's NF-e are captured now. @throws {EnvironmentUnknown} */
export async function runningEnvironment(client: Client, companyId: string): Promise<Environment> {
  const running: Environment[] = [];
  for (const environment of ENVIRONMENTS) {
    if (await isRunning(client, captureWorkflowId({ companyId, documentType: 'nfe', environment }))) {
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
