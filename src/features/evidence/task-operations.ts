import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { name } from '../../operations/shapes.ts';
import { dropBlankName, resolveTenant } from '../../operations/subject.ts';
import { AuditFilterError } from '../../runtime/audit/filter.ts';
import { formatTime } from '../../runtime/audit/service-event.ts';
import type { ReportFile } from './build-pack.ts';
import { parsePackWindow } from './pack-window.ts';
import { createTaskId, startTask } from './start-task.ts';
import { listTasks, packPath, pruneTasks, readTask, requestCancel } from './task-files.ts';
import type { EvidenceTask, TaskKind, TaskRequest } from './task-types.ts';
import { TASK_KINDS, TASK_STATES } from './task-types.ts';
import type { EvidenceWindow } from './types.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /**
     * Returns the compliance report of a window as files for a pack.
     *
     * @throws Refusal if there is no such framework
     */
    readonly buildReportFiles: (request: ReportRequest) => Promise<readonly ReportFile[]>;
  }
}

/** The compliance report that a pack includes. */
export interface ReportRequest extends EvidenceWindow {
  readonly framework: string;
  /** The tenants whose events count; `*` for all. */
  readonly tenants: '*' | readonly string[];
}

const count = Type.Integer();
const taskFields = {
  task_id: Type.String(),
  kind: Type.Enum(TASK_KINDS),
  state: Type.Enum(TASK_STATES),
  tenant_id: Type.Nullable(
    Type.String({ description: 'The tenant of a pack; `null` for the whole service.' }),
  ),
  created_by: Type.String(),
  created_at: Type.String(),
  ended_at: Type.Nullable(Type.String()),
  progress: Type.Object(
    { done_bytes: count, total_bytes: count },
    { description: 'The bytes of the audit log that were read, and all bytes.' },
  ),
  verification: Type.Nullable(
    Type.Unsafe<object>({
      type: 'object',
      description: 'The result of a verification, as `customshouse audit verify --json` prints it.',
    }),
  ),
  pack: Type.Nullable(
    Type.Unsafe<object>({
      type: 'object',
      description: 'The pack that was made: window, number of events, size and SHA-256 of the archive.',
    }),
  ),
  error: Type.Nullable(Type.String({ description: 'Why the task failed.' })),
} as const;
const taskSchema = Type.Object(taskFields);

const taskId = Type.String({
  pattern: '^task_[0-9a-f]{24}$',
  maxLength: 29,
  description: 'The ID of the task.',
});
const EXAMPLE_ID = 'task_0123456789abcdef01234567';
const time = { ...name, maxLength: 40 };

export const auditVerifyStart = defineOperation({
  name: 'audit_verify_start',
  summary: 'Start a verification of the audit log',
  description:
    'Verifies every record of the audit log in a separate process with low priority. Answers at once: read the progress and the result with `GET /v1/dashboard/audit/tasks/{task_id}`. One verification runs at a time.',
  http: { method: 'POST', path: '/v1/dashboard/audit/verify' },
  permission: 'audit:export',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({}),
  output: taskSchema,
  example: {},
  answer: null,
  refusals: ['conflict', 'not_configured'],
  async run(_input, context) {
    return beginTask('verify', null, null, context);
  },
});

export const evidencePackStart = defineOperation({
  name: 'evidence_pack_start',
  summary: 'Start to make an evidence pack',
  description:
    'Makes a signed archive that proves the events of a window, in a separate process with low priority. Answers at once: read the progress with `GET /v1/dashboard/audit/tasks/{task_id}`, then download the archive. One pack is made at a time. A user of particular tenants gets a pack of one tenant.',
  http: { method: 'POST', path: '/v1/dashboard/evidence/packs' },
  permission: 'audit:export',
  needs: 'live',
  input: Type.Object({
    framework: Type.Optional({
      ...name,
      maxLength: 64,
      description: 'Includes the compliance report for this framework, such as `hipaa`.',
    }),
    since: Type.Optional({
      ...time,
      description: 'The beginning: ISO 8601, or a duration before now (`90d`).',
    }),
    until: Type.Optional({
      ...time,
      description: 'The end, exclusive: ISO 8601, or a duration before now. Default: now.',
    }),
    last: Type.Optional({
      ...time,
      description: 'A duration before now, instead of `since` and `until`. Default `90d`.',
    }),
    tenant_id: Type.Optional({
      ...name,
      description: 'The only tenant whose events have their content (default: all).',
    }),
  }),
  output: taskSchema,
  example: { last: '30d' },
  answer: null,
  refusals: ['conflict', 'not_configured'],
  async run(input, context) {
    const { caller, runtime } = context;
    const isNamed = dropBlankName(input.tenant_id) !== null || dropBlankName(context.tenant_id) !== null;
    const tenantId = caller.tenants === '*' && !isNamed ? null : resolveTenant(input, context);
    const window = parseWindow(input, runtime.now_ms());
    const framework = dropBlankName(input.framework);
    const tenants = tenantId === null ? ('*' as const) : [tenantId];
    requireJournal(context);
    // Chains what short-lived processes left, so that the pack has it.
    await runtime.queryAudit({ limit: 1 });
    const report =
      framework === null ? [] : await runtime.buildReportFiles({ ...window, framework, tenants });
    return beginTask('pack', tenantId, { window, framework, report }, context);
  },
});

export const auditTasks = defineOperation({
  name: 'audit_tasks',
  summary: 'List verifications and evidence packs',
  description: 'The verifications and packs of the last day on this node, newest first, 20 at most.',
  http: { method: 'GET', path: '/v1/dashboard/audit/tasks' },
  permission: 'audit:export',
  needs: 'live',
  input: Type.Object({}),
  output: Type.Object({ tasks: Type.Array(taskSchema) }),
  example: {},
  answer: { tasks: [] },
  async run(_input, context) {
    const tasks = listTasks(context.runtime.limits.state_dir).filter((task) => maySee(task, context));
    return { tasks: tasks.map(describeTask) };
  },
});

export const auditTaskShow = defineOperation({
  name: 'audit_task_show',
  summary: 'Show the progress and result of a verification or a pack',
  description: 'The task with its progress, and its result when it has ended.',
  http: { method: 'GET', path: '/v1/dashboard/audit/tasks/{task_id}' },
  permission: 'audit:export',
  needs: 'live',
  input: Type.Object({ task_id: taskId }),
  output: taskSchema,
  example: { task_id: EXAMPLE_ID },
  answer: null,
  refusals: ['not_found'],
  run: async ({ task_id }, context) => describeTask(await requireTask(task_id, context)),
});

export const auditTaskCancel = defineOperation({
  name: 'audit_task_cancel',
  summary: 'Cancel a verification or a pack',
  description: 'Ends a running task within a second. A task that has ended stays as it is.',
  http: { method: 'POST', path: '/v1/dashboard/audit/tasks/{task_id}/cancel' },
  permission: 'audit:export',
  needs: 'live',
  input: Type.Object({ task_id: taskId }),
  output: taskSchema,
  example: { task_id: EXAMPLE_ID },
  answer: null,
  refusals: ['not_found'],
  async run({ task_id }, context) {
    const task = await requireTask(task_id, context);
    if (task.state === 'running') requestCancel(context.runtime.limits.state_dir, task_id);
    return describeTask(task);
  },
});

export const evidencePackDownload = defineOperation({
  name: 'evidence_pack_download',
  summary: 'Download an evidence pack',
  description: 'The archive that the task made. It is kept for a day; the five newest are kept.',
  http: { method: 'GET', path: '/v1/dashboard/evidence/packs/{task_id}', produces: 'application/gzip' },
  permission: 'audit:export',
  needs: 'live',
  input: Type.Object({ task_id: taskId }),
  output: Type.Unsafe<Readable>({ type: 'string', format: 'binary' }),
  example: { task_id: EXAMPLE_ID },
  answer: null,
  refusals: ['not_found'],
  async run({ task_id }, context) {
    const task = await requireTask(task_id, context);
    const path = packPath(context.runtime.limits.state_dir, task_id);
    if (task.pack === null || !existsSync(path))
      throw new Refusal('not_found', 'This task has no evidence pack. Make a new one.');
    // The transport streams it; the answer is not held in memory.
    return createReadStream(path);
  },
});

function parseWindow(input: Parameters<typeof parsePackWindow>[0], nowMs: number): EvidenceWindow {
  try {
    return parsePackWindow(input, nowMs);
  } catch (error) {
    if (error instanceof AuditFilterError) throw new Refusal('invalid_request', error.message, error.details);
    throw error;
  }
}

/** A pack of all tenants, and a verification, are for callers with access to all tenants. */
function maySee({ tenant_id }: EvidenceTask, { caller: { tenants } }: Context): boolean {
  return tenants === '*' || (tenant_id !== null && tenants.includes(tenant_id));
}

async function requireTask(id: string, context: Context): Promise<EvidenceTask> {
  const task = readTask(context.runtime.limits.state_dir, id);
  if (task !== null && maySee(task, context)) return task;
  throw new Refusal('not_found', 'There is no task with this ID on this node. Tasks are kept for a day.');
}

function requireJournal({ runtime }: Context): void {
  if (existsSync(join(runtime.limits.state_dir, 'journal'))) return;
  throw new Refusal('not_configured', 'There is no audit log: `audit.enabled` is `false`.');
}

async function beginTask(
  kind: TaskKind,
  tenantId: string | null,
  pack: TaskRequest['pack'],
  context: Context,
) {
  requireJournal(context);
  const { runtime, caller } = context;
  const { state_dir } = runtime.limits;
  const createdMs = Date.now();
  const id = createTaskId(createdMs);
  pruneTasks(state_dir, createdMs);
  const outcome = await startTask({
    ...{
      task_id: id,
      kind,
      tenant_id: tenantId,
      created_by: caller.id,
      created_ms: createdMs,
      state_dir,
      pack,
    },
    service_version: runtime.version,
    policy_hash: runtime.policy().hash,
  });
  if (outcome === 'busy') throw new Refusal('conflict', `${RUNNING[kind]} Wait until it ends, or cancel it.`);
  if (outcome === 'failed')
    throw new Refusal('unavailable', 'The process for this could not be started. Try again.');
  return describeTask(await requireTask(id, context));
}

const RUNNING: Readonly<Record<TaskKind, string>> = {
  verify: 'A verification is running already.',
  pack: 'An evidence pack is being made already.',
};

function describeTask({ created_ms, ended_ms, ...task }: EvidenceTask) {
  return {
    ...task,
    verification: task.verification as object | null,
    pack: task.pack as object | null,
    created_at: formatTime(created_ms),
    ended_at: ended_ms === null ? null : formatTime(ended_ms),
  };
}
