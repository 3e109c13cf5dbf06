import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildChildEnvironment } from '../../platform/apart.ts';
import type { JobRequest, JobStart } from './job-types.ts';

const START_MS_MAX = 15_000;

/** Returns the ID of a new job. IDs sort by time. */
export function createJobId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(11, '0').slice(-11);
  return `job_${time}${randomBytes(7).toString('hex').slice(1)}`;
}

/**
 * Starts the process of a job, with low priority, so that decisions are not slowed. It ends with this process. Resolves
 * when the job has begun, or could not.
 */
export function startJob(request: JobRequest): Promise<JobStart> {
  // The TypeScript source and the compiled program have the same layout and differ in the file extension.
  const program = fileURLToPath(new URL(`./job-process${extname(import.meta.url)}`, import.meta.url));
  const child = fork(program, [], {
    env: buildChildEnvironment(),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      resolve('failed');
    }, START_MS_MAX);
    const settle = (start: JobStart): void => {
      clearTimeout(timer);
      resolve(start);
      // The process must not keep this one alive.
      child.unref();
      child.channel?.unref();
    };
    child.once('message', (start: JobStart) => settle(start));
    child.once('error', () => settle('failed'));
    child.once('exit', () => settle('failed'));
    child.send(request, (error) => {
      if (error !== null) settle('failed');
    });
  });
}
