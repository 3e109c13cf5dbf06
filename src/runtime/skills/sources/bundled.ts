import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Archive, readSkill, type Skill } from '../../packages/package.ts';
import { openFolder } from './folder.ts';

/** The skills that come with the service: four folders up, in `src` and in `dist` alike. */
const FOLDER = fileURLToPath(new URL('../../../../skills/', import.meta.url));

/** The names of all bundled skills, sorted. */
export async function bundledNames(): Promise<readonly string[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  return entries
    .filter((each) => each.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** A bundled skill; the name must be one of `bundledNames`. */
export function openBundled(name: string): Promise<Archive> {
  return openFolder(`${FOLDER}${name}`, 'bundled');
}

/** All bundled skills, read. */
export async function bundledSkills(): Promise<readonly Skill[]> {
  const names = await bundledNames();
  return Promise.all(names.map(async (name) => readSkill(await openBundled(name))));
}
