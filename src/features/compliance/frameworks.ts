import { readFileSync } from 'node:fs';
import type { FrameworkId } from '../../operations/compliance-frameworks.ts';
import type { FrameworkMapping } from './mapping-types.ts';

const loaded = new Map<FrameworkId, FrameworkMapping>();

/** Returns the mapping of a framework. The files are part of the package. */
export function loadFramework(id: FrameworkId): FrameworkMapping {
  const known = loaded.get(id);
  if (known !== undefined) return known;
  const file = new URL(`../../../data/compliance/${id}.json`, import.meta.url);
  const mapping = JSON.parse(readFileSync(file, 'utf8')) as FrameworkMapping;
  loaded.set(id, mapping);
  return mapping;
}
