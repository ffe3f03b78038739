import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

/**
 * The workflow code: the bundle that the build made beside this program, or, when running from source, the source itself, which
 * the worker then bundles at start.
 */
export function workflowSource(): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> {
  const bundle = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  if (existsSync(bundle)) return { workflowBundle: { codePath: bundle } };
  const fromSource = import.meta.url.endsWith('.ts');
  return { workflowsPath: fileURLToPath(new URL(`../workflows/index.${fromSource ? 'ts' : 'js'}`, import.meta.url)) };
}
