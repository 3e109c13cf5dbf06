import { matchesName } from '../../core/tags.ts';

/** A path in a task: a tool, and one argument’s name. */
export interface TaskPath {
  readonly tool: string;
  readonly argument: string;
}

/** The pattern of a path such as `send_email.to`. The name after the last dot is the argument. */
export const TASK_PATH = '^[^\\u0000-\\u001f]{1,256}\\.[^.*\\u0000-\\u001f]{1,256}$';

/** Splits a path that matches `TASK_PATH`. */
export function splitTaskPath(path: string): TaskPath {
  const dot = path.lastIndexOf('.');
  return { tool: path.slice(0, dot), argument: path.slice(dot + 1) };
}

/** Returns the entries for one tool in a mapping by path. */
export function listEntriesForTool<Value>(
  entries: Readonly<Record<string, Value>>,
  tool: string,
): readonly { readonly path: string; readonly argument: string; readonly value: Value }[] {
  return Object.entries(entries).flatMap(([path, value]) => {
    const { tool: pattern, argument } = splitTaskPath(path);
    return matchesName(pattern, tool) ? [{ path, argument, value }] : [];
  });
}
