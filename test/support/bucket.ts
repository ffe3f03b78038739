import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { type ObjectStore, openObjectStore } from '../../src/storage/object-store/index.js';
import { testS3 } from './s3.js';

/** A fresh bucket on a real S3 server, as an object store; or `skip` with the reason why there is none here. */
export async function testBucket(): Promise<{ readonly skip: string | false; readonly store?: ObjectStore }> {
  const s3 = await testS3();
  if (typeof s3 === 'string') return { skip: s3 };
  process.env.AWS_ACCESS_KEY_ID = s3.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = s3.secretAccessKey;
  const client = new S3Client({ endpoint: s3.endpoint, forcePathStyle: true, region: 'us-east-1' });
  const bucket = `bucket-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return {
    skip: false,
    store: await openObjectStore(`s3://${bucket}?endpoint=${encodeURIComponent(s3.endpoint)}&region=us-east-1`),
  };
}
