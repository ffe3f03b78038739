// What the compiler does not do: data files, leftovers of removed sources, the workflow bundle, the command's executable bit.
// Does nothing that is already done, so that `npm start` is quick.
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const src = join(root, 'src');
const dist = join(root, 'dist');

await copyData();
await removeLeftovers();
await bundleWorkflows();
if (await exists(join(dist, 'cli.js'))) await chmod(join(dist, 'cli.js'), 0o755);

/** Migrations and other data beside the code. */
async function copyData() {
  for (const file of await filesBelow(src)) {
    if (file.endsWith('.ts')) continue;
    const [from, to] = [join(src, file), join(dist, file)];
    if ((await exists(to)) && (await readFile(from)).equals(await readFile(to))) continue;
    await mkdir(dirname(to), { recursive: true });
    await copyFile(from, to);
  }
}

/** A migration or module whose source is gone must not be found any more. */
async function removeLeftovers() {
  const made = new Set(['.tsbuildinfo', 'workflow-bundle.js', 'workflow-bundle.hash']);
  for (const file of await filesBelow(dist)) {
    const source = file.replace(/(\.d\.ts|\.js|\.js\.map)$/, '.ts');
    if (made.has(file) || (await exists(join(src, source)))) continue;
    await rm(join(dist, file));
  }
}

/**
 * Workers load a finished bundle instead of making one at every start. It belongs to the exact version of the SDK, and is made
 * again only when workflow code, its imports or that version changed.
 */
async function bundleWorkflows() {
  const entry = join(dist, 'workflows', 'index.js');
  if (!(await exists(entry))) return;
  const hash = createHash('sha256');
  hash.update(await readFile(join(root, 'node_modules/@temporalio/worker/package.json')));
  for (const folder of ['workflows', 'cadence', 'model']) {
    for (const file of (await filesBelow(join(dist, folder))).sort()) {
      if (file.endsWith('.js')) hash.update(file).update(await readFile(join(dist, folder, file)));
    }
  }
  const now = hash.digest('hex');
  const [bundle, stamp] = [join(dist, 'workflow-bundle.js'), join(dist, 'workflow-bundle.hash')];
  if ((await exists(bundle)) && (await exists(stamp)) && (await readFile(stamp, 'utf8')) === now) return;

  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({ workflowsPath: entry, logger: new DefaultLogger('WARN') });
  await writeFile(bundle, code);
  await writeFile(stamp, now);
}

async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1));
}

async function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}
