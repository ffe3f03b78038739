import type { DocumentType, Environment, Phase } from '../model/words.js';
import type { Queryable } from './database.js';
import { instant } from './database.js';

/** All captures of one type and environment in one phase, for metrics. */
export interface CaptureFigures {
  readonly documentType: DocumentType;
  readonly environment: Environment;
  readonly phase: Phase;
  readonly captures: number;
  /** Sum of maxNSU − ultNSU. */
  readonly lag: number;
}

/** Missing numbers that still wait, of one type, environment and status. */
export interface GapFigures {
  readonly documentType: DocumentType;
  readonly environment: Environment;
  readonly status: string;
  readonly numbers: number;
}

/** How many numbers are missing, by document type, environment and status, for metrics. */
export async function gapFigures(db: Queryable): Promise<GapFigures[]> {
  const { rows } = await db.query<GapFigures>(
    `select document_type as "documentType", environment, status, sum(to_nsu - from_nsu + 1)::float8 as numbers
     from gaps where status in ('pending', 'exhausted', 'awaiting_confirmation') group by document_type, environment, status`,
  );
  return rows;
}

/** Manifestations that have no end yet, of one type and environment. */
export interface ManifestationFigures {
  readonly documentType: DocumentType;
  readonly environment: Environment;
  /** `overdue`: should have been sent before now by more than the patience. `waiting`: for their time, their answer, or their next try. */
  readonly state: 'waiting' | 'overdue';
  readonly manifestations: number;
}

/** @param overdueBefore milliseconds: what has been due since before then should have been sent */
export async function manifestationFigures(db: Queryable, overdueBefore: number): Promise<ManifestationFigures[]> {
  const { rows } = await db.query<ManifestationFigures>(
    `select document_type as "documentType", environment,
       case when next_attempt_at <= $1 then 'overdue' else 'waiting' end as state, count(*)::int as manifestations
     from manifestations where status = 'pending' group by 1, 2, 3`,
    [instant(overdueBefore)],
  );
  return rows;
}

/** How many captures there are, and how far behind, by document type, environment and phase, for metrics. */
export async function captureFigures(db: Queryable): Promise<CaptureFigures[]> {
  const { rows } = await db.query<CaptureFigures>(
    `select document_type as "documentType", environment, phase, count(*)::int as captures,
       sum(greatest(max_nsu - ult_nsu, 0))::float8 as lag
     from captures group by document_type, environment, phase`,
  );
  return rows;
}
