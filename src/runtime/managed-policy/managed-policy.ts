import { join } from 'node:path';
import type { AllowedDetector, Json } from '../../core/types/index.ts';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { restrictMode, writePrivateFile } from '../../platform/files/private-file.ts';

/** The current version of the rules of one tenant that operators saved over the API. */
export interface TenantPolicySet {
  readonly tenant_id: string;
  readonly version: number;
  /** Rules as in `tenants.<id>.policies` of the configuration. */
  readonly policies: readonly Json[];
}

/** The current version of the policy document that operators saved over the API. */
export interface ManagedDocument {
  readonly version: number;
  /** YAML: one or more documents, as in a policy file. */
  readonly text: string;
}

/** An allowlist entry that an operator added over the API. */
export interface ManagedAllowlistEntry {
  /** `hmac-sha256:` followed by 64 hex digits. */
  readonly fingerprint: string;
  /** The tenant to whose crossings the entry applies; `null` for all tenants. */
  readonly tenant_id: string | null;
  readonly reason: string;
  readonly owner: string;
  /** Milliseconds since 1970, UTC. */
  readonly expires_ms: number;
}

/**
 * The part of the policy that operators change over the API. The store holds it with all its versions. A copy of the
 * current one is in the state folder, so that every process compiles the same policy without the store.
 */
export interface ManagedPolicy {
  readonly tenants: readonly TenantPolicySet[];
  /** `null` until an operator saves one. */
  readonly document: ManagedDocument | null;
  readonly allowlist: readonly ManagedAllowlistEntry[];
  /** Allowlisted detectors; absent in a copy from before there were any. */
  readonly allowed_detectors?: readonly AllowedDetector[];
}

export const NO_MANAGED_POLICY: ManagedPolicy = { tenants: [], document: null, allowlist: [] };

/** The name of the copy in the state folder. */
export const MANAGED_POLICY_FILE = 'managed-policy.json';

/** Returns the path of the copy in a state folder. */
export function buildManagedPolicyPath(stateDir: string): string {
  return join(stateDir, MANAGED_POLICY_FILE);
}

/**
 * Reads the copy in a state folder. A missing file is an empty policy, because most services have none. Returns `null`
 * if the file cannot be read or is damaged.
 */
export function readManagedPolicy(stateDir: string): ManagedPolicy | null {
  const path = buildManagedPolicyPath(stateDir);
  try {
    const read: unknown = JSON.parse(readOwnFileSync(path));
    restrictMode(path);
    return isManagedPolicy(read) ? read : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? NO_MANAGED_POLICY : null;
  }
}

/** Writes the copy, unless it is unchanged. The write is atomic. */
export function writeManagedPolicy(stateDir: string, policy: ManagedPolicy): void {
  const text = JSON.stringify(policy);
  if (readText(buildManagedPolicyPath(stateDir)) !== text)
    writePrivateFile(buildManagedPolicyPath(stateDir), text, 'replace');
}

function isManagedPolicy(value: unknown): value is ManagedPolicy {
  if (typeof value !== 'object' || value === null) return false;
  const {
    tenants,
    document,
    allowlist,
    allowed_detectors = [],
  } = value as Partial<Record<keyof ManagedPolicy, unknown>>;
  return (
    Array.isArray(tenants) &&
    typeof document === 'object' &&
    Array.isArray(allowlist) &&
    Array.isArray(allowed_detectors)
  );
}

function readText(path: string): string | null {
  try {
    return readOwnFileSync(path).trimEnd();
  } catch {
    return null;
  }
}
