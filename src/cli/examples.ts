import type { Command } from 'commander';

/** What each command is used for, as it is typed. `help` shows them; test/cli/program.test.ts reads every one as the program would. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  dev: ['malote dev', 'malote dev --port 8080 --backlog 500', 'malote dev --until-drained'],
  api: ['DATABASE_URL=postgres://… TEMPORAL_ADDRESS=temporal:7233 malote api'],
  worker: ['DATABASE_URL=postgres://… TEMPORAL_ADDRESS=temporal:7233 malote worker'],
  migrate: ['DATABASE_URL=postgres://… malote migrate'],
  verify: ['malote verify', 'malote verify --repair', 'malote verify --sweep --older-than 30'],
  simulator: ['malote simulator --folder ./government --time-scale 60'],
  help: ['malote help capture start'],
  'company add': ['malote company add --tax-id 98.765.432/0001-98 --name "Padaria Aurora Ltda" --uf SP --tag bakery'],
  'company import': ['malote company import companies.csv'],
  'company list': ['malote company list --root 11222333'],
  'company show': ['malote company show 98.765.432/0001-98'],
  'company update': [
    'malote company update 98.765.432/0001-98 --name "Padaria Aurora S.A." --tag bakery --tag south',
    'malote company update 98.765.432/0001-98 --no-external-id',
  ],
  'company events': ['malote company events 98.765.432/0001-98 --after 1234 --json'],
  'company remove': [
    'malote company remove 98.765.432/0001-98',
    'malote company remove 98765432000198 --confirm 0198 --immediately',
  ],
  'company deletion': ['malote company deletion 0198c1f2-7a3b-7000-8000-000000000001'],
  'company restore': ['malote company restore 98.765.432/0001-98'],
  'certificate set': [
    'malote certificate set 98.765.432/0001-98 --file a1.pfx',
    'malote certificate set 98765432000198 --file a1.pfx --password-file -',
  ],
  'certificate show': ['malote certificate show 98.765.432/0001-98'],
  'certificate remove': ['malote certificate remove 98.765.432/0001-98'],
  'capture start': [
    'malote capture start 98.765.432/0001-98 nfe --environment production',
    'malote capture start 98765432000198 --handler erp:takePage',
    'malote capture start 98.765.432/0001-98 nfe --auto-awareness 60 --no-handler',
    'malote capture start 98.765.432/0001-98 cte --event-type 110111 --interested-party taker --interested-party recipient',
    'malote capture start 98.765.432/0001-98 nfse --capture-issued --cutoff-date 2026-01-01',
  ],
  'capture show': ['malote capture show 98.765.432/0001-98 nfse'],
  'capture stop': ['malote capture stop 98.765.432/0001-98 cte'],
  'capture status': ['malote capture status 98.765.432/0001-98', 'malote capture status --phase attention --watch'],
  'capture resume': ['malote capture resume 98.765.432/0001-98', 'malote capture resume --phase attention --uf SP'],
  'capture pause': ['malote capture pause 98.765.432/0001-98 --until 2026-12-24'],
  'capture queries': [
    'malote capture queries 98.765.432/0001-98',
    'malote capture queries 98.765.432/0001-98 cte --status-code 656',
  ],
  'capture archive': ['malote capture archive 0198c1f2-7a3b-7000-8000-000000000001 > answer.xml'],
  'capture reprocess': [
    'malote capture reprocess 98.765.432/0001-98 --nsu 12345',
    'malote capture reprocess 98.765.432/0001-98 nfe --key <key>',
    'malote capture reprocess 98.765.432/0001-98 cte --archive 0198c1f2-7a3b-7000-8000-000000000001',
  ],
  'capture set-cursor': [
    'malote capture set-cursor 98.765.432/0001-98 nfe --nsu 12000 --reason "restored from the wrong backup"',
  ],
  'capture release-history': ['malote capture release-history 98.765.432/0001-98'],
  'document list': [
    'malote document list --company 98.765.432/0001-98 --from 2026-11-01',
    'malote document list --search "aurora" --json',
  ],
  'document show': ['malote document show 0198c1f2-7a3b-7000-8000-000000000001'],
  'document events': ['malote document events 0198c1f2-7a3b-7000-8000-000000000001'],
  'document capture': ['malote document capture 98.765.432/0001-98 <key>'],
  'document xml': ['malote document xml 0198c1f2-7a3b-7000-8000-000000000001 > note.xml'],
  'document pdf': ['malote document pdf 0198c1f2-7a3b-7000-8000-000000000001 -o danfe.pdf'],
  'document links': ['malote document links 0198c1f2-7a3b-7000-8000-000000000001'],
  'export start': ['malote export 98.765.432/0001-98 --from 2026-11-01 --to 2026-11-30 --pdf'],
  'export list': ['malote export list --company 98.765.432/0001-98 --status running'],
  'export show': ['malote export show 0198c1f2-7a3b-7000-8000-000000000001'],
  'export download': ['malote export download 0198c1f2-7a3b-7000-8000-000000000001 -o november.zip'],
  'export cancel': ['malote export cancel 0198c1f2-7a3b-7000-8000-000000000001'],
  'import start': ['malote import 98.765.432/0001-98 archive-2025.zip note.xml --notify'],
  'import list': ['malote import list --status running'],
  'import show': ['malote import show 0198c1f2-7a3b-7000-8000-000000000001'],
  'import files': ['malote import files 0198c1f2-7a3b-7000-8000-000000000001 --result unreadable'],
  'gaps list': ['malote gaps list 98.765.432/0001-98 --status awaiting_confirmation'],
  'gaps recover': ['malote gaps recover 98.765.432/0001-98 0198c1f2-7a3b-7000-8000-000000000001'],
  'gaps run': ['malote gaps run'],
  'manifest request': ['malote manifest request 98.765.432/0001-98 <key> --type 210200'],
  'manifest list': ['malote manifest list --company 98.765.432/0001-98 --status rejected'],
  'manifest show': ['malote manifest show 0198c1f2-7a3b-7000-8000-000000000001'],
  'webhook add': ['malote webhook add https://erp.example.com/malote --company 98.765.432/0001-98'],
  'webhook list': ['malote webhook list'],
  'webhook show': ['malote webhook show 0198c1f2-7a3b-7000-8000-000000000001'],
  'webhook update': [
    'malote webhook update 0198c1f2-7a3b-7000-8000-000000000001 --url https://erp.example.com/v2/malote --no-event',
  ],
  'webhook test': ['malote webhook test 0198c1f2-7a3b-7000-8000-000000000001'],
  'webhook enable': [
    'malote webhook enable 0198c1f2-7a3b-7000-8000-000000000001 --replay none',
    'malote webhook enable 0198c1f2-7a3b-7000-8000-000000000001 --since 2026-11-30',
  ],
  'webhook rotate-secret': ['malote webhook rotate-secret 0198c1f2-7a3b-7000-8000-000000000001'],
  'webhook deliveries': ['malote webhook deliveries --status exhausted'],
  'webhook delivery': ['malote webhook delivery 0198c1f2-7a3b-7000-8000-000000000001'],
  'webhook remove': ['malote webhook remove 0198c1f2-7a3b-7000-8000-000000000001'],
  'webhook resend': ['malote webhook resend --company 98.765.432/0001-98 --from 2026-11-01 --to 2026-11-30'],
  'alert list': ['malote alert list', 'malote alert list --all --company 98.765.432/0001-98'],
  usage: ['malote usage --month 2026-11'],
  'api-key add': ['malote api-key add "accounting" --scope read --company 98.765.432/0001-98'],
  'api-key list': ['malote api-key list'],
  'api-key revoke': ['malote api-key revoke 0198c1f2-7a3b-7000-8000-000000000001'],
};

/** The words after `malote` that name a command. */
export function pathOf(command: Command): string {
  return command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** Lines that the help of a command ends with. */
export function examplesOf(command: Command): readonly string[] {
  return EXAMPLES[pathOf(command)] ?? [];
}

/** Shows a command's examples below its help. */
export function addExamples(command: Command): void {
  const examples = examplesOf(command);
  if (examples.length > 0)
    command.addHelpText('after', `\nExamples:\n${examples.map((one) => `  $ ${one}`).join('\n')}`);
}
