#!/usr/bin/env node
import { report } from './cli/failure.js';
import { buildProgram } from './cli/program.js';

// Whoever reads our output may stop reading (`malote document list | head`): that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const asJson = process.argv.includes('--json');
try {
  await buildProgram(asJson).parseAsync();
} catch (error) {
  process.exitCode = report(error, asJson);
}
