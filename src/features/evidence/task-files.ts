import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lock, takeLock } from '../../drivers/stores/lock.ts';
import { makeFolder } from '../../platform/files/folder.ts';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import type { EvidenceTask, TaskKind } from './task-types.ts';

const TASK_ID = /^task_[0-9a-f]{24}$/;
/** The most tasks that are kept, newest first. */
const TASKS_MAX = 20;
/** The most packs that are kept, newest first; each can have gigabytes. */
const PACKS_MAX = 5;
const KEPT_MS = 86_400_000;

/** Returns the folder of tasks and packs in a state folder. */
function getTasksFolder(stateDir: string): string {
  return join(stateDir, 'evidence');
}

function buildTaskPath(stateDir: string, taskId: string, suffix: 'json' | 'cancel' | 'tar.gz'): string {
  // The ID becomes part of a path.
  if (!TASK_ID.test(taskId)) throw new TypeError('not the ID of a task');
  return join(getTasksFolder(stateDir), `${taskId}.${suffix}`);
}

/** Returns the path of the pack that a task made. */
export function packPath(stateDir: string, taskId: string): string {
  return buildTaskPath(stateDir, taskId, 'tar.gz');
}

/** Takes the lock of a kind of task; `null` if one is running. The kernel frees it when the process ends. */
export function takeTaskLock(stateDir: string, kind: TaskKind): Lock | null {
  makeFolder(getTasksFolder(stateDir));
  return takeLock(join(getTasksFolder(stateDir), `${kind}.lock`));
}

/** Writes the file of a task. */
export function writeTask(stateDir: string, task: EvidenceTask): void {
  writePrivateFile(buildTaskPath(stateDir, task.task_id, 'json'), JSON.stringify(task), 'replace');
}

/**
 * Reads a task; `null` if there is none. A task whose process has ended without a result is `failed`.
 */
export function readTask(stateDir: string, taskId: string): EvidenceTask | null {
  const task = readTaskFile(stateDir, taskId);
  if (task?.state !== 'running') return task;
  const lock = takeTaskLock(stateDir, task.kind);
  if (lock === null) return isNewest(stateDir, task) ? task : markEnded(task);
  lock.release();
  // It may have ended between the first read and the lock.
  const again = readTaskFile(stateDir, taskId);
  return again?.state === 'running' ? markEnded(again) : again;
}

function markEnded(task: EvidenceTask): EvidenceTask {
  return { ...task, state: 'failed', error: 'Its process ended before the result. Start it again.' };
}

/** Another task that is running holds the lock, if there is a newer one of the kind. */
function isNewest(stateDir: string, { kind, task_id }: EvidenceTask): boolean {
  return !listTaskIds(stateDir).some(
    (other) => other > task_id && readTaskFile(stateDir, other)?.kind === kind,
  );
}

function readTaskFile(stateDir: string, taskId: string): EvidenceTask | null {
  if (!TASK_ID.test(taskId)) return null;
  try {
    return JSON.parse(readOwnFileSync(buildTaskPath(stateDir, taskId, 'json'))) as EvidenceTask;
  } catch {
    return null;
  }
}

function listTaskIds(stateDir: string): readonly string[] {
  const folder = getTasksFolder(stateDir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter((taskId) => TASK_ID.test(taskId))
    .sort()
    .reverse();
}

/** Lists the tasks, newest first. */
export function listTasks(stateDir: string): readonly EvidenceTask[] {
  return listTaskIds(stateDir).flatMap((taskId) => readTask(stateDir, taskId) ?? []);
}

/** Deletes tasks and packs that are older than a day or too many. Call it before a task is started. */
export function pruneTasks(stateDir: string, nowMs: number): void {
  let packs = 0;
  for (const [at, task] of listTasks(stateDir).entries()) {
    if (task.state === 'running') continue;
    if (task.pack !== null) packs += 1;
    const isOld = nowMs - task.created_ms > KEPT_MS;
    if (isOld || at >= TASKS_MAX || (task.pack !== null && packs >= PACKS_MAX))
      removeTask(stateDir, task.task_id);
  }
}

function removeTask(stateDir: string, taskId: string): void {
  for (const suffix of ['tar.gz', 'cancel', 'json'] as const)
    rmSync(buildTaskPath(stateDir, taskId, suffix), { force: true });
}

/** Asks the process of a task to end. */
export function requestCancel(stateDir: string, taskId: string): void {
  writeFileSync(buildTaskPath(stateDir, taskId, 'cancel'), '', { mode: 0o600 });
}

/** Returns whether the task was canceled. */
export function isCancelRequested(stateDir: string, taskId: string): boolean {
  return existsSync(buildTaskPath(stateDir, taskId, 'cancel'));
}
