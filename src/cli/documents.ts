import { writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { DOCUMENT_KINDS } from '../model/document.js';
import { type ApiClient, apiOf } from './api-client.js';
import {
  dayOrInstant,
  documentTypeOption,
  endOf,
  environmentOption,
  instantArgument,
  mostRows,
  startOf,
} from './arguments.js';
import { CliFailure, wrongUse } from './failure.js';
import { localTime, printFields, printJson, printTable, say, shortened, wantsJson } from './output.js';

interface Document {
  readonly id: string;
  readonly kind: string;
  readonly key?: string;
  readonly direction: string;
  readonly state: string;
  readonly capturedAt: string;
  readonly metadata: {
    readonly number?: string;
    readonly total?: string;
    readonly issuer?: { readonly name?: string };
  };
}

export function documentCommands(program: Command): void {
  const document = program.command('document').description('captured documents');

  document
    .command('list')
    .description('list documents, newest first')
    .option('--company <company>', 'id or tax ID')
    .addOption(documentTypeOption())
    .addOption(environmentOption())
    .addOption(new Option('--kind <kind>').choices(DOCUMENT_KINDS))
    .addOption(new Option('--direction <direction>').choices(['received', 'issued']))
    .option('--key <key>', 'access key')
    .option('--issuer <taxId>', 'tax ID of the issuer')
    .option('--from <day>', 'captured on this day or later; days are those of Brasília', dayOrInstant)
    .option('--to <day>', 'captured on this day or before; or before an instant', dayOrInstant)
    .option('--manifestation <type>', 'with this manifestation, or "none"')
    .option('--deadline-before <instant>', 'notes to be answered before; a day begins in Brasília', instantArgument)
    .option('--search <words>', 'words of names, numbers and keys')
    .option('--limit <rows>', 'most rows (default 50)', mostRows, 50)
    .action(async (options, command: Command) => {
      const api = apiOf(command);
      const filter = {
        companyId: options.company === undefined ? undefined : await api.companyId(options.company),
        documentType: options.type,
        environment: options.environment,
        kind: options.kind,
        direction: options.direction,
        key: options.key,
        issuerTaxId: options.issuer,
        capturedFrom: options.from && startOf(options.from),
        capturedTo: options.to && endOf(options.to),
        manifestation: options.manifestation,
        deadlineBefore: options.deadlineBefore,
        q: options.search,
      };
      const rows = await api.list<Document>('/v1/documents', filter, options.limit);
      if (wantsJson(command)) return rows.forEach(printJson);
      printTable(
        [
          { title: 'ID', value: ({ id }) => id },
          { title: 'KIND', value: ({ kind }) => kind },
          { title: 'STATE', value: ({ state }) => state },
          { title: 'NUMBER', value: ({ metadata }) => metadata.number ?? '–', right: true },
          { title: 'TOTAL', value: ({ metadata }) => metadata.total ?? '–', right: true },
          { title: 'ISSUER', value: ({ metadata }) => shortened(metadata.issuer?.name ?? '–') },
          { title: 'CAPTURED', value: ({ capturedAt }) => localTime(capturedAt) },
        ],
        rows,
        'No document was found.',
      );
      if (rows.length === options.limit) say(`The first ${options.limit}: --limit shows more.`);
    });

  document
    .command('xml')
    .description("a document's XML, byte for byte as the government gave it")
    .argument('<id>', 'id of the document')
    .option('-o, --output <file>', 'default: standard output')
    .action(async (id, { output }, command: Command) => {
      const { bytes } = await apiOf(command).file(pathOf(id, 'xml'));
      writeTo(output ?? STANDARD_OUTPUT, bytes);
    });

  document
    .command('pdf')
    .description("a document's printed form: DANFE, DACTE, DANFSe, correction letter")
    .argument('<id>', 'id of the document')
    .option('-o, --output <file>', 'default: a file named by the access key, here; "-": standard output')
    .action(async (id, { output }, command: Command) => {
      const api = apiOf(command);
      const { bytes, name } = await api.file(pathOf(id, 'pdf')).catch(async (error: unknown) => {
        throw error instanceof CliFailure && error.code === 'summary_only' ? await summaryOnly(api, id, error) : error;
      });
      writeTo(output ?? name, bytes);
    });

  document
    .command('links')
    .description('links to the files of a document that need no API key, for 15 minutes')
    .argument('<id>', 'id of the document')
    .action(async (id, _, command: Command) => {
      const links = await apiOf(command).send<Links>('POST', pathOf(id, 'links'));
      if (wantsJson(command)) return printJson(links);
      printFields({ XML: links.xml, PDF: links.pdf, 'valid until': localTime(links.expiresAt) });
    });
}

interface Summary {
  readonly key: string;
  readonly companyId: string;
  readonly fullXml: string;
}

interface Links {
  readonly xml: string;
  readonly pdf: string | null;
  readonly expiresAt: string;
}

const STANDARD_OUTPUT = '-';

/** The same failure with the way to the full XML in terms of this command line, where there is one. */
async function summaryOnly(api: ApiClient, id: string, failure: CliFailure): Promise<CliFailure> {
  const path = `/v1/documents/${encodeURIComponent(id)}`;
  const { key, companyId, fullXml } = await api.get<Summary>(path);
  if (fullXml === 'not_applicable') return failure;
  const way =
    fullXml === 'present'
      ? `This is the summary of a note that is here in full: find it with "malote document list --key ${key} --kind procNFe"`
      : 'Only the summary of this note has come. The government sends the full XML once the recipient has stated Awareness: ' +
        `"malote manifest request ${companyId} ${key} --type 210210"`;
  return new CliFailure(way, failure.exitCode, failure.code);
}

function pathOf(id: string, what: 'xml' | 'pdf' | 'links'): string {
  return `/v1/documents/${encodeURIComponent(id)}/${what}`;
}

function writeTo(file: string, bytes: Buffer): void {
  if (file === STANDARD_OUTPUT) {
    process.stdout.write(bytes);
    return;
  }
  try {
    writeFileSync(file, bytes);
  } catch (error) {
    throw wrongUse(`cannot write ${file} (${(error as NodeJS.ErrnoException).code}): check the path`);
  }
  say(`${bytes.length} bytes written to ${file}`);
}
