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
function getTasksFolder(state_dir: string): string {
  return join(state_dir, 'evidence');
}

function buildTaskPath(state_dir: string, task_id: string, suffix: 'json' | 'cancel' | 'tar.gz'): string {
  // The ID becomes part of a path.
  if (!TASK_ID.test(task_id)) throw new TypeError('not the ID of a task');
  return join(getTasksFolder(state_dir), `${task_id}.${suffix}`);
}

/** Returns the path of the pack that a task made. */
export function packPath(state_dir: string, task_id: string): string {
  return buildTaskPath(state_dir, task_id, 'tar.gz');
}

/** Takes the lock of a kind of task; `null` if one is running. The kernel frees it when the process ends. */
export function takeTaskLock(state_dir: string, kind: TaskKind): Lock | null {
  makeFolder(getTasksFolder(state_dir));
  return takeLock(join(getTasksFolder(state_dir), `${kind}.lock`));
}

/** Writes the file of a task. */
export function writeTask(state_dir: string, task: EvidenceTask): void {
  writePrivateFile(buildTaskPath(state_dir, task.task_id, 'json'), JSON.stringify(task), 'replace');
}

/**
 * Reads a task; `null` if there is none. A task whose process has ended without a result is `failed`.
 */
export function readTask(state_dir: string, task_id: string): EvidenceTask | null {
  const task = readTaskFile(state_dir, task_id);
  if (task?.state !== 'running') return task;
  const lock = takeTaskLock(state_dir, task.kind);
  if (lock === null) return isNewest(state_dir, task) ? task : markEnded(task);
  lock.release();
  // It may have ended between the first read and the lock.
  const again = readTaskFile(state_dir, task_id);
  return again?.state === 'running' ? markEnded(again) : again;
}

function markEnded(task: EvidenceTask): EvidenceTask {
  return { ...task, state: 'failed', error: 'Its process ended before the result. Start it again.' };
}

/** Another task that is running holds the lock, if there is a newer one of the kind. */
function isNewest(state_dir: string, { kind, task_id }: EvidenceTask): boolean {
  return !listTaskIds(state_dir).some(
    (other) => other > task_id && readTaskFile(state_dir, other)?.kind === kind,
  );
}

function readTaskFile(state_dir: string, task_id: string): EvidenceTask | null {
  if (!TASK_ID.test(task_id)) return null;
  try {
    return JSON.parse(readOwnFileSync(buildTaskPath(state_dir, task_id, 'json'))) as EvidenceTask;
  } catch {
    return null;
  }
}

function listTaskIds(state_dir: string): readonly string[] {
  const folder = getTasksFolder(state_dir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .filter((task_id) => TASK_ID.test(task_id))
    .sort()
    .reverse();
}

/** Lists the tasks, newest first. */
export function listTasks(state_dir: string): readonly EvidenceTask[] {
  return listTaskIds(state_dir).flatMap((task_id) => readTask(state_dir, task_id) ?? []);
}

/** Deletes tasks and packs that are older than a day or too many. Call it before a task is started. */
export function pruneTasks(state_dir: string, now_ms: number): void {
  let packs = 0;
  for (const [at, task] of listTasks(state_dir).entries()) {
    if (task.state === 'running') continue;
    if (task.pack !== null) packs += 1;
    const is_old = now_ms - task.created_ms > KEPT_MS;
    if (is_old || at >= TASKS_MAX || (task.pack !== null && packs >= PACKS_MAX))
      removeTask(state_dir, task.task_id);
  }
}

function removeTask(state_dir: string, task_id: string): void {
  for (const suffix of ['tar.gz', 'cancel', 'json'] as const)
    rmSync(buildTaskPath(state_dir, task_id, suffix), { force: true });
}

/** Asks the process of a task to end. */
export function requestCancel(state_dir: string, task_id: string): void {
  writeFileSync(buildTaskPath(state_dir, task_id, 'cancel'), '', { mode: 0o600 });
}

/** Returns whether the task was canceled. */
export function isCancelRequested(state_dir: string, task_id: string): boolean {
  return existsSync(buildTaskPath(state_dir, task_id, 'cancel'));
}
