import { type Command, InvalidArgumentError, Option } from 'commander';
import { collected, dayArgument, instantArgument, nsu } from './arguments.js';
import { wrongUse } from './failure.js';

const ALL = 'all';
const NONE = 'none';

/** Options of a capture, as the API calls them. What is not given stays; `--no-…` takes an option away. */
export function withCaptureOptions(command: Command): Command {
  return command
    .option('--start-nsu <nsu>', 'NSU to start after, when moving from other software', nsu)
    .option('--not-before <instant>', 'ask nothing before this instant', instantArgument)
    .option('--no-not-before', 'ask as soon as the rules let it')
    .option('--min-interval <minutes>', 'least wait after an empty queue; never shortens the one of the rules', minutes)
    .option('--no-min-interval', 'only the wait of the rules')
    .option('--webhook-url <url>', 'send what is captured there')
    .option('--no-webhook-url', 'delete that endpoint')
    .option('--handler <queue:activity>', 'hand every page to this activity of your own worker', handler)
    .option('--no-handler', 'hand pages to nobody')
    .option(
      '--auto-awareness [minutes]',
      'NF-e: register Awareness where the full document has not come after so long (5 or more; default 30)',
      minutes,
    )
    .option('--no-auto-awareness', 'NF-e: register none by itself')
    .option(
      '--event-type <type>',
      `CT-e: webhooks for events of this type only, such as 110111; may be given several times; "${ALL}", "${NONE}"`,
      collected,
    )
    .addOption(
      new Option(
        '--interested-party <role>',
        `CT-e: webhooks only where the company has this role: taker, sender, dispatcher, receiver, recipient; may be given several times; "${ALL}"`,
      ).argParser(collected),
    )
    .option('--capture-issued', 'NFS-e: list and tell of notes that the company itself issued, too')
    .option('--no-capture-issued', 'NFS-e: leave them out')
    .option(
      '--cutoff-date <day>',
      'NFS-e: keep back notes issued before this day until "malote capture release-history"',
      dayArgument,
    )
    .option('--no-cutoff-date', 'NFS-e: keep none back');
}

interface Given {
  readonly startNsu?: string;
  readonly notBefore?: string | false;
  readonly minInterval?: number | false;
  readonly webhookUrl?: string | false;
  readonly handler?: Handler | false;
  /** True: without minutes. */
  readonly autoAwareness?: number | boolean;
  readonly eventType?: readonly string[];
  readonly interestedParty?: readonly string[];
  readonly captureIssued?: boolean;
  readonly cutoffDate?: string | false;
}

/** The same as fields of the request. */
export function captureOrder(given: Given): Record<string, unknown> {
  return {
    startNsu: given.startNsu,
    notBefore: orNull(given.notBefore),
    minIntervalMinutes: orNull(given.minInterval),
    webhookUrl: orNull(given.webhookUrl),
    handler: orNull(given.handler),
    autoAwareness: awareness(given.autoAwareness),
    eventTypes: list('--event-type', given.eventType),
    interestedParties: list('--interested-party', given.interestedParty),
    captureIssued: given.captureIssued,
    cutoffDate: orNull(given.cutoffDate),
  };
}

function orNull<T>(value: T | false | undefined): T | null | undefined {
  return value === false ? null : value;
}

function awareness(given: number | boolean | undefined) {
  if (given === undefined || given === false) return orNull(given);
  return { enabled: true, ...(given !== true && { minutesToWait: given }) };
}

function list(option: string, values: readonly string[] | undefined): readonly string[] | null | undefined {
  const word = values?.find((value) => value === ALL || value === NONE);
  if (word === undefined) return values;
  if (values?.length !== 1) throw wrongUse(`${option} ${word} stands alone`);
  return word === ALL ? null : [];
}

interface Handler {
  readonly taskQueue: string;
  readonly activity: string;
}

function handler(text: string): Handler {
  const [, taskQueue, activity] = /^(.+):([^:]+)$/.exec(text) ?? [];
  if (taskQueue === undefined || activity === undefined) {
    throw new InvalidArgumentError('Expected <task queue>:<activity>.');
  }
  return { taskQueue, activity };
}

function minutes(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of minutes.');
  return Number(text);
}
