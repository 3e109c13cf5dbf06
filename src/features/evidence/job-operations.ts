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
import { listJobs, packPath, pruneJobs, readJob, requestCancel } from './job-files.ts';
import type { EvidenceJob, JobKind, JobRequest } from './job-types.ts';
import { JOB_KINDS, JOB_STATES } from './job-types.ts';
import { parsePackWindow } from './pack-window.ts';
import { createJobId, startJob } from './start-job.ts';
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
const jobFields = {
  job_id: Type.String(),
  kind: Type.Enum(JOB_KINDS),
  state: Type.Enum(JOB_STATES),
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
  error: Type.Nullable(Type.String({ description: 'Why the job failed.' })),
} as const;
const jobSchema = Type.Object(jobFields);

const jobId = Type.String({
  pattern: '^job_[0-9a-f]{24}$',
  maxLength: 29,
  description: 'The ID of the job.',
});
const EXAMPLE_ID = 'job_0123456789abcdef01234567';
const time = { ...name, maxLength: 40 };

export const auditVerifyStart = defineOperation({
  name: 'audit_verify_start',
  summary: 'Start a verification of the audit log',
  description:
    'Verifies every record of the audit log in a separate process with low priority. Answers at once: read the progress and the result with `GET /v1/dashboard/audit/jobs/{job_id}`. One verification runs at a time.',
  http: { method: 'POST', path: '/v1/dashboard/audit/verify' },
  permission: 'audit:export',
  tenants: 'all',
  needs: 'live',
  input: Type.Object({}),
  output: jobSchema,
  example: {},
  answer: null,
  refusals: ['conflict', 'not_configured'],
  async run(_input, context) {
    return beginJob('verify', null, null, context);
  },
});

export const evidencePackStart = defineOperation({
  name: 'evidence_pack_start',
  summary: 'Start to make an evidence pack',
  description:
    'Makes a signed archive that proves the events of a window, in a separate process with low priority. Answers at once: read the progress with `GET /v1/dashboard/audit/jobs/{job_id}`, then download the archive. One pack is made at a time. A user of particular tenants gets a pack of one tenant.',
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
  output: jobSchema,
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
    return beginJob('pack', tenantId, { window, framework, report }, context);
  },
});

export const auditJobs = defineOperation({
  name: 'audit_jobs',
  summary: 'List verifications and evidence packs',
  description: 'The verifications and packs of the last day on this node, newest first, 20 at most.',
  http: { method: 'GET', path: '/v1/dashboard/audit/jobs' },
  permission: 'audit:export',
  needs: 'live',
  input: Type.Object({}),
  output: Type.Object({ jobs: Type.Array(jobSchema) }),
  example: {},
  answer: { jobs: [] },
  async run(_input, context) {
    const jobs = listJobs(context.runtime.limits.state_dir).filter((job) => maySee(job, context));
    return { jobs: jobs.map(describeJob) };
  },
});

export const auditJobShow = defineOperation({
  name: 'audit_job_show',
  summary: 'Show the progress and result of a verification or a pack',
  description: 'The job with its progress, and its result when it has ended.',
  http: { method: 'GET', path: '/v1/dashboard/audit/jobs/{job_id}' },
  permission: 'audit:export',
  needs: 'live',
  input: Type.Object({ job_id: jobId }),
  output: jobSchema,
  example: { job_id: EXAMPLE_ID },
  answer: null,
  refusals: ['not_found'],
  run: async ({ job_id }, context) => describeJob(await requireJob(job_id, context)),
});

export const auditJobCancel = defineOperation({
  name: 'audit_job_cancel',
  summary: 'Cancel a verification or a pack',
  description: 'Ends a running job within a second. A job that has ended stays as it is.',
  http: { method: 'POST', path: '/v1/dashboard/audit/jobs/{job_id}/cancel' },
  permission: 'audit:export',
  needs: 'live',
  input: Type.Object({ job_id: jobId }),
  output: jobSchema,
  example: { job_id: EXAMPLE_ID },
  answer: null,
  refusals: ['not_found'],
  async run({ job_id }, context) {
    const job = await requireJob(job_id, context);
    if (job.state === 'running') requestCancel(context.runtime.limits.state_dir, job_id);
    return describeJob(job);
  },
});

export const evidencePackDownload = defineOperation({
  name: 'evidence_pack_download',
  summary: 'Download an evidence pack',
  description: 'The archive that the job made. It is kept for a day; the five newest are kept.',
  http: { method: 'GET', path: '/v1/dashboard/evidence/packs/{job_id}', produces: 'application/gzip' },
  permission: 'audit:export',
  needs: 'live',
  input: Type.Object({ job_id: jobId }),
  output: Type.Unsafe<Readable>({ type: 'string', format: 'binary' }),
  example: { job_id: EXAMPLE_ID },
  answer: null,
  refusals: ['not_found'],
  async run({ job_id }, context) {
    const job = await requireJob(job_id, context);
    const path = packPath(context.runtime.limits.state_dir, job_id);
    if (job.pack === null || !existsSync(path))
      throw new Refusal('not_found', 'This job has no evidence pack. Make a new one.');
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
function maySee({ tenant_id }: EvidenceJob, { caller: { tenants } }: Context): boolean {
  return tenants === '*' || (tenant_id !== null && tenants.includes(tenant_id));
}

async function requireJob(id: string, context: Context): Promise<EvidenceJob> {
  const job = readJob(context.runtime.limits.state_dir, id);
  if (job !== null && maySee(job, context)) return job;
  throw new Refusal('not_found', 'There is no job with this ID on this node. Jobs are kept for a day.');
}

function requireJournal({ runtime }: Context): void {
  if (existsSync(join(runtime.limits.state_dir, 'journal'))) return;
  throw new Refusal('not_configured', 'There is no audit log: `audit.enabled` is `false`.');
}

async function beginJob(kind: JobKind, tenantId: string | null, pack: JobRequest['pack'], context: Context) {
  requireJournal(context);
  const { runtime, caller } = context;
  const { state_dir } = runtime.limits;
  const createdMs = Date.now();
  const id = createJobId(createdMs);
  pruneJobs(state_dir, createdMs);
  const outcome = await startJob({
    known_heads: kind === 'verify' ? await listKnownHeads(context) : null,
    ...{
      job_id: id,
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
  return describeJob(await requireJob(id, context));
}

/** Without an index, the chains are verified without what it remembers. */
async function listKnownHeads({ runtime }: Context): Promise<JobRequest['known_heads']> {
  return runtime.listIndexedHeads().then(
    (heads) => [...heads],
    () => null,
  );
}

const RUNNING: Readonly<Record<JobKind, string>> = {
  verify: 'A verification is running already.',
  pack: 'An evidence pack is being made already.',
};

function describeJob({ created_ms, ended_ms, ...job }: EvidenceJob) {
  return {
    ...job,
    verification: job.verification as object | null,
    pack: job.pack as object | null,
    created_at: formatTime(created_ms),
    ended_at: ended_ms === null ? null : formatTime(ended_ms),
  };
}
