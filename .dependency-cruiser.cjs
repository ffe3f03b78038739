// The direction of imports (docs/architecture.md). Each folder names the folders of ours that it may import from.
const may = {
  model: [],
  cadence: ['model'],
  documents: ['model'],
  workflows: ['model', 'cadence'],
  platform: ['model'],
  certificates: ['model', 'platform'],
  government: ['model', 'platform'],
  storage: ['model', 'platform'],
  webhooks: ['model', 'platform'],
  pdf: ['model', 'documents', 'platform', 'storage'],
  activities: ['model', 'cadence', 'documents', 'platform', 'certificates', 'government', 'storage', 'webhooks', 'pdf'],
  workers: [
    'model',
    'activities',
    'workflows',
    'client',
    'documents',
    'platform',
    'certificates',
    'government',
    'storage',
    'webhooks',
    'pdf',
  ],
  client: ['model', 'workflows'],
  api: ['model', 'client', 'storage', 'documents', 'certificates', 'webhooks', 'pdf', 'platform'],
  simulator: ['model', 'documents'],
};

const rooms = Object.entries(may).map(([room, allowed]) => ({
  name: `${room}-imports`,
  comment: `src/${room} may import only: ${['itself', ...allowed].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: [`^src/${room}/`, ...allowed.map((to) => `^src/${to}/`)] },
}));

module.exports = {
  forbidden: [
    ...rooms,
    {
      name: 'no-cycles',
      comment: 'Not of types either: two files that need each other are one file, or lack a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'workflows-have-no-io',
      comment: 'Workflow code runs in a deterministic sandbox: no Node modules, no packages but the workflow API.',
      severity: 'error',
      from: { path: '^src/(workflows|cadence|model)/' },
      to: { dependencyTypes: ['core', 'npm'], pathNot: ['node_modules/@temporalio/(workflow|common)'] },
    },
    {
      name: 'client-has-no-workflow-code',
      comment: 'The SDK shares message names and types with the workflows, nothing that runs in them.',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { path: '^src/workflows/', pathNot: '^src/workflows/messages' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
