import { type Command, Option } from 'commander';
import { DOCUMENT_KINDS, DOCUMENT_STATES, FULL_XML } from '../model/document.js';
import { apiOf } from './api-client.js';
import {
  captureEnvironmentOption,
  dayOrInstant,
  documentTypeOption,
  endOf,
  environmentOption,
  instantArgument,
  limitOption,
  nsu,
  startOf,
} from './arguments.js';
import { documentFileCommands } from './document-files.js';
import {
  type Column,
  localTime,
  printFields,
  printJson,
  printList,
  printTable,
  shortened,
  shownTaxId,
  wantsJson,
} from './output.js';

interface Document {
  readonly id: string;
  readonly kind: string;
  readonly key?: string;
  readonly companyId: string;
  readonly documentType: string;
  readonly environment: string;
  readonly nsu?: string;
  readonly direction: string;
  readonly state: string;
  readonly fullXml: string;
  readonly capturedAt: string;
  readonly origin: string;
  readonly suppressed: string | null;
  readonly metadata: {
    readonly number?: string;
    readonly series?: string;
    readonly issuedAt?: string;
    readonly total?: string;
    readonly issuer?: Party;
    readonly recipient?: Party;
  };
  readonly event: {
    readonly type: string;
    readonly description?: string;
    readonly sequence?: number;
    readonly registeredAt?: string;
  } | null;
  readonly manifestationDeadlines?: { readonly awareness: string; readonly conclusive: string };
}

interface Party {
  readonly taxId?: string;
  readonly name?: string;
}

export function documentCommands(program: Command): void {
  const document = program.command('document').description('captured documents');

  document
    .command('list')
    .description('list documents, newest first')
    .option('--company <company>', 'id or tax ID')
    .addOption(documentTypeOption())
    .addOption(environmentOption())
    .addOption(new Option('--kind <kind>', 'what it is').choices(DOCUMENT_KINDS))
    .addOption(new Option('--direction <direction>', 'for or by the company').choices(['received', 'issued']))
    .addOption(new Option('--state <state>', 'as far as is known').choices(DOCUMENT_STATES))
    .addOption(new Option('--full-xml <fullXml>', 'whether the whole document is here').choices(FULL_XML))
    .option('--key <key>', 'access key')
    .option('--nsu <nsu>', 'number in the distribution', nsu)
    .option('--issuer <taxId>', 'tax ID of the issuer')
    .option('--recipient <taxId>', 'tax ID of the recipient')
    .option('--issued-from <day>', 'issued on this day or later; days are those of Brasília', dayOrInstant)
    .option('--issued-to <day>', 'issued on this day or before; or before an instant', dayOrInstant)
    .option('--from <day>', 'captured on this day or later; days are those of Brasília', dayOrInstant)
    .option('--to <day>', 'captured on this day or before; or before an instant', dayOrInstant)
    .option('--manifestation <type>', 'with this manifestation, or "none"')
    .option('--deadline-before <instant>', 'notes to be answered before; a day begins in Brasília', instantArgument)
    .option('--search <words>', 'words of names, numbers and keys')
    .addOption(limitOption())
    .action(async (options, command: Command) => {
      const api = apiOf(command);
      const filter = {
        companyId: options.company === undefined ? undefined : await api.companyId(options.company),
        documentType: options.type,
        environment: options.environment,
        kind: options.kind,
        direction: options.direction,
        state: options.state,
        fullXml: options.fullXml,
        key: options.key,
        nsu: options.nsu,
        issuerTaxId: options.issuer,
        recipientTaxId: options.recipient,
        issuedFrom: options.issuedFrom && startOf(options.issuedFrom),
        issuedTo: options.issuedTo && endOf(options.issuedTo),
        capturedFrom: options.from && startOf(options.from),
        capturedTo: options.to && endOf(options.to),
        manifestation: options.manifestation,
        deadlineBefore: options.deadlineBefore,
        q: options.search,
      };
      const { limit } = options;
      printList(command, await api.list<Document>('/v1/documents', filter, limit), {
        columns: COLUMNS,
        none: 'No document was found.',
        limit,
      });
    });

  document
    .command('show')
    .description('show a document; --json has all that is known of it')
    .argument('<document>', 'id of "malote document list"')
    .action(async (id, _options, command: Command) => {
      show(await apiOf(command).get<Document>(`/v1/documents/${encodeURIComponent(id)}`), command);
    });

  document
    .command('events')
    .description('the events of a document: cancellation, correction letter, manifestations …')
    .argument('<document>', 'id of "malote document list"')
    .action(async (id, _options, command: Command) => {
      const path = `/v1/documents/${encodeURIComponent(id)}/events`;
      const { data } = await apiOf(command).get<{ data: readonly Document[] }>(path);
      if (wantsJson(command)) return data.forEach(printJson);
      printTable(EVENT_COLUMNS, data, 'No event is known.');
    });

  document
    .command('capture')
    .description('get one NFS-e by its key now, from here or from the government; no webhook is sent')
    .argument('<company>', 'id or tax ID')
    .argument('<key>', 'access key of the NFS-e, 50 characters')
    .addOption(captureEnvironmentOption())
    .action(async (company, key, { environment }, command: Command) => {
      const api = apiOf(command);
      const path = `/v1/companies/${await api.companyId(company)}/nfse/${encodeURIComponent(key)}/capture`;
      show(await api.send<Document>('POST', path, undefined, { environment }), command);
    });

  documentFileCommands(document);
}

const COLUMNS: readonly Column<Document>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'NUMBER', value: ({ metadata }) => metadata.number ?? '–', right: true },
  { title: 'TOTAL', value: ({ metadata }) => metadata.total ?? '–', right: true },
  { title: 'ISSUER', value: ({ metadata }) => shortened(metadata.issuer?.name ?? '–') },
  { title: 'CAPTURED', value: ({ capturedAt }) => localTime(capturedAt) },
];

const EVENT_COLUMNS: readonly Column<Document>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'TYPE', value: ({ event }) => event?.type ?? '–' },
  { title: 'NUMBER', value: ({ event }) => String(event?.sequence ?? '–'), right: true },
  { title: 'REGISTERED', value: ({ event }) => event?.registeredAt ?? '–' },
  { title: 'WHAT', value: ({ event }) => shortened(event?.description ?? '–') },
];

function show(document: Document, command: Command): void {
  if (wantsJson(command)) {
    printJson(document);
    return;
  }
  const { metadata, event, manifestationDeadlines: deadlines } = document;
  printFields({
    id: document.id,
    company: document.companyId,
    kind: `${document.kind} (${document.documentType}, ${document.direction}, ${document.environment})`,
    key: document.key,
    NSU: document.nsu && String(BigInt(document.nsu)),
    state: document.state,
    'full XML': document.fullXml,
    number: metadata.number && [metadata.number, metadata.series].filter(Boolean).join(', series '),
    'issued at': metadata.issuedAt,
    total: metadata.total,
    issuer: party(metadata.issuer),
    recipient: party(metadata.recipient),
    event: event && [event.type, event.description].filter(Boolean).join(' '),
    'captured at': `${localTime(document.capturedAt)} (${document.origin})`,
    'without webhook': document.suppressed,
    'Awareness until': deadlines && localTime(deadlines.awareness),
    'answer until': deadlines && localTime(deadlines.conclusive),
  });
}

function party(of: Party | undefined): string | undefined {
  const taxId = of?.taxId === undefined ? undefined : shownTaxId(of.taxId);
  return [of?.name, taxId].filter(Boolean).join(', ');
}
