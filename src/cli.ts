#!/usr/bin/env node
import { report } from './cli/failure.js';
import { buildProgram } from './cli/program.js';

// Whoever reads our output may stop reading (`malote document list | head`): that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  await buildProgram().parseAsync();
} catch (error) {
  process.exitCode = report(error, process.argv.includes('--json'));
}
