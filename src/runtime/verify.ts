import type { CallContext } from '../activities/dependencies.js';
import { distributionService, nfseService } from '../activities/index.js';
import { takeIn } from '../activities/page/take-in.js';
import { cadenceOf, scaled } from '../cadence/index.js';
import { decodeItem, extractedXml } from '../documents/index.js';
import { governmentAddresses } from '../government/addresses.js';
import { createAdn } from '../government/adn.js';
import { createCteDistribution } from '../government/cte-distribution.js';
import { createNfeDistribution } from '../government/nfe-distribution.js';
import { createPatientGet } from '../government/patient-get.js';
import { createSefin } from '../government/sefin.js';
import { type Transport, TransportFailure } from '../government/types.js';
import { nsuDistance } from '../model/nsu.js';
import { RECOVERY_MEANS } from '../model/recovery.js';
import type { CaptureKey } from '../model/words.js';
import { restoreCapture } from '../storage/capture-orders.js';
import type { CaptureRow } from '../storage/capture-rows.js';
import { listCaptures } from '../storage/captures.js';
import { createDatabase, type Database } from '../storage/database.js';
import { gapOf, insertGaps } from '../storage/gaps.js';
import { assertMigrated } from '../storage/migrate.js';
import { missingRanges } from '../storage/missing-nsus.js';
import { type ObjectStore, openObjectStore } from '../storage/object-store/index.js';
import { PostgresClock } from '../storage/postgres-clock.js';
import { readXml } from '../storage/read-xml.js';
import { unknownObjects } from '../storage/unknown-objects.js';

/** What `malote verify` found, and did. */
export interface Verification {
  readonly captures: number;
  /** Captures whose workflow knows more than the database: nothing is asked for them. */
  readonly behind: readonly CaptureKey[];
  /** Captures that were held for one empty-queue time and go on from the database as it is. */
  readonly repaired: number;
  /** Answers in the object store that no row refers to, of the days since each capture's last query. */
  readonly unknownAnswers: number;
  /** Documents that were taken in from them. */
  readonly takenIn: number;
  /** Numbers below a cursor that nothing is known of. */
  readonly missing: number;
  readonly documentsRead: number;
  /** Documents whose archived bytes are gone or are not those that were captured. */
  readonly damaged: readonly { readonly documentId: string; readonly problem: string }[];
}

/** Newest documents that are read back: what a restore loses is lost at the end. */
const NEWEST = 1_000;
/** Of all others, about so many. */
const SAMPLE = 500;
const PAGE = 200;
const DAY = 86_400_000;

/**
 * Compares the database with the object store, with itself and with what workflows know; with `repair`, takes in what the object store
 * holds more, makes recovery items of what is missing, and takes up every capture again after a restore (docs/operating.md, Restore). To be
 * run while no worker runs.
 *
 * @throws {WrongSchema} @throws {DatabaseError} @throws {InvalidObjectStore} @throws {ObjectStoreUnavailable}
 */
export async function verify(options: {
  readonly database: string;
  readonly objectStore: string;
  readonly repair: boolean;
}): Promise<Verification> {
  const objectStore = await openObjectStore(options.objectStore);
  const database = createDatabase({ url: options.database, applicationName: 'malote-verify', max: 4 });
  try {
    await assertMigrated(database);
    const found = await verifyCaptures(contextOf(database, objectStore), options.repair);
    return { ...found, ...(await verifyDocuments(database, objectStore)) };
  } finally {
    await database.close();
  }
}

/** Enough to read stored answers; nobody is asked and nobody is woken. */
function contextOf(database: Database, objectStore: ObjectStore): CallContext {
  const transport: Transport = async () => {
    throw new TransportFailure('not_sent', 'nothing is asked here');
  };
  const parts = { transport, addresses: governmentAddresses(null), get: createPatientGet(transport) };
  return {
    database,
    objectStore,
    clock: new PostgresClock(database),
    timeScale: 1,
    services: {
      nfe: distributionService(createNfeDistribution(parts)),
      cte: distributionService(createCteDistribution(parts)),
      nfse: nfseService(createAdn(parts), createSefin(parts)),
    },
    openCertificate: () => {
      throw new Error('no certificate is opened here');
    },
    // Housekeeping finds deliveries that are due within half a minute.
    wakeEndpoints: () => {},
    decodeItem,
    clocksDiffer: new Map(),
  };
}

type FoundInCaptures = Omit<Verification, 'documentsRead' | 'damaged'>;

async function verifyCaptures(deps: CallContext, repair: boolean): Promise<FoundInCaptures> {
  const behind: CaptureKey[] = [];
  const sum = { captures: 0, repaired: 0, unknownAnswers: 0, takenIn: 0, missing: 0 };
  let cursor: string | null = null;
  do {
    const page = await listCaptures(deps.database, {}, { limit: PAGE, cursor });
    for (const row of page.rows) {
      const { companyId, documentType, environment } = row;
      sum.captures += 1;
      if (row.behind) behind.push({ companyId, documentType, environment });
      const lost = await lostAnswers(deps, row, repair);
      sum.unknownAnswers += lost.unknownAnswers;
      sum.takenIn += lost.takenIn;
      if (repair) {
        await takeUpAgain(deps, row);
        sum.repaired += 1;
      }
    }
    sum.missing += await missingNumbers(deps, page.rows, repair);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return { ...sum, behind };
}

/** Answers of which the database knows nothing, since it last heard of the capture. With `repair` they are taken in. */
async function lostAnswers(
  deps: CallContext,
  row: CaptureRow,
  repair: boolean,
): Promise<{ unknownAnswers: number; takenIn: number }> {
  const from = row.lastQueryAt ?? row.createdAt;
  // A day more: objects stand under the day of whatever clock their call went by.
  const to = Math.max(await deps.clock.now(), from) + DAY;
  let unknownAnswers = 0;
  let takenIn = 0;
  for await (const object of unknownObjects(deps.database, deps.objectStore, row, { from, to })) {
    unknownAnswers += 1;
    if (repair) takenIn += await takeIn(deps, row, object);
  }
  return { unknownAnswers, takenIn };
}

async function takeUpAgain({ database, clock }: CallContext, row: CaptureRow): Promise<void> {
  const now = await clock.now();
  const hold = scaled(cadenceOf(row.documentType).emptyQueue, row.state.timeScale);
  await database.transaction((tx) => restoreCapture(tx, row, { now, hold }));
}

/** How many numbers nothing is known of. With `repair` they become recovery items. */
async function missingNumbers(
  { database, clock }: CallContext,
  rows: readonly CaptureRow[],
  repair: boolean,
): Promise<number> {
  const captures = rows.filter(({ documentType }) => RECOVERY_MEANS[documentType] === 'point');
  const ranges = await missingRanges(database, captures, 0);
  const now = await clock.now();
  for (const { from, to, ...capture } of repair ? ranges : []) {
    await database.transaction((tx) => insertGaps(tx, capture, [gapOf(from, to, 'restored')], now));
  }
  return ranges.reduce((sum, { from, to }) => sum + Number(nsuDistance(from, to)) + 1, 0);
}

type ReadBack = Parameters<typeof readXml>[1];
const COLUMNS = `id, archive_id as "archiveId", object_key as "objectKey", byte_offset as "byteOffset",
  byte_length as "byteLength", encoding, xml_sha256 as "xmlSha256"`;

/** Reads the newest documents back from their archives, and a sample of all others, and compares their hashes. */
async function verifyDocuments(
  database: Database,
  store: ObjectStore,
): Promise<Pick<Verification, 'documentsRead' | 'damaged'>> {
  const { rows: newest } = await database.query<ReadBack>(
    `select ${COLUMNS} from documents order by captured_at desc, id desc limit $1`,
    [NEWEST],
  );
  const { rows: size } = await database.query<{ percent: number }>(
    `select least(100, 100.0 * $1 / greatest(reltuples, 1))::float8 as percent from pg_class where oid = 'documents'::regclass`,
    [SAMPLE],
  );
  const { rows: sample } = await database.query<ReadBack>(
    `select ${COLUMNS} from documents tablesample bernoulli ($1) limit $2`,
    [size[0]?.percent ?? 100, 2 * SAMPLE],
  );
  const documents = [...new Map([...newest, ...sample].map((row) => [row.id, row])).values()];
  const damaged: { documentId: string; problem: string }[] = [];
  for (const row of documents) {
    try {
      await readXml(store, row, extractedXml);
    } catch (error) {
      damaged.push({ documentId: row.id, problem: error instanceof Error ? error.message : 'cannot be read' });
    }
  }
  return { documentsRead: documents.length, damaged };
}
