import type { Command } from 'commander';
import { type ApiClient, apiOf } from './api-client.js';
import { CliFailure } from './failure.js';
import { outputOption, STANDARD_OUTPUT, writeTo } from './files.js';
import { localTime, printFields, printJson, wantsJson } from './output.js';

const ID = 'id of "malote document list"';

/** The files of a document. */
export function documentFileCommands(document: Command): void {
  document
    .command('xml')
    .description("a document's XML, byte for byte as the government gave it")
    .argument('<document>', ID)
    .addOption(outputOption())
    .action(async (id, { output }, command: Command) => {
      const { bytes } = await apiOf(command).file(pathOf(id, 'xml'));
      writeTo(output ?? STANDARD_OUTPUT, bytes);
    });

  document
    .command('pdf')
    .description("a document's printed form: DANFE, DACTE, DANFSe, correction letter")
    .argument('<document>', ID)
    .addOption(outputOption('default: a file named by the access key, here; "-": standard output'))
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
    .argument('<document>', ID)
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
