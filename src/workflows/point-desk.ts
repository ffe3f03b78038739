import { ApplicationFailure, CancellationScope, condition, defineUpdate, setHandler } from '@temporalio/workflow';
import type { CaptureSnapshot } from '../model/capture-state.js';
import { tryParseNsu } from '../model/nsu.js';
import {
  isKeyForm,
  type KeyQuestion,
  type NsuQuestion,
  POINT_FAILURES,
  type PointAnswer,
  type PointAsk,
} from '../model/point-query.js';
import type { CaptureKey } from '../model/words.js';
import type { CallTurn } from './call-turn.js';
import { UPDATES } from './messages.js';
import { pointCalls } from './point-proxies.js';

const queryByNsu = defineUpdate<PointAnswer, [NsuQuestion]>(UPDATES.queryByNsu);
const queryByKey = defineUpdate<PointAnswer, [KeyQuestion]>(UPDATES.queryByKey);

/** Questions that wait or are being asked; more are refused, and their callers try again. */
const MOST_QUESTIONS = 10;

/** What the desk needs of the run that it belongs to. */
export interface DeskParts {
  readonly capture: CaptureKey;
  readonly turn: CallTurn;
  readonly heartbeatTimeout: number | undefined;
  /** Null until the row was read. */
  readonly snapshot: () => CaptureSnapshot | null;
  readonly adopt: (read: CaptureSnapshot) => void;
}

/** Where people ask for single documents: updates `queryByNsu` and `queryByKey`. */
export class PointDesk {
  #questions = 0;
  /** The run is about to end or to go on in a new one: whoever comes now is to come again. */
  closing = false;

  constructor(private readonly parts: DeskParts) {}

  /** Call it before the first await. */
  open(): void {
    setHandler(queryByNsu, (question) => this.#answer(readNsu(question), question.requestId), {
      validator: (question) => this.#admit(() => readNsu(question)),
    });
    setHandler(queryByKey, (question) => this.#answer(readKey(question), question.requestId), {
      validator: (question) => this.#admit(() => readKey(question)),
    });
  }

  #admit(read: () => PointAsk): void {
    if (this.closing) throw refusal('the run is about to end: ask again', POINT_FAILURES.busy);
    if (this.#questions >= MOST_QUESTIONS) {
      throw refusal(`${MOST_QUESTIONS} questions wait already: ask again`, POINT_FAILURES.busy);
    }
    read();
  }

  async #answer(ask: PointAsk, requestId: string | undefined): Promise<PointAnswer> {
    const { capture, turn, heartbeatTimeout, adopt } = this.parts;
    this.#questions += 1;
    try {
      return await CancellationScope.nonCancellable(async () => {
        await condition(() => this.parts.snapshot() !== null);
        return turn.during(async () => {
          const call = pointCalls(capture, summaryOf(ask), heartbeatTimeout);
          const revision = this.parts.snapshot()?.revision ?? 0;
          const { snapshot, ...answer } = await call.queryPoint({
            capture,
            ask,
            revision,
            ...(requestId === undefined ? {} : { requestId }),
          });
          adopt(snapshot);
          return answer;
        });
      });
    } finally {
      this.#questions -= 1;
    }
  }
}

function readNsu(question: unknown): PointAsk {
  const nsu = tryParseNsu((question as Partial<NsuQuestion> | null)?.nsu);
  if (nsu === null) throw refusal('nsu: expected 1 to 15 digits in a string', POINT_FAILURES.malformed);
  return { nsu };
}

function readKey(question: unknown): PointAsk {
  const key = (question as Partial<KeyQuestion> | null)?.key;
  if (typeof key !== 'string' || !isKeyForm(key)) {
    throw refusal('key: expected an access key of 44 characters', POINT_FAILURES.malformed);
  }
  return { key };
}

/** Seen in the event list: no key. */
function summaryOf(ask: PointAsk): string {
  return 'nsu' in ask ? `consNSU ${ask.nsu}` : 'consChNFe';
}

const refusal = (message: string, type: string) => ApplicationFailure.nonRetryable(message, type);
