/**
 * The main module of the process that verifies the audit log or makes an evidence pack. It receives one request, writes
 * its progress and result to the file of the task, and ends; also when the process that started it ends.
 */
import { constants, setPriority } from 'node:os';
import { runTask } from './run-task.ts';
import type { TaskRequest } from './task-types.ts';

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
process.once('disconnect', () => process.exit(1));
process.once('message', (request: TaskRequest) => {
  runTask(request, (start) => void process.send?.(start)).then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
