import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { apiOf } from './api-client.js';
import { wrongUse } from './failure.js';
import { localTime, print, printFields, printJson, shownTaxId, wantsJson } from './output.js';
import { readPassword } from './password.js';

interface Certificate {
  readonly subject: string;
  readonly taxId: string;
  readonly notBefore: string;
  readonly notAfter: string;
  readonly thumbprint: string;
  /** Only of one that was stored just now: what the government says to it. */
  readonly acceptedReason?: string;
}

export function certificateCommands(program: Command): void {
  const certificate = program.command('certificate').description("companies' A1 certificates");

  certificate
    .command('set')
    .description('store a certificate; its password is asked for, or read from a file')
    .argument('<company>', 'id or tax ID')
    .requiredOption('--file <pfx>', 'the .pfx or .p12 file')
    .option('--password-file <file>', 'file with the password in its first line; "-" reads standard input')
    .action(async (idOrTaxId, { file, passwordFile }, command: Command) => {
      const api = apiOf(command);
      const pfx = readFile(file).toString('base64');
      const password = await readPassword(passwordFile);
      const id = await api.companyId(idOrTaxId);
      const stored = await api.send<Certificate>('PUT', `/v1/companies/${id}/certificate`, { pfx, password });
      show(stored, command);
    });

  certificate
    .command('show')
    .description("show a company's certificate; the private key cannot be shown")
    .argument('<company>', 'id or tax ID')
    .action(async (idOrTaxId, _options, command: Command) => {
      const api = apiOf(command);
      show(await api.get<Certificate>(`/v1/companies/${await api.companyId(idOrTaxId)}/certificate`), command);
    });

  certificate
    .command('remove')
    .description("forget a company's certificate; its captures wait, unless another company with the same root has one")
    .argument('<company>', 'id or tax ID')
    .action(async (idOrTaxId, _options, command: Command) => {
      const api = apiOf(command);
      const id = await api.companyId(idOrTaxId);
      await api.send('DELETE', `/v1/companies/${id}/certificate`);
      if (wantsJson(command)) return printJson({ companyId: id, removed: true });
      print('Removed.');
    });
}

function readFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw wrongUse(`cannot read ${file} (${(error as NodeJS.ErrnoException).code}): check the path`);
  }
}

function show(certificate: Certificate, command: Command): void {
  if (wantsJson(command)) {
    printJson(certificate);
    return;
  }
  printFields({
    subject: certificate.subject,
    'tax ID': shownTaxId(certificate.taxId),
    'valid from': localTime(certificate.notBefore),
    'valid until': localTime(certificate.notAfter),
    thumbprint: certificate.thumbprint,
    ...(certificate.acceptedReason !== undefined && { 'asked just now': certificate.acceptedReason }),
  });
}
