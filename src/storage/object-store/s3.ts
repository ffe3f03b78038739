import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import {
  InvalidObjectStore,
  ObjectNotFound,
  type ObjectStore,
  ObjectStoreUnavailable,
  type StoredObject,
  safeKey,
} from './object-store.js';
import { WatchedSource } from './streams.js';

/** A bucket, and how it is reached. */
export interface S3Address {
  readonly bucket: string;
  /** Empty, or ends in '/'. */
  readonly prefix: string;
  readonly region: string;
  /** Absent: Amazon's own. */
  readonly endpoint: string | null;
}

/**
 * Reads `s3://bucket/prefix?endpoint=…&region=…`. Without a region: that of AWS_REGION, else us-east-1.
 *
 * @throws {InvalidObjectStore}
 */
export function readS3Address(url: string): S3Address {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed?.hostname) {
    throw new InvalidObjectStore('object store: expected s3://bucket/prefix?endpoint=https://host:port&region=…');
  }
  if (parsed.username || parsed.password) {
    throw new InvalidObjectStore(
      'object store: credentials go into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not into the address',
    );
  }
  for (const name of parsed.searchParams.keys()) {
    if (name !== 'endpoint' && name !== 'region') {
      throw new InvalidObjectStore(
        `object store: unknown parameter "${name}" in the s3: address; known are endpoint and region`,
      );
    }
  }
  const endpoint = parsed.searchParams.get('endpoint');
  if (endpoint !== null && !/^https?:\/\//.test(endpoint)) {
    throw new InvalidObjectStore('object store: endpoint needs to begin with https:// or http://');
  }
  const path = parsed.pathname.replace(/^\/+|\/+$/g, '');
  return {
    bucket: parsed.hostname,
    prefix: path === '' ? '' : `${safeKey(path)}/`,
    region: parsed.searchParams.get('region') ?? process.env.AWS_REGION ?? 'us-east-1',
    endpoint,
  };
}

/** Milliseconds: no call may hang. */
const CONNECT_LIMIT_MS = 5_000;
const REQUEST_LIMIT_MS = 30_000;

/** Bytes of one part of a long upload; 10,000 parts are allowed, which makes 80 GB. Two are in the air at a time. */
const UPLOAD_PART = 8 * 1024 * 1024;

/** Objects in a bucket of Amazon or of anything that speaks its protocol; credentials from the standard AWS environment. */
export class S3Store implements ObjectStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({ bucket, prefix, region, endpoint }: S3Address) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#client = new S3Client({
      region,
      // A named endpoint seldom has a host name per bucket.
      ...(endpoint !== null && { endpoint, forcePathStyle: true }),
      requestHandler: {
        connectionTimeout: CONNECT_LIMIT_MS,
        requestTimeout: REQUEST_LIMIT_MS,
        throwOnRequestTimeout: true,
      },
    });
  }

  async put(key: string, bytes: Uint8Array, options: { contentType?: string | undefined } = {}): Promise<void> {
    const target = this.#target(key);
    await reported('put', key, () =>
      this.#client.send(new PutObjectCommand({ ...target, Body: bytes, ContentType: options.contentType })),
    );
  }

  async putStream(
    key: string,
    source: AsyncIterable<Uint8Array>,
    options: { contentType?: string | undefined } = {},
  ): Promise<void> {
    const watched = new WatchedSource(source);
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#target(key), Body: Readable.from(watched), ContentType: options.contentType },
      partSize: UPLOAD_PART,
      queueSize: 2,
    });
    try {
      await reported('put', key, () => upload.done());
    } catch (error) {
      throw watched.failure === null ? error : watched.failure.error;
    }
  }

  get(key: string): Promise<Buffer> {
    return this.#read(key);
  }

  async getRange(key: string, offset: number, length: number): Promise<Buffer> {
    if (length === 0) return (await this.head(key)) ? Buffer.alloc(0) : absent(key);
    try {
      return await this.#read(key, `bytes=${offset}-${offset + length - 1}`);
    } catch (error) {
      if (error instanceof ObjectStoreUnavailable && error.code === 'InvalidRange') return Buffer.alloc(0);
      throw error;
    }
  }

  async head(key: string): Promise<{ size: number } | null> {
    const target = this.#target(key);
    try {
      const { ContentLength } = await reported('head', key, () => this.#client.send(new HeadObjectCommand(target)));
      return { size: ContentLength ?? 0 };
    } catch (error) {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    }
  }

  async delete(key: string): Promise<void> {
    const target = this.#target(key);
    await reported('delete', key, () => this.#client.send(new DeleteObjectCommand(target)));
  }

  async deletePrefix(prefix: string): Promise<number> {
    const below = folderPrefix(prefix);
    if (below === '') safeKey(below); // refuses: nobody means everything
    let deleted = 0;
    for await (const keys of this.#batches(below)) {
      const { Errors } = await reported('delete', prefix, () =>
        this.#client.send(
          new DeleteObjectsCommand({
            Bucket: this.#bucket,
            Delete: { Quiet: true, Objects: keys.map(({ key }) => ({ Key: this.#prefix + key })) },
          }),
        ),
      );
      const failed = Errors?.[0];
      if (failed) throw new ObjectStoreUnavailable(failed.Code ?? 'unexpected', 'delete');
      deleted += keys.length;
    }
    return deleted;
  }

  async *list(prefix: string): AsyncIterable<StoredObject> {
    for await (const batch of this.#batches(folderPrefix(prefix))) yield* batch;
  }

  async check(): Promise<void> {
    await reported('check', this.#bucket, () => this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket })));
  }

  async *#batches(prefix: string): AsyncIterable<StoredObject[]> {
    let token: string | undefined;
    do {
      const answer = await reported('list', prefix, () =>
        this.#client.send(
          new ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: this.#prefix + prefix,
            ContinuationToken: token,
          }),
        ),
      );
      const batch = (answer.Contents ?? []).map(({ Key = '', Size = 0, LastModified }) => ({
        key: Key.slice(this.#prefix.length),
        size: Size,
        writtenAt: LastModified?.getTime() ?? 0,
      }));
      if (batch.length > 0) yield batch;
      token = answer.NextContinuationToken;
    } while (token !== undefined);
  }

  #read(key: string, range?: string): Promise<Buffer> {
    const target = this.#target(key);
    return reported('get', key, async () => {
      const { Body } = await this.#client.send(new GetObjectCommand({ ...target, Range: range }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    });
  }

  #target(key: string) {
    return { Bucket: this.#bucket, Key: this.#prefix + safeKey(key) };
  }
}

/** The SDK's error holds request and response, so it is not passed on. */
async function reported<T>(operation: string, key: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof S3ServiceException) {
      if (error.name === 'NoSuchKey' || (error.name === 'NotFound' && operation !== 'check'))
        throw new ObjectNotFound(key);
      throw new ObjectStoreUnavailable(error.name, operation);
    }
    const { code, name } = error as { code?: unknown; name?: unknown };
    throw new ObjectStoreUnavailable(String(code ?? name ?? 'unexpected'), operation);
  }
}

function absent(key: string): never {
  throw new ObjectNotFound(key);
}

/** A prefix of whole segments, with its slash; empty for everything. */
function folderPrefix(prefix: string): string {
  const segments = prefix.replace(/\/$/, '');
  return segments === '' ? '' : `${safeKey(segments)}/`;
}
