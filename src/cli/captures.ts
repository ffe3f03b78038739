import { Argument, type Command, Option } from 'commander';
import pLimit from 'p-limit';
import { DOCUMENT_TYPES, PHASES } from '../model/words.js';
import { type ApiClient, apiOf } from './api-client.js';
import {
  captureEnvironmentOption,
  documentTypeArgument,
  documentTypeOption,
  environmentOption,
  instantArgument,
  limitOption,
} from './arguments.js';
import { captureCallCommands } from './capture-calls.js';
import { printCapture } from './capture-fields.js';
import { captureOrder, withCaptureOptions } from './capture-options.js';
import { type Capture, CompanyNames, captureLines, watchCaptures } from './capture-table.js';
import { CliFailure, wrongUse } from './failure.js';
import { print, printJson, say, sayWarnings, type Warning, wantsJson } from './output.js';

interface OrderedCapture extends Capture {
  readonly warnings: readonly Warning[];
  readonly webhookEndpoint?: { readonly id: string; readonly secret: string | null } | null;
}

/** Orders at once when many captures are meant. */
const CONCURRENCY = 10;

export function captureCommands(program: Command): void {
  const capture = program.command('capture').description('captures: what runs for a company');
  start(capture);
  stop(capture);
  status(capture);
  resume(capture);
  pause(capture);
  show(capture);
  captureCallCommands(capture);
}

function start(capture: Command): void {
  withCaptureOptions(capture.command('start'))
    .description('start a capture, or change its options: what is not given stays')
    .argument('<company>', 'id or tax ID')
    .addArgument(documentTypeArgument())
    .addOption(environmentOption().default('homologation'))
    .action(async (idOrTaxId, type, options, command: Command) => {
      const api = apiOf(command);
      const body = { environment: options.environment, ...captureOrder(options) };
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/${type}`;
      const answer = await api.send<OrderedCapture>('PUT', path, body);
      await shown(api, answer, command);
      const endpoint = answer.webhookEndpoint;
      if (!wantsJson(command) && endpoint?.secret) {
        print(`Webhook endpoint ${endpoint.id}. Its secret, shown only now: ${endpoint.secret}`);
      }
    });
}

function stop(capture: Command): void {
  capture
    .command('stop')
    .description('stop a capture; a later start goes on where it stopped')
    .argument('<company>', 'id or tax ID')
    .addArgument(documentTypeArgument())
    .addOption(captureEnvironmentOption())
    .action(async (idOrTaxId, type, { environment }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/${type}`;
      await shown(api, await api.send<OrderedCapture>('DELETE', path, undefined, { environment }), command);
    });
}

function status(capture: Command): void {
  withFilters(capture.command('status'))
    .description('where captures stand')
    .argument('[company]', 'id or tax ID; default: all')
    .option('--watch', 'go on showing what changes, until Ctrl-C')
    .addOption(limitOption())
    .action(async (idOrTaxId, { watch, limit, ...options }, command: Command) => {
      const api = apiOf(command);
      const read = await reader(api, idOrTaxId, filterOf(options), limit);
      const names = new CompanyNames(api);
      if (watch === true) return watchCaptures(read, names, wantsJson(command));
      const rows = await read();
      if (wantsJson(command)) return rows.forEach(printJson);
      if (rows.length === 0) return say('No capture. Start one with "malote capture start <company>".');
      for (const line of await captureLines(rows, names)) print(line);
      if (rows.length === limit) say(`The first ${limit}: --limit shows more.`);
    });
}

function resume(capture: Command): void {
  withFilters(capture.command('resume'))
    .description('leave attention, disabled or a pause: one capture, or all that the filters find')
    .argument('[company]', 'id or tax ID')
    .addArgument(new Argument('[type]', 'document type; default: all that run').choices(DOCUMENT_TYPES))
    .action(async (idOrTaxId, type, options, command: Command) => {
      if (type !== undefined && options.type !== undefined && type !== options.type) {
        throw wrongUse(`resume ${type}, or ${options.type}? Name the document type once`);
      }
      const filter = filterOf({ ...options, ...(type !== undefined && { type }) });
      if (idOrTaxId === undefined && filter.phase === undefined) {
        throw wrongUse('name a company, or the phase to leave, such as --phase attention');
      }
      const api = apiOf(command);
      const found = await (await reader(api, idOrTaxId, { ...filter, enabled: true }, ALL))();
      if (found.length === 0 && idOrTaxId !== undefined) {
        throw new CliFailure('no such capture runs: see "malote capture status", start it with "malote capture start"');
      }
      const oneOf = pLimit(CONCURRENCY);
      const answers = await oneOf.map(found, ({ companyId, documentType, environment }) =>
        api.send<OrderedCapture>('POST', `/v1/companies/${companyId}/captures/${documentType}/resume`, undefined, {
          environment,
        }),
      );
      if (wantsJson(command)) return answers.forEach(printJson);
      say(`${answers.length === 1 ? '1 capture' : `${answers.length} captures`} resumed.`);
      sayWarnings(answers.flatMap(({ warnings }) => warnings));
    });
}

function pause(capture: Command): void {
  capture
    .command('pause')
    .description('hold a capture until an instant, or until it is resumed')
    .argument('<company>', 'id or tax ID')
    .addArgument(documentTypeArgument())
    .addOption(captureEnvironmentOption())
    .option('--until <instant>', 'default: until "malote capture resume"', instantArgument)
    .action(async (idOrTaxId, type, { until, environment }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/${type}/pause`;
      await shown(api, await api.send<OrderedCapture>('POST', path, { until }, { environment }), command);
    });
}

function show(capture: Command): void {
  capture
    .command('show')
    .description('show one capture with its options')
    .argument('<company>', 'id or tax ID')
    .addArgument(documentTypeArgument())
    .addOption(captureEnvironmentOption())
    .action(async (idOrTaxId, type, { environment }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/${type}`;
      const found = await api.get<Capture>(path, { environment });
      if (wantsJson(command)) printJson(found);
      else printCapture(found);
    });
}

interface CaptureFilter {
  readonly documentType?: string;
  readonly environment?: string;
  readonly phase?: string;
  readonly uf?: string;
  readonly enabled?: boolean;
}

function withFilters(command: Command): Command {
  return command
    .addOption(documentTypeOption())
    .addOption(environmentOption())
    .addOption(new Option('--phase <phase>', 'where they stand').choices(PHASES))
    .option('--uf <state>', 'state of the company in two letters, such as SP');
}

function filterOf({ type, environment, phase, uf }: Record<string, string | undefined>): CaptureFilter {
  return {
    ...(type === undefined ? {} : { documentType: type }),
    ...(environment === undefined ? {} : { environment }),
    ...(phase === undefined ? {} : { phase }),
    ...(uf === undefined ? {} : { uf: uf.toUpperCase() }),
  };
}

const ALL = Number.MAX_SAFE_INTEGER;

/** Reads the captures that a company and filters mean, again and again. */
async function reader(
  api: ApiClient,
  idOrTaxId: string | undefined,
  filter: CaptureFilter,
  most: number,
): Promise<() => Promise<Capture[]>> {
  if (idOrTaxId === undefined) return () => api.list<Capture>('/v1/captures', { ...filter }, most);
  const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures`;
  const wanted = Object.entries(filter).filter(([name]) => name !== 'uf') as [keyof Capture, unknown][];
  return async () => {
    const { data } = await api.get<{ data: Capture[] }>(path);
    return data.filter((one) => wanted.every(([name, value]) => one[name] === value));
  };
}

async function shown(api: ApiClient, answer: OrderedCapture, command: Command): Promise<void> {
  if (wantsJson(command)) return printJson(answer);
  for (const line of await captureLines([answer], new CompanyNames(api))) print(line);
  sayWarnings(answer.warnings);
}
