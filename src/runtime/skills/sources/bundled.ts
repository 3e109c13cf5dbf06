import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Archive, readSkill, type Skill } from '../../packages/package.ts';
import { openFolder } from './folder.ts';

/** The folder of bundled skills: four folders up, in `src` and in `dist` alike. */
const FOLDER = fileURLToPath(new URL('../../../../skills/', import.meta.url));

/** Returns the names of all bundled skills, sorted. */
export async function listBundledNames(): Promise<readonly string[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  return entries
    .filter((each) => each.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** Reads a bundled skill. The name must be one of `listBundledNames`. */
export function openBundled(name: string): Promise<Archive> {
  return openFolder(`${FOLDER}${name}`, 'bundled');
}

/** Reads all bundled skills. */
export async function openBundledSkills(): Promise<readonly Skill[]> {
  const names = await listBundledNames();
  return Promise.all(names.map(async (name) => readSkill(await openBundled(name))));
}
