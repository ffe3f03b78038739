import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { testS3 } from './s3.js';

export interface TestBuckets {
  /** Why there is no S3 server here; false: there is one. */
  readonly skip: string | false;
  /** The object store URL of a fresh bucket. @param prefix such as `/some/prefix` */
  newUrl(prefix?: string): Promise<string>;
}

/** Buckets on a real S3 server, whose credentials this process gets. */
export async function testBuckets(): Promise<TestBuckets> {
  const s3 = await testS3();
  if (typeof s3 === 'string') return { skip: s3, newUrl: () => Promise.reject(new Error(s3)) };
  process.env.AWS_ACCESS_KEY_ID = s3.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = s3.secretAccessKey;
  return {
    skip: false,
    async newUrl(prefix = '') {
      const client = new S3Client({ endpoint: s3.endpoint, forcePathStyle: true, region: 'us-east-1' });
      const bucket = `bucket-${randomUUID()}`;
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      client.destroy();
      return `s3://${bucket}${prefix}?endpoint=${encodeURIComponent(s3.endpoint)}&region=us-east-1`;
    },
  };
}
