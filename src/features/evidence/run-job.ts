import { join } from 'node:path';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { AuditFailure } from '../../runtime/audit/failure.ts';
import { loadPublicKeys } from '../../runtime/audit/keys.ts';
import { writeSpool } from '../../runtime/audit/spool.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { verifyJournal } from '../../runtime/audit/verify.ts';
import type { VerifyReport } from '../../runtime/audit/verify-report.ts';
import { buildPackEvent, buildVerifyEvent } from './evidence-events.ts';
import { EvidenceFailure } from './failure.ts';
import { isCancelRequested, packPath, takeJobLock, writeJob } from './job-files.ts';
import type { EvidenceJob, JobRequest, JobStart } from './job-types.ts';
import { makePack } from './make-pack.ts';
import type { EvidenceProgress } from './types.ts';

const CANCEL_POLL_MS = 200;
const PROGRESS_MS = 300;

interface Work {
  readonly request: JobRequest;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: EvidenceProgress) => void;
}

/** Runs a job to its end. Reports its start first, and its progress and result in its file. */
export async function runJob(request: JobRequest, report: (start: JobStart) => void): Promise<void> {
  const { state_dir, job_id, kind, tenant_id, created_by, created_ms } = request;
  const lock = takeJobLock(state_dir, kind);
  if (lock === null) return report('busy');
  const begun: EvidenceJob = {
    ...{ job_id, kind, tenant_id, created_by, created_ms },
    ...{ state: 'running', ended_ms: null, verification: null, pack: null, error: null },
    progress: { done_bytes: 0, total_bytes: 0 },
  };
  writeJob(state_dir, begun);
  report('started');
  const canceling = new AbortController();
  const poll = setInterval(() => {
    if (isCancelRequested(state_dir, job_id)) canceling.abort();
  }, CANCEL_POLL_MS);
  const progress = openProgress(state_dir, begun);
  try {
    const work = { request, signal: canceling.signal, onProgress: progress.note };
    const ended = await (kind === 'verify' ? runVerify(work) : runPack(work));
    writeJob(state_dir, { ...progress.job(), ...ended, ended_ms: Date.now() });
  } finally {
    clearInterval(poll);
    lock.release();
  }
}

/** Writes the progress a few times a second at most. */
function openProgress(stateDir: string, begun: EvidenceJob) {
  let job = begun;
  let writtenMs = Number.NEGATIVE_INFINITY;
  return {
    job: () => job,
    note: (progress: EvidenceProgress): void => {
      job = { ...job, progress };
      if (performance.now() - writtenMs < PROGRESS_MS) return;
      writtenMs = performance.now();
      writeJob(stateDir, job);
    },
  };
}

type JobOutcome = Pick<EvidenceJob, 'state'> & Partial<EvidenceJob>;

async function runVerify(work: Work): Promise<JobOutcome> {
  const { request } = work;
  try {
    const verification = await runVerification(work);
    await recordEvent(request, buildVerifyEvent(verification, describeOwn(request)));
    return { state: 'done', verification };
  } catch (error) {
    return describeFailure(error, work.signal);
  }
}

/** Verifies the chains, and that they have what the index remembers. */
async function runVerification({
  request: { state_dir, known_heads },
  signal,
  onProgress,
}: Work): Promise<VerifyReport> {
  return verifyJournal({
    dir: join(state_dir, 'journal'),
    public_keys: await loadPublicKeys(join(state_dir, 'keys')),
    ...(known_heads !== null && { known_heads: new Map(known_heads) }),
    ...{ signal, onProgress },
  });
}

async function runPack(work: Work): Promise<JobOutcome> {
  const { request, signal, onProgress } = work;
  const { state_dir, service_version, tenant_id, job_id, pack: wanted } = request;
  try {
    if (wanted === null) throw new TypeError('a pack needs a window');
    const target = packPath(state_dir, job_id);
    const pack = await makePack(
      { ...wanted, state_dir, service_version, tenant_id, target },
      { signal, onProgress },
    );
    await recordEvent(request, buildPackEvent(pack, describeOwn(request)));
    return { state: 'done', pack };
  } catch (error) {
    return describeFailure(error, signal);
  }
}

function describeOwn({ created_by, policy_hash }: JobRequest) {
  const nowMs = Date.now();
  return { event_id: createEventId(nowMs), now_ms: nowMs, caller_id: created_by, policy_hash };
}

/** Leaves the event in the spool, which the owner of the journal chains. */
function recordEvent({ state_dir }: JobRequest, event: AuditEvent): Promise<void> {
  return writeSpool({ dir: join(state_dir, 'journal'), events: [event], now_ms: Date.now });
}

function describeFailure(error: unknown, signal: AbortSignal): JobOutcome {
  if (signal.aborted) return { state: 'canceled' };
  const isExpected = error instanceof EvidenceFailure || error instanceof AuditFailure;
  const code = (error as NodeJS.ErrnoException | null)?.code ?? 'UNKNOWN';
  const message = isExpected
    ? error.message
    : `A file cannot be read or written (${code}). Check the disk, and try again.`;
  return { state: 'failed', error: message };
}
