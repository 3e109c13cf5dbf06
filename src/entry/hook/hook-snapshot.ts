import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { deepFreeze } from '../../core/policy/compile/policy-hash.ts';
import type { Policy } from '../../core/types/index.ts';
import { readOwnBytesSync, readOwnFileSync } from '../../platform/files/own-file.ts';
import type { LoggedTexts } from '../../runtime/enforcement/logged-texts.ts';
import type { SessionLimits } from '../../runtime/enforcement/sessions/types.ts';
import type { HookLocation } from './hook-location.ts';

/**
 * The saved state from which a hook decides by itself: the compiled policy, and the signatures of everything that it
 * was compiled from. It is valid until any of them changes.
 */
export interface HookSnapshot {
  readonly version: string;
  readonly config_file: string | null;
  /** SHA-256 of the configuration's text and of the variables that it names. */
  readonly config_digest: string;
  /** Documents, and the folders that their patterns search, with their signatures. */
  readonly dependencies: readonly (readonly [path: string, signature: string])[];
  readonly state_dir: string;
  readonly policy_hash: string;
  /** SHA-256 of the saved policy's file. */
  readonly policy_digest: string;
  readonly audit_enabled: boolean;
  readonly logged_texts: LoggedTexts;
  readonly session_limits: SessionLimits;
}

const FILE_NAME = 'hook.json';

/** Returns the saved snapshot of a state folder with its policy; `null` if there is none or it is no longer valid. */
export function readHookSnapshot(
  location: HookLocation,
  version: string,
): { snapshot: HookSnapshot; policy: Policy } | null {
  if (location.state_dir === null) return null;
  try {
    const snapshot = JSON.parse(readOwnFileSync(getSnapshotPath(location.state_dir))) as HookSnapshot;
    const isGood =
      snapshot.version === version &&
      snapshot.state_dir === location.state_dir &&
      snapshot.config_file === location.config_file &&
      snapshot.config_digest === digestConfigText(location.text, location.env) &&
      snapshot.dependencies.every(([path, signature]) => computeFileSignature(path) === signature);
    if (!isGood) return null;
    const bytes = readOwnBytesSync(getPolicyPath(snapshot.state_dir, snapshot.policy_hash));
    if (computeSha256(bytes) !== snapshot.policy_digest) return null;
    const policy = JSON.parse(bytes.toString('utf8')) as Policy;
    return policy.hash === snapshot.policy_hash ? { snapshot, policy: deepFreeze(policy) } : null;
  } catch {
    // The caller then compiles the configuration again and saves a new snapshot.
    return null;
  }
}

/** Returns the path of the saved snapshot in a state folder. */
export function getSnapshotPath(stateDir: string): string {
  return join(stateDir, FILE_NAME);
}

/** Returns the path of the saved policy with a hash. */
export function getPolicyPath(stateDir: string, hash: string): string {
  return join(stateDir, 'policies', `${hash.slice('sha256:'.length)}.json`);
}

const VARIABLE = /\$\{([A-Za-z_]\w*)\}/g;

/** Returns one digest of the text and of the variables that it names. It does not reveal their values. */
export function digestConfigText(
  text: string | null,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const names = text === null ? [] : [...text.matchAll(VARIABLE)].map(([, name]) => name!);
  return computeSha256(JSON.stringify([text, ...names.map((name) => [name, env[name] ?? null])]));
}

/** Returns a text that changes whenever a file or folder changes; `missing` if it does not exist. */
export function computeFileSignature(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return 'missing';
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** Returns the SHA-256 of bytes or of a text, in hex. */
export function computeSha256(bytes: string | Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
