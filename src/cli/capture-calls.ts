import type { Command } from 'commander';
import { apiOf } from './api-client.js';
import { captureEnvironmentOption, documentTypeArgument, exactlyOne, limitOption, nsu } from './arguments.js';
import { type Capture, CompanyNames, captureLines } from './capture-table.js';
import { CliFailure } from './failure.js';
import { outputOption, STANDARD_OUTPUT, writeTo } from './files.js';
import {
  localTime,
  print,
  printFields,
  printJson,
  printList,
  sayWarnings,
  shortened,
  type Warning,
  wantsJson,
} from './output.js';
import { followed } from './progress.js';

interface Call {
  readonly time: string;
  readonly kind: string;
  readonly fromNsu: string | null;
  readonly status: string;
  readonly statusCode: string | null;
  readonly statusText: string | null;
  readonly documents: number;
  readonly durationMs: number | null;
  readonly archiveId: string | null;
}

interface Reprocess {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly statusCode: string | null;
  readonly statusText: string | null;
  readonly message: string | null;
  readonly retryAt: string | null;
  readonly documents: readonly { readonly id: string; readonly kind: string; readonly nsu?: string }[];
}

/** What was asked of the government, and what can be asked of it besides. */
export function captureCallCommands(capture: Command): void {
  queries(capture);
  archive(capture);
  reprocess(capture);
  setCursor(capture);
  releaseHistory(capture);
}

function queries(capture: Command): void {
  capture
    .command('queries')
    .description('every question that was asked of the government, newest first')
    .argument('<company>', 'id or tax ID')
    .addArgument(documentTypeArgument())
    .addOption(captureEnvironmentOption())
    .option('--kind <kind>', 'such as distNSU, consNSU, consChNFe')
    .option('--status-code <code>', "of the government's answer (cStat), such as 656")
    .addOption(limitOption())
    .action(async (idOrTaxId, type, { environment, kind, statusCode, limit }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/${type}/queries`;
      printList(command, await api.list<Call>(path, { environment, kind, statusCode }, limit), {
        columns: [
          { title: 'TIME', value: ({ time }) => localTime(time) },
          { title: 'KIND', value: (row) => row.kind },
          {
            title: 'FROM NSU',
            value: ({ fromNsu }) => (fromNsu === null ? '–' : String(BigInt(fromNsu))),
            right: true,
          },
          { title: 'ANSWER', value: answerOf },
          { title: 'DOCUMENTS', value: ({ documents }) => String(documents), right: true },
          { title: 'MS', value: ({ durationMs }) => String(durationMs ?? '–'), right: true },
          { title: 'ARCHIVE', value: ({ archiveId }) => archiveId ?? '–' },
        ],
        none: 'Nothing was asked yet.',
        limit,
      });
    });
}

function answerOf({ status, statusCode, statusText }: Call): string {
  if (statusCode === null) return status.replaceAll('_', ' ');
  return shortened([statusCode, statusText].filter(Boolean).join(' '));
}

function archive(capture: Command): void {
  capture
    .command('archive')
    .description('the exact bytes of one answer of the government')
    .argument('<archive>', 'id in "malote capture queries"')
    .option('--request', 'what was sent for it instead; kept for CT-e')
    .addOption(outputOption())
    .action(async (id, { request, output }, command: Command) => {
      const path = `/v1/archives/${encodeURIComponent(id)}`;
      const { bytes } = await apiOf(command).file(request ? `${path}/request` : path);
      writeTo(output ?? STANDARD_OUTPUT, bytes);
    });
}

function reprocess(capture: Command): void {
  capture
    .command('reprocess')
    .description(
      'have one document again, or the documents of one archive: what is here is sent again, else the government is asked',
    )
    .argument('<company>', 'id or tax ID')
    .addArgument(documentTypeArgument())
    .addOption(captureEnvironmentOption())
    .option('--nsu <nsu>', 'by NSU', nsu)
    .option('--key <key>', 'by access key; NF-e only')
    .option('--archive <archive>', 'decode this answer again, without asking anybody; id in "malote capture queries"')
    .action(async (idOrTaxId, type, { environment, nsu: byNsu, key, archive: archiveId }, command: Command) => {
      exactlyOne({ '--nsu': byNsu, '--key': key, '--archive': archiveId });
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/${type}/reprocess`;
      const order = { nsu: byNsu, key, archiveId };
      const first = await api.send<Reprocess>('POST', path, order, { environment });
      const settled =
        first.status === 'pending' ? await untilSettled(() => api.get(`/v1/reprocess-requests/${first.id}`)) : first;
      if (wantsJson(command)) printJson(settled);
      else showReprocess(settled);
      if (settled.status !== 'done') {
        throw new CliFailure(`no document came: the request is ${settled.status.replaceAll('_', ' ')}`);
      }
    });
}

function untilSettled(look: () => Promise<Reprocess>): Promise<Reprocess> {
  return followed(look, ({ status }) => ({ over: status !== 'pending', done: 0, total: 1, unit: 'answers' }));
}

function showReprocess({ id, status, reason, statusCode, statusText, message, retryAt, documents }: Reprocess): void {
  printFields({
    request: id,
    status: reason === null ? status : `${status} (${reason.replaceAll('_', ' ')})`,
    answer: [statusCode, statusText].filter(Boolean).join(' '),
    'which means': message,
    'again at': retryAt && localTime(retryAt),
  });
  for (const { id: of, kind, nsu: number } of documents)
    print(`${of}  ${kind}${number ? `  NSU ${BigInt(number)}` : ''}`);
}

function setCursor(capture: Command): void {
  capture
    .command('set-cursor')
    .description('set the NSU that a capture goes on from, up or down; needs a key with scope admin, and is audited')
    .argument('<company>', 'id or tax ID')
    .addArgument(documentTypeArgument())
    .addOption(captureEnvironmentOption())
    .requiredOption('--nsu <nsu>', 'last NSU searched', nsu)
    .requiredOption('--reason <text>', 'for the audit; 5 to 500 characters')
    .action(async (idOrTaxId, type, { environment, nsu: to, reason }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/${type}/cursor`;
      const answer = await api.send<Capture & { warnings: readonly Warning[] }>(
        'PUT',
        path,
        { nsu: to, reason },
        { environment },
      );
      if (wantsJson(command)) return printJson(answer);
      for (const line of await captureLines([answer], new CompanyNames(api))) print(line);
      sayWarnings(answer.warnings);
    });
}

function releaseHistory(capture: Command): void {
  capture
    .command('release-history')
    .description('list the NFS-e that --cutoff-date kept back, and send their webhooks')
    .argument('<company>', 'id or tax ID')
    .addOption(captureEnvironmentOption())
    .action(async (idOrTaxId, { environment }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(idOrTaxId)}/captures/nfse/release-history`;
      const released = await api.send<{ count: number }>('POST', path, undefined, { environment });
      if (wantsJson(command)) return printJson(released);
      print(`${released.count === 1 ? '1 document' : `${released.count} documents`} released, the oldest first.`);
    });
}
