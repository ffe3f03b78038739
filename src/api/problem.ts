import { ERROR_CATALOGUE, type ProblemCode } from './error-catalogue.js';

/** One input fault: which field (dots between levels), and what was expected of it. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

interface ProblemExtras {
  readonly errors?: readonly FieldFault[];
  /** Seconds until the same request can succeed. */
  readonly retryAfter?: number;
}

/** An answer that is an error, thrown by handlers and turned into `application/problem+json` (RFC 9457) at one place. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;

  /**
   * @param code one of the catalogue; it brings status and title
   * @param detail what is wrong in this case; shown to the caller, so no secrets and nothing of other companies
   */
  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly extras: ProblemExtras = {},
  ) {
    super(`${code}: ${detail}`);
    this.status = ERROR_CATALOGUE[code].status;
  }

  /** The body of the answer. `requestId` lets a user quote one thing to find the log line. */
  body(requestId: string): ProblemBody {
    const { title, status } = ERROR_CATALOGUE[this.code];
    return {
      type: `urn:malote:problem:${this.code}`,
      title,
      status,
      detail: this.detail,
      code: this.code,
      requestId,
      ...(this.extras.errors === undefined ? {} : { errors: this.extras.errors }),
    };
  }
}

/** RFC 9457, with a stable `code` and the faults by field. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly requestId: string;
  readonly errors?: readonly FieldFault[];
}

/** Input faults that a schema cannot see (a cross-check, a look-up). */
export function invalidInput(...errors: readonly FieldFault[]): Problem {
  const fields = errors.map((error) => error.field).join(', ');
  return new Problem('invalid_input', `Not valid: ${fields}`, { errors });
}

/** The same words for what does not exist and for what this key may not see. */
export function notFound(what: string): Problem {
  return new Problem('not_found', `No ${what} with this id is visible to this key`);
}
