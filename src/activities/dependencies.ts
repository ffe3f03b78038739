import type { CallAnswer, ClientCertificate, ReadAnswer } from '../government/types.js';
import type { Refusal } from '../model/activity-contract.js';
import type { DecodeItem } from '../model/document.js';
import type { Nsu } from '../model/nsu.js';
import type { OutcomeKind } from '../model/outcome.js';
import type { PointAsk, PointRefusal } from '../model/point-query.js';
import type { CaptureKey, DocumentType } from '../model/words.js';
import type { PdfRequest } from '../pdf/index.js';
import type { Clock } from '../platform/clock.js';
import type { CertificateRow } from '../storage/certificates.js';
import type { Database, Queryable } from '../storage/database.js';
import type { ObjectStore } from '../storage/object-store/index.js';

/** What activities are made of; a worker process puts it together once. */
export interface ActivityDependencies {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly clock: TransactionClock;
  /** Divides the cadence's waits. A capture that was begun under another scale is refused. */
  readonly timeScale: number;
  /** The wire, for each document type that this worker captures. */
  readonly services: { readonly [type in DocumentType]?: DistributionService };
  /** Unseals a company's key for one call. At once, because it happens inside a transaction. */
  readonly openCertificate: (row: CertificateRow) => ClientCertificate;
  /** Default: on this thread. */
  readonly decodeItem?: DecodeItem;
  /** Default: in worker threads. */
  readonly renderPdf?: (request: PdfRequest) => Promise<Uint8Array>;
  /** Called after a commit with the endpoints that got deliveries; returns at once. */
  readonly wakeEndpoints: (endpointIds: readonly string[]) => void;
  /** Called after a commit that scheduled Awareness; returns at once. What is lost of it, housekeeping finds. */
  readonly wakeManifestations?: (capture: CaptureKey) => void;
  /** Called after a commit that left its host something late, outside the capture's own run; returns at once. Lost: its next query finds it. */
  readonly wakeCapture?: (capture: CaptureKey) => void;
  /** False where our clock is not the government's by design: simulated time. Default: true on time scale 1. */
  readonly comparesClocks?: boolean;
  readonly observer?: CallObserver;
  readonly limits?: Partial<CallLimits>;
  /** Tests die or break here. */
  readonly failpoint?: (name: Failpoint) => void | Promise<void>;
}

/** The dependencies, and what the activities of one process remember together. */
export interface CallContext extends ActivityDependencies {
  readonly decodeItem: DecodeItem;
  /** By service: whether our clock and the government's differed when they were last compared. */
  readonly clocksDiffer: Map<string, boolean>;
}

/** The clock that decides. Inside a transaction it is asked over that transaction's own connection. */
export interface TransactionClock extends Clock {
  now(on?: Queryable): Promise<number>;
}

/** The note of a key, or its events. */
export type OnDemandPart = { readonly note: string } | { readonly events: string };

/** What a service of documents is asked, whoever answers: SOAP or REST. */
export interface DistributionQuestion {
  readonly capture: CaptureKey;
  readonly taxId: string;
  /** Two letters. */
  readonly uf: string;
  readonly ultNsu: Nsu;
  /** One document instead of the page after `ultNsu`. */
  readonly point?: PointAsk | undefined;
  /** What belongs to a key, instead of the page (NFS-e). */
  readonly onDemand?: OnDemandPart | undefined;
  readonly certificate: ClientCertificate;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Right before the first byte of the request; throwing means: not sent. */
  readonly beforeSend: () => void;
}

/** What is known of a question whose answer is read again. A key is not: it stands in the answer. */
export type StoredQuestion = Pick<DistributionQuestion, 'capture' | 'ultNsu' | 'point' | 'onDemand'>;

/** One government service, as the call needs it. Every ending is an answer; a rejected promise is a bug. */
export interface DistributionService {
  /** Its requests are archived beside their answers. */
  readonly keepsRequests?: boolean;
  ask(question: DistributionQuestion): Promise<CallAnswer>;
  /** Reads bytes that an earlier attempt stored, without what HTTP said about them. */
  read(body: Uint8Array, asked: StoredQuestion): ReadAnswer;
}

/** For metrics. Must not throw. */
export interface CallObserver {
  refused(capture: CaptureKey, reason: (Refusal | PointRefusal)['reason']): void;
  settled(call: CalledService, how: SettledCall): void;
}

/** Whose call it was, and of which service. */
export interface CalledService extends CaptureKey {
  readonly service: string;
}

/** How a call ended, for metrics. */
export interface SettledCall {
  readonly outcome: OutcomeKind;
  readonly statusCode: string | null;
  /** New documents. */
  readonly documents: number;
  /** From the row of the call to the answer. Null: settled by a later attempt. */
  readonly durationMs: number | null;
}

/** Milliseconds. They are part of the guarantees in docs/government-call.md; tests shorten them. */
export interface CallLimits {
  /** Between heartbeats, and between looks at the call's row. */
  readonly beat: number;
  /** A row that could not be read for so long counts as lost. */
  readonly blind: number;
  /** The first byte leaves within this after the row was written, or never. */
  readonly sendWithin: number;
  /** How long a failing database or object store is waited for with an answer in hand. */
  readonly patience: number;
  /** First pause between two tries with an answer in hand. */
  readonly firstPause: number;
}

const CALL_LIMITS: CallLimits = {
  beat: 5_000,
  blind: 60_000,
  sendWithin: 20_000,
  patience: 30_000,
  firstPause: 100,
};

/** Where tests let a process die. Nothing stops there in production. */
export type Failpoint =
  | 'before_record'
  | 'after_record'
  | 'before_send'
  | 'after_send'
  | 'after_archive'
  | 'inside_transaction'
  | 'after_commit'
  | 'part_written'
  | 'part_committed'
  | 'export_joined'
  | 'files_archived'
  | 'files_committed';

/** The limits in force: those given, else the usual ones. */
export function limitsOf(deps: Pick<ActivityDependencies, 'limits'>): CallLimits {
  return { ...CALL_LIMITS, ...deps.limits };
}
