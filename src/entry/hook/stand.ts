import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { deepFreeze } from '../../core/policy/compile/policy-hash.ts';
import type { Policy } from '../../core/types/index.ts';
import type { SessionLimits } from '../../runtime/enforcement/sessions/types.ts';
import type { Place } from './place.ts';

/**
 * What a hook that decides by itself stands on: the saved policy that the configuration came to, and what was looked at
 * for it. It is good exactly as long as nothing of that has changed.
 */
export interface Stand {
  readonly version: string;
  readonly config_file: string | null;
  /** SHA-256 of the configuration's text and of the variables that it names. */
  readonly written: string;
  /** Documents, and the folders in which their patterns look, with their signatures. */
  readonly looked_at: readonly (readonly [path: string, signature: string])[];
  readonly state_dir: string;
  readonly policy_hash: string;
  /** SHA-256 of the saved policy's file. */
  readonly policy_digest: string;
  readonly audited: boolean;
  readonly logged: { readonly inputs: boolean; readonly outputs: boolean };
  readonly session_limits: SessionLimits;
}

const FILE_NAME = 'hook.json';

/** The stand saved in a state folder with its policy; `null` where there is none, or it is not good any more. */
export function readStand(place: Place, version: string): { stand: Stand; policy: Policy } | null {
  if (place.state_dir === null) return null;
  try {
    const stand = JSON.parse(readFileSync(standPath(place.state_dir), 'utf8')) as Stand;
    const is_good =
      stand.version === version &&
      stand.state_dir === place.state_dir &&
      stand.config_file === place.config_file &&
      stand.written === digestOf(place.text, place.env) &&
      stand.looked_at.every(([path, signature]) => signatureOf(path) === signature);
    if (!is_good) return null;
    const bytes = readFileSync(policyPath(stand.state_dir, stand.policy_hash));
    if (sha256(bytes) !== stand.policy_digest) return null;
    const policy = JSON.parse(bytes.toString('utf8')) as Policy;
    return policy.hash === stand.policy_hash ? { stand, policy: deepFreeze(policy) } : null;
  } catch {
    // Whatever it is, the long way makes a new one.
    return null;
  }
}

/** Where the stand of a state folder is saved. */
export function standPath(state_dir: string): string {
  return join(state_dir, FILE_NAME);
}

/** Where a policy of that hash is saved. */
export function policyPath(state_dir: string, hash: string): string {
  return join(state_dir, 'policies', `${hash.slice('sha256:'.length)}.json`);
}

const VARIABLE = /\$\{([A-Za-z_]\w*)\}/g;

/** One digest of what is written and of the variables that it names: none of their values can be read from it. */
export function digestOf(text: string | null, env: Readonly<Record<string, string | undefined>>): string {
  const names = text === null ? [] : [...text.matchAll(VARIABLE)].map(([, name]) => name!);
  return sha256(JSON.stringify([text, ...names.map((name) => [name, env[name] ?? null])]));
}

/** What changes with a file or a folder; that of a missing one says so. */
export function signatureOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return 'missing';
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** Hex of the SHA-256 of bytes or of a text. */
export function sha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
