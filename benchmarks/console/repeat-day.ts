/** Repeats the events of an audit index in PostgreSQL on earlier days, inside the database. */
import { sql } from 'kysely';
import { postgres } from '../../src/drivers/stores/postgres.ts';
import type { IndexTables } from '../../src/runtime/audit/index-tables.ts';
import { openPartitions } from '../../src/runtime/audit/postgres-partitions.ts';

const DAY_MS = 86_400_000;
const COPIES = 4;
const KEPT_DAYS = 90;
const STATEMENT_MS_MAX = 1_800_000;

/**
 * Copies events, tags, counts and sessions to each of the four days before, with other IDs and sessions, so that all
 * tables and their indexes have the size of five such days. Returns the number of copies.
 */
export async function repeatDay(url: string): Promise<number> {
  const db = await postgres.open<IndexTables>({ url, question_ms_max: STATEMENT_MS_MAX });
  try {
    const { rows } = await sql<{ last: number; begin: number }>`
      select position as last, (select min(timestamp_ms) from audit_events) as begin from audit_stream`.execute(
      db,
    );
    const { last, begin } = rows[0]!;
    for (let copy = 1; copy <= COPIES; copy++) await copyDay(copy, last, begin);
    await sql`update audit_stream set position = ${last * (COPIES + 1)}`.execute(db);
    await sql`vacuum analyze`.execute(db);
    return COPIES;
  } finally {
    await db.destroy();
  }

  async function copyDay(copy: number, last: number, begin: number): Promise<void> {
    const shift = sql.lit(copy * DAY_MS);
    const [first, node] = [sql.lit(begin), sql.lit(`copy-${copy}`)];
    const days = [0, 1, 2].map((ago) => Date.now() - (copy + ago) * DAY_MS);
    await openPartitions(db, KEPT_DAYS).prepare(days);
    const id = sql`'evt_' || lpad(to_hex(timestamp_ms - ${shift}), 11, '0') || substr(event_id, 16)`;
    const session = sql`session_id || ${sql.lit(`-${copy}`)}`;
    await sql`
      insert into audit_events select ${id}, timestamp_ms - ${shift}, node, writer, seq, boundary, decision, action,
        policy_name, agent_id, tool_name, ${session}, source_agent_id, destination_agent_id, tenant_id, caller_id, phase,
        event, stream_position + ${sql.lit(copy * last)}
      from audit_events where timestamp_ms >= ${first} and stream_position <= ${sql.lit(last)}`.execute(db);
    await sql`
      insert into audit_event_tags select tag, timestamp_ms - ${shift}, seq, ${id}
      from audit_event_tags where timestamp_ms >= ${first} on conflict do nothing`.execute(db);
    await sql`
      insert into audit_counts select width_ms, field, bucket_ms - ${shift}, tenant_id, agent_id, value, decision, action,
        ${node}, event_count, first_ms - ${shift}, last_ms - ${shift}
      from audit_counts where node not like 'copy-%'`.execute(db);
    await sql`
      insert into audit_sessions select tenant_id, ${session}, agent_id, ${node}, event_count, block_count,
        first_ms - ${shift}, last_ms - ${shift}
      from audit_sessions where node not like 'copy-%'`.execute(db);
  }
}
