import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lock, takeLock } from '../../drivers/stores/lock.ts';
import { makeFolder } from '../../platform/files/folder.ts';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import type { EvidenceJob, JobKind } from './job-types.ts';

const JOB_ID = /^job_[0-9a-f]{24}$/;
/** The most jobs that are kept, newest first. */
const JOBS_MAX = 20;
/** The most packs that are kept, newest first; each can have gigabytes. */
const PACKS_MAX = 5;
const KEPT_MS = 86_400_000;

/** Returns the folder of jobs and packs in a state folder. */
function getJobsFolder(stateDir: string): string {
  return join(stateDir, 'evidence');
}

function buildJobPath(stateDir: string, jobId: string, suffix: 'json' | 'cancel' | 'tar.gz'): string {
  // The ID becomes part of a path.
  if (!JOB_ID.test(jobId)) throw new TypeError('not the ID of a job');
  return join(getJobsFolder(stateDir), `${jobId}.${suffix}`);
}

/** Returns the path of the pack that a job made. */
export function packPath(stateDir: string, jobId: string): string {
  return buildJobPath(stateDir, jobId, 'tar.gz');
}

/** Takes the lock of a kind of job; `null` if one is running. The kernel frees it when the process ends. */
export function takeJobLock(stateDir: string, kind: JobKind): Lock | null {
  makeFolder(getJobsFolder(stateDir));
  return takeLock(join(getJobsFolder(stateDir), `${kind}.lock`));
}

/** Writes the file of a job. */
export function writeJob(stateDir: string, job: EvidenceJob): void {
  writePrivateFile(buildJobPath(stateDir, job.job_id, 'json'), JSON.stringify(job), 'replace');
}

/**
 * Reads a job; `null` if there is none. A job whose process has ended without a result is `failed`.
 */
export function readJob(stateDir: string, jobId: string): EvidenceJob | null {
  const job = readJobFile(stateDir, jobId);
  if (job?.state !== 'running') return job;
  const lock = takeJobLock(stateDir, job.kind);
  if (lock === null) return isNewest(stateDir, job) ? job : markEnded(job);
  lock.release();
  // It may have ended between the first read and the lock.
  const again = readJobFile(stateDir, jobId);
  return again?.state === 'running' ? markEnded(again) : again;
}

function markEnded(job: EvidenceJob): EvidenceJob {
  return { ...job, state: 'failed', error: 'Its process ended before the result. Start it again.' };
}

/** Another job that is running holds the lock, if there is a newer one of the kind. */
function isNewest(stateDir: string, { kind, job_id }: EvidenceJob): boolean {
  return !listJobIds(stateDir).some((other) => other > job_id && readJobFile(stateDir, other)?.kind === kind);
}

function readJobFile(stateDir: string, jobId: string): EvidenceJob | null {
  if (!JOB_ID.test(jobId)) return null;
  try {
    return JSON.parse(readOwnFileSync(buildJobPath(stateDir, jobId, 'json'))) as EvidenceJob;
  } catch {
    return null;
  }
}

function listJobIds(stateDir: string): readonly string[] {
  const folder = getJobsFolder(stateDir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter((jobId) => JOB_ID.test(jobId))
    .sort()
    .reverse();
}

/** Lists the jobs, newest first. */
export function listJobs(stateDir: string): readonly EvidenceJob[] {
  return listJobIds(stateDir).flatMap((jobId) => readJob(stateDir, jobId) ?? []);
}

/** Deletes jobs and packs that are older than a day or too many. Call it before a job is started. */
export function pruneJobs(stateDir: string, nowMs: number): void {
  let packs = 0;
  for (const [at, job] of listJobs(stateDir).entries()) {
    if (job.state === 'running') continue;
    if (job.pack !== null) packs += 1;
    const isOld = nowMs - job.created_ms > KEPT_MS;
    if (isOld || at >= JOBS_MAX || (job.pack !== null && packs >= PACKS_MAX)) removeJob(stateDir, job.job_id);
  }
}

function removeJob(stateDir: string, jobId: string): void {
  for (const suffix of ['tar.gz', 'cancel', 'json'] as const)
    rmSync(buildJobPath(stateDir, jobId, suffix), { force: true });
}

/** Asks the process of a job to end. */
export function requestCancel(stateDir: string, jobId: string): void {
  writeFileSync(buildJobPath(stateDir, jobId, 'cancel'), '', { mode: 0o600 });
}

/** Returns whether the job was canceled. */
export function isCancelRequested(stateDir: string, jobId: string): boolean {
  return existsSync(buildJobPath(stateDir, jobId, 'cancel'));
}
