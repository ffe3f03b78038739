import type { Database, Queryable } from '../../src/storage/database.js';

export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Rows Removed by Filter'?: number;
  'Actual Loops'?: number;
  Plans?: PlanNode[];
}

/** Runs a query function and gives the plans of its statements instead of its rows. */
export async function plansOf(db: Database, work: (db: Queryable) => Promise<unknown>): Promise<PlanNode[]> {
  const plans: PlanNode[] = [];
  const explaining: Queryable = {
    async query<Row>(text: string, values?: readonly unknown[]) {
      const { rows } = await db.query<{ 'QUERY PLAN': string | [{ Plan: PlanNode }] }>(
        `explain (analyze, format json) ${text}`,
        values,
      );
      const plan = rows[0]?.['QUERY PLAN'];
      if (typeof plan === 'object') plans.push(plan[0].Plan);
      return { rows: [] as Row[], rowCount: 0 };
    },
  };
  await work(explaining);
  const flat = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flat)];
  return plans.flatMap(flat);
}

/** Rows that the plan touched in a table, kept or not. */
export function touched(nodes: PlanNode[], table: string): number {
  return nodes
    .filter((node) => node['Relation Name']?.startsWith(table))
    .reduce(
      (sum, node) =>
        sum + ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
      0,
    );
}

/** Whole-table scans of a table. */
export function scansOf(nodes: PlanNode[], table: string): PlanNode[] {
  return nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name']?.startsWith(table));
}
