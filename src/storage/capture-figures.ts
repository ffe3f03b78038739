import type { DocumentType, Environment, Phase } from '../model/words.js';
import type { Queryable } from './database.js';

/** All captures of one type and environment in one phase, for metrics. */
export interface CaptureFigures {
  readonly documentType: DocumentType;
  readonly environment: Environment;
  readonly phase: Phase;
  readonly captures: number;
  /** Sum of maxNSU − ultNSU. */
  readonly lag: number;
}

export async function captureFigures(db: Queryable): Promise<CaptureFigures[]> {
  const { rows } = await db.query<CaptureFigures>(
    `select document_type as "documentType", environment, phase, count(*)::int as captures,
       sum(greatest(max_nsu - ult_nsu, 0))::float8 as lag
     from captures group by document_type, environment, phase`,
  );
  return rows;
}
