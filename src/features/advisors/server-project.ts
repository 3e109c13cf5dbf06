import { realpath } from 'node:fs/promises';
import { isAbsolute, join, normalize, resolve, sep } from 'node:path';
import type { ProjectOutline } from '../../core/advisors/project-outline.ts';
import { Refusal } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { readProject } from './read-project.ts';

/**
 * Reads the names of a project on this machine for a caller: one of `scan.file_roots`, or a folder below one. A folder
 * that is missing or elsewhere gives the same refusal. A relative path is resolved against each root, and may also be
 * the root as the configuration writes it.
 */
export async function readServerProject(
  path: string,
  { file_roots, state_dir }: Runtime['limits'],
): Promise<ProjectOutline> {
  const barred = await realpath(state_dir).catch(() => state_dir);
  for (const root of file_roots) {
    const top = await realpath(root).catch(() => null);
    const real = await realpath(resolveBelow(root, path)).catch(() => null);
    if (top === null || real === null || path.includes('\0')) continue;
    if (!isWithin(top, real) || isWithin(barred, real)) continue;
    const outline = await readProject(real).catch(() => null);
    if (outline !== null) return outline;
  }
  throw new Refusal(
    'not_found',
    'There is no such folder below `scan.file_roots`. Send the names in `project`, or use `customshouse intelligence` on the machine of the project.',
  );
}

function resolveBelow(root: string, path: string): string {
  if (isAbsolute(path)) return resolve(path);
  const way = normalize(path).replace(/\/$/, '');
  return root.endsWith(`${sep}${way}`) ? root : join(root, way);
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}
