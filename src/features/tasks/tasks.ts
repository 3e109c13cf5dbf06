import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { parseDecimal } from '../../core/policy/conditions/decimal.ts';
import { findLifetimeEnd, getLifetimeStatus } from '../../operations/lifetime.ts';
import { recordOrThrow } from '../../operations/note.ts';
import { StoreFailure } from '../../platform/store/failure.ts';
import type { Store, StoreTables } from '../../platform/store/index.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { type AuditPorts, buildServiceEvent } from '../../runtime/audit/service-event.ts';
import type { CheckedTask, TaskHolder, TaskUse } from '../../runtime/enforcement/task.ts';
import {
  type Amounts,
  addCall,
  findUnfitTerm,
  findWrongHolder,
  hasSources,
  isSourceCall,
  listPermittedArguments,
  readAmounts,
  readHashes,
  readTools,
  TASK_CAUSES,
} from './misfit.ts';
import { findWiderTerm } from './narrowing.ts';
import { tasks } from './tables.ts';
import type { NewTaskTerms, TaskCause, TaskFilter, TaskRecord, TaskRow, Tasks, TaskTerms } from './types.ts';
import { openTaskHash } from './values.ts';

export interface TaskParts {
  readonly store: () => Promise<Store>;
  /** Returns the active policy, the clock and the journal. */
  readonly ports: () => Pick<AuditPorts, 'policy' | 'now_ms' | 'record'>;
  /** The secret from which hash keys are derived. */
  readonly secret: string;
}

export const TTL_DEFAULT_MS = 3_600_000;
export const TTL_MAX_MS = 86_400_000;
/** Tasks that may be active at one time. */
const ACTIVE_MAX = 100_000;
/** Tasks in one delegation line, with the first. */
const DEPTH_MAX = 8;

type Db = Kysely<StoreTables> | Transaction<StoreTables>;

/** Opens the tasks for one process over the shared store. */
export function openTasks(parts: TaskParts): Tasks {
  const { store, ports } = parts;
  const db = async () => (await store()).db;
  const getRecord = (row: TaskRow | undefined) =>
    row === undefined ? null : buildRecord(row, ports().now_ms());
  const find = async (taskId: string) => getRecord((await readLine(await db(), taskId))[0]);
  return {
    create: (request) => createTask({ ...request, parent: null }, parts),
    delegate: async (parent, request) => {
      const line = await readLine(await db(), parent.task_id);
      const [row] = line;
      if (row === undefined || line.length >= DEPTH_MAX)
        return { path: 'task_id', message: `was delegated ${DEPTH_MAX} times, which is the limit` };
      const terms: TaskTerms = {
        tools: request.tools ?? readTools(row.tools),
        values: request.values ?? {},
        sources: request.sources ?? {},
        sums: request.sums ?? (JSON.parse(row.sums) as Record<string, string>),
        calls_max: request.calls_max ?? row.calls_max,
        cost_max: request.cost_max ?? row.cost_max,
      };
      const wider = findWiderTerm(terms, row, openTaskHash(parts.secret, row.task_id));
      if (wider !== null) return wider;
      const { tenant_id, user_id } = row;
      return createTask({ ...request, ...terms, tenant_id, user_id, parent: row }, parts);
    },
    find,
    list: async (filter) => listRecords(await db(), filter, ports().now_ms()),
    revoke: async (taskId, by) => {
      const nowMs = ports().now_ms();
      const ended = await (await db())
        .updateTable('tasks')
        .set({ revoked_ms: nowMs, revoked_by: by })
        .where('task_id', '=', taskId)
        .where('revoked_ms', 'is', null)
        .executeTakeFirst();
      const record = await find(taskId);
      if (record !== null && ended.numUpdatedRows === 1n)
        await recordChange(record, 'task_revoke', by, parts, 'The task was revoked, but it');
      return record;
    },
    check: (use) => checkTask(use, parts),
    findCostLimits: (holder) => findCostLimits(holder, parts),
  };
}

/** Reads a task and those that it was delegated from, itself first. Empty if any is missing. */
async function readLine(db: Db, taskId: string): Promise<readonly TaskRow[]> {
  const line: TaskRow[] = [];
  for (let next: string | null = taskId; next !== null; ) {
    const row: TaskRow | undefined = await db
      .selectFrom('tasks')
      .selectAll()
      .where('task_id', '=', next)
      .executeTakeFirst();
    if (row === undefined || line.length >= DEPTH_MAX) return [];
    line.push(row);
    next = row.parent_id;
  }
  return line;
}

interface Creation extends NewTaskTerms {
  readonly parent: TaskRow | null;
}

async function createTask(request: Creation, parts: TaskParts): Promise<TaskRecord | null> {
  const { parent, ttl_ms, values, sources, tools, sums, ...own } = request;
  const nowMs = parts.ports().now_ms();
  const taskId = `tsk_${randomBytes(12).toString('hex')}`;
  const hash = openTaskHash(parts.secret, taskId);
  const hashAll = (terms: TaskTerms['values']): string =>
    JSON.stringify(
      Object.fromEntries(
        Object.entries(terms).map(([path, list]) => [path, list.flatMap((each) => hash(path, each) ?? [])]),
      ),
    );
  const endMs = nowMs + Math.min(ttl_ms ?? TTL_DEFAULT_MS, TTL_MAX_MS);
  const row: TaskRow = {
    task_id: taskId,
    ...{ tenant_id: own.tenant_id, agent_id: own.agent_id, user_id: own.user_id },
    parent_id: parent?.task_id ?? null,
    tools: JSON.stringify(tools),
    permitted: hashAll(values),
    source_calls: hashAll(sources),
    sums: JSON.stringify(sums),
    spent: '{}',
    ...{
      calls_max: own.calls_max,
      calls: 0,
      cost_max: own.cost_max,
      created_by: own.created_by,
      created_ms: nowMs,
    },
    expires_ms: Math.min(endMs, parent?.expires_ms ?? endMs),
    ...{ revoked_by: null, revoked_ms: null },
  };
  const { db } = await parts.store();
  if ((await countActive(db, nowMs)) >= ACTIVE_MAX) return null;
  await db.insertInto('tasks').values(row).execute();
  const record = buildRecord(row, nowMs);
  try {
    const phase = parent === null ? 'task_create' : 'task_delegate';
    await recordChange(record, phase, own.created_by, parts, 'No task was created: it');
  } catch (error) {
    await db.deleteFrom('tasks').where('task_id', '=', taskId).execute();
    throw error;
  }
  return record;
}

async function countActive(db: Db, nowMs: number): Promise<number> {
  const { active } = await db
    .selectFrom('tasks')
    .select((row) => row.fn.countAll<number>().as('active'))
    .where('expires_ms', '>', nowMs)
    .where('revoked_ms', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(active);
}

async function listRecords(db: Db, filter: TaskFilter, nowMs: number): Promise<TaskRecord[]> {
  const { agent_ids, tenant_ids, status, limit } = filter;
  if (agent_ids?.length === 0 || tenant_ids?.length === 0) return [];
  let query = db.selectFrom('tasks').selectAll();
  if (agent_ids !== undefined) query = query.where('agent_id', 'in', agent_ids);
  if (tenant_ids !== undefined) query = query.where('tenant_id', 'in', tenant_ids);
  if (status !== undefined) query = query.where('revoked_ms', status === 'revoked' ? 'is not' : 'is', null);
  if (status === 'active') query = query.where('expires_ms', '>', nowMs);
  if (status === 'expired') query = query.where('expires_ms', '<=', nowMs);
  const rows = await query.orderBy('created_ms', 'desc').orderBy('task_id', 'desc').limit(limit).execute();
  return rows.map((row) => buildRecord(row, nowMs));
}

function buildRecord(row: TaskRow, nowMs: number): TaskRecord {
  return {
    ...tasks.show(row),
    status: getLifetimeStatus(row, nowMs),
    arguments: Object.keys(readHashes(row.permitted)),
    sources: Object.keys(readHashes(row.source_calls)),
  };
}

/** Checks a call against a task and all tasks that it was delegated from. */
async function checkTask(use: TaskUse, parts: TaskParts): Promise<CheckedTask> {
  try {
    const { db } = await parts.store();
    const line = await readLine(db, use.task_id);
    const nowMs = parts.ports().now_ms();
    const cause = findLineMisfit(line, use, nowMs, parts);
    if (cause !== null) return buildRefusal(line[0]?.task_id ?? null, cause);
    return {
      shown: {
        task_id: use.task_id,
        refusal: null,
        // Agents delegate tasks, so that only the first one says what its creator listed.
        listed_arguments: listPermittedArguments(line.at(-1)!, use.tool),
        ...(line.some(hasSources) && { is_source: isSourceOfLine(line, use, parts) }),
      },
      count: async () => {
        const failed = await countCall(await parts.store(), line, use, parts.ports().now_ms());
        return failed === null ? null : buildReason(failed);
      },
    };
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
    const reason = 'The task could not be checked, because the store is not available.';
    const refusal = { rule: 'fault.store', reason };
    return { shown: { task_id: null, refusal }, count: async () => refusal };
  }
}

/** Returns whether the first task, and each one that narrows it, lists a call as a source. */
function isSourceOfLine(line: readonly TaskRow[], use: TaskUse, { secret }: TaskParts): boolean {
  return line.every(
    (row, at) =>
      (at < line.length - 1 && !hasSources(row)) || isSourceCall(row, use, openTaskHash(secret, row.task_id)),
  );
}

async function findCostLimits(holder: TaskHolder, parts: TaskParts): ReturnType<Tasks['findCostLimits']> {
  const line = await readLine((await parts.store()).db, holder.task_id);
  const nowMs = parts.ports().now_ms();
  const [own] = line;
  if (own === undefined) return { refusal: buildReason('unknown') };
  const ends = line.map((row) => findLifetimeEnd({ ...row, begins_ms: row.created_ms }, nowMs));
  const cause = findWrongHolder(own, holder) ?? ends.find((end) => end !== null) ?? null;
  if (cause !== null) return { refusal: buildReason(cause) };
  return {
    limits: line.flatMap(({ task_id, cost_max, created_ms, expires_ms }) =>
      cost_max === null
        ? []
        : [{ task_id, cost_max_micro_usd: parseMicroUsd(cost_max), created_ms, expires_ms }],
    ),
  };
}

/** Returns US dollars in whole millionths, rounded down. */
function parseMicroUsd(dollars: string): number {
  const { units, scale } = parseDecimal(dollars) ?? { units: 0n, scale: 0 };
  return Number((units * 1_000_000n) / 10n ** BigInt(scale));
}

function buildRefusal(taskId: string | null, cause: TaskCause): CheckedTask {
  const refusal = buildReason(cause);
  return { shown: { task_id: taskId, refusal }, count: async () => refusal };
}

function buildReason(cause: TaskCause) {
  return { rule: `task.${cause}`, reason: TASK_CAUSES[cause] };
}

function findLineMisfit(
  line: readonly TaskRow[],
  use: TaskUse,
  nowMs: number,
  { secret }: TaskParts,
): TaskCause | null {
  const [own] = line;
  if (own === undefined) return 'unknown';
  const wrong = findWrongHolder(own, use);
  if (wrong !== null) return wrong;
  for (const row of line) {
    const cause =
      findLifetimeEnd({ ...row, begins_ms: row.created_ms }, nowMs) ??
      findUnfitTerm(row, use, openTaskHash(secret, row.task_id));
    if (cause !== null) return cause;
    const amounts = readAmounts(row, use.tool, use.content);
    const counted = amounts === null ? 'sums' : addCall(row, amounts);
    if (typeof counted === 'string') return counted;
  }
  return null;
}

/** Ends the transaction of `countCall`. */
class CallRefused extends Error {
  readonly cause_name: TaskCause;

  constructor(cause: TaskCause) {
    super(cause);
    this.cause_name = cause;
  }
}

/** Counts an allowed call for all tasks in a line, or for none. Returns why it cannot be counted, else `null`. */
async function countCall(
  store: Store,
  line: readonly TaskRow[],
  { tool, content }: TaskUse,
  nowMs: number,
): Promise<TaskCause | null> {
  const amounts = new Map(line.map((row) => [row.task_id, readAmounts(row, tool, content) ?? {}]));
  // Ordered by id, so that two calls that share some tasks do not deadlock.
  const ids = [...amounts.keys()].sort();
  try {
    await store.transaction(async (trx) => {
      for (const id of ids) await countOne(trx, id, amounts.get(id)!, nowMs);
    });
    return null;
  } catch (error) {
    if (error instanceof CallRefused) return error.cause_name;
    throw error;
  }
}

async function countOne(
  trx: Transaction<StoreTables>,
  taskId: string,
  amounts: Amounts,
  nowMs: number,
): Promise<void> {
  const row = await trx
    .selectFrom('tasks')
    .selectAll()
    .where('task_id', '=', taskId)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) throw new CallRefused('unknown');
  const end = findLifetimeEnd({ ...row, begins_ms: row.created_ms }, nowMs);
  if (end !== null) throw new CallRefused(end);
  const counted = addCall(row, amounts);
  if (typeof counted === 'string') throw new CallRefused(counted);
  await trx.updateTable('tasks').set(counted).where('task_id', '=', taskId).execute();
}

/** @throws Unavailable if the event cannot be written */
function recordChange(
  record: TaskRecord,
  phase: 'task_create' | 'task_delegate' | 'task_revoke',
  callerId: string,
  { ports }: TaskParts,
  what: string,
): Promise<void> {
  const { policy, now_ms, record: write } = ports();
  const atMs = now_ms();
  const event = buildServiceEvent({
    event_id: createEventId(atMs),
    now_ms: atMs,
    phase,
    done: true,
    reason: REASONS[phase],
    caller_id: callerId,
    policy_hash: policy.hash,
    about: { tenant_id: record.tenant_id, agent_id: record.agent_id },
    metadata: {
      task_id: record.task_id,
      ...(record.parent_id !== null && { task_parent_id: record.parent_id }),
      task_tools: [...record.tools],
      task_arguments: [...record.arguments],
      ...(record.sources.length > 0 && { task_sources: [...record.sources] }),
      expires_at: record.expires_at,
    },
  });
  return recordOrThrow(event, write, what);
}

const REASONS = {
  task_create: 'A task was created.',
  task_delegate: 'A task was delegated.',
  task_revoke: 'A task was revoked.',
} as const;
