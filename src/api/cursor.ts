import { z } from 'zod';
import { captureTarget, recordAudit } from '../storage/audit.js';
import { setCursor } from '../storage/capture-orders.js';
import { type Api, answers, BODY_PROBLEMS } from './api.js';
import { callerOf } from './authorization.js';
import { captureState, captureViews } from './capture-view.js';
import { captureParams, captureQuery, namedCapture } from './captures.js';
import type { ApiDependencies } from './dependencies.js';
import { secondsUntil } from './point-problems.js';
import { Problem } from './problem.js';
import { nsuInput, text } from './schemas/common.js';
import { tellWorkflow, warnings } from './workflow-notice.js';

/** `PUT …/captures/{documentType}/cursor`: the one way down. */
export function cursorRoutes(app: Api, deps: ApiDependencies): void {
  app.put(
    '/v1/companies/:companyId/captures/:documentType/cursor',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'setCursor',
        tags: ['captures'],
        summary: "Set a capture's cursor, up or down",
        description:
          'For administrators, audited. No wait is shortened. What is passed over on the way up becomes a range at `…/gaps` that waits for your word. ' +
          'The government expects the pointer of its last answer and may refuse another one for an hour (656), whose answer then sets the cursor.',
        params: captureParams,
        querystring: captureQuery,
        body: z.strictObject({ nsu: nsuInput.describe('Last NSU searched'), reason: text(500, 5) }),
        response: answers(
          { 200: captureState.extend({ warnings }).meta({ id: 'CursorSet', description: 'The state right after it' }) },
          'query_in_hand',
          ...BODY_PROBLEMS,
        ),
      },
    },
    async (request) => {
      const capture = await namedCapture(deps, request);
      const { nsu, reason } = request.body;
      const now = await deps.clock.now();
      const row = await deps.database.transaction(async (tx) => {
        const answer = await setCursor(tx, capture, nsu, now);
        if (!answer.ok) throw refused(answer, now);
        await recordAudit(tx, {
          actor: callerOf(request).actor,
          action: 'capture.set_cursor',
          target: captureTarget(capture),
          detail: { from: answer.before, to: nsu, reason },
        });
        return answer.row;
      });
      const told = await tellWorkflow(() => deps.temporal.wakeCapture(capture), request.log);
      const [view] = await captureViews(deps, [row]);
      if (view === undefined) throw new Error('one row has one view');
      return { ...view, warnings: told };
    },
  );
}

function refused(answer: Extract<Awaited<ReturnType<typeof setCursor>>, { ok: false }>, now: number): Problem {
  if (answer.problem === 'unknown') return new Problem('not_found', 'This capture was never started');
  return new Problem('query_in_hand', 'A query of this capture is in the air: its page would move the cursor on', {
    retryAfter: secondsUntil(answer.until, now),
  });
}
