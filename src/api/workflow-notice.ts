import type { FastifyBaseLogger } from 'fastify';
import { z } from 'zod';

/** What did not work along the way although the request itself was done. */
export const warnings = z
  .array(z.object({ code: z.string(), message: z.string() }))
  .describe('Usually empty. `temporal_unreachable`: written down, and carried out once Temporal answers again');

export type Warnings = z.output<typeof warnings>;

/**
 * Tells a workflow of what was written to the database. That Temporal does not answer is no failure of the request: the
 * row holds the work, and housekeeping starts what it says. So it becomes a warning in the answer.
 */
export async function tellWorkflow(tell: () => Promise<void>, log: FastifyBaseLogger): Promise<Warnings> {
  try {
    await tell();
    return [];
  } catch (error) {
    log.warn({ err: error }, 'Temporal was not reached; housekeeping will do it');
    return [
      {
        code: 'temporal_unreachable',
        message: 'Temporal does not answer right now. The request is stored and is carried out once it does.',
      },
    ];
  }
}
