import type { Policy } from '../../types/index.ts';
import { type HashText, hashJson } from './canonical-json.ts';

/**
 * Returns `sha256:` and hex over the canonical JSON of a policy. The hash itself and the paths of this installation are
 * left out, so that the same documents give the same hash in every folder and on every node.
 */
export function hashPolicy(policy: Omit<Policy, 'hash'>, hashText: HashText): string {
  const { hash: _, ...content } = policy as Policy;
  if (content.detection?.guarded_paths === undefined) return hashJson(content, hashText);
  const { guarded_paths: _paths, ...detection } = content.detection;
  return hashJson({ ...content, detection }, hashText);
}

/** Freezes a plain value and everything in it, and returns it. */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === null || typeof at !== 'object' || Object.isFrozen(at)) continue;
    Object.freeze(at);
    open.push(...Object.values(at));
  }
  return value;
}
