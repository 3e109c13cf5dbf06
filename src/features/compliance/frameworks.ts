import { readFileSync } from 'node:fs';
import { FRAMEWORK_IDS, type FrameworkId, type FrameworkMapping } from './mapping-types.ts';

const loaded = new Map<FrameworkId, FrameworkMapping>();

/** Returns the id of a framework by its name, in any case; `null` if there is none. */
export function findFrameworkId(name: string): FrameworkId | null {
  const wanted = name.trim().toLowerCase();
  return FRAMEWORK_IDS.find((id) => id === wanted) ?? null;
}

/** Returns the mapping of a framework. The files are part of the package. */
export function loadFramework(id: FrameworkId): FrameworkMapping {
  const known = loaded.get(id);
  if (known !== undefined) return known;
  const file = new URL(`../../../data/compliance/${id}.json`, import.meta.url);
  const mapping = JSON.parse(readFileSync(file, 'utf8')) as FrameworkMapping;
  loaded.set(id, mapping);
  return mapping;
}
