/**
 * The main module of the process that verifies the audit log or makes an evidence pack. It receives one request, writes
 * its progress and result to the file of the job, and ends; also when the process that started it ends.
 */
import { constants, setPriority } from 'node:os';
import type { JobRequest } from './job-types.ts';
import { runJob } from './run-job.ts';

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
process.once('disconnect', () => process.exit(1));
process.once('message', (request: JobRequest) => {
  runJob(request, (start) => void process.send?.(start)).then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
