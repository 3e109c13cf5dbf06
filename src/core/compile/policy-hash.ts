import type { Json, Policy } from '../types.ts';
import { contentHash } from './canonical.ts';

/** `sha256:` and hex over the canonical JSON of all of a policy but the hash itself. */
export function policyHash(policy: Omit<Policy, 'hash'>): string {
  const { hash: _, ...content } = policy as Policy;
  return contentHash(content as unknown as Json);
}

/** Freezes a plain value and everything in it, and gives it back. */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === null || typeof at !== 'object' || Object.isFrozen(at)) continue;
    Object.freeze(at);
    open.push(...Object.values(at));
  }
  return value;
}
