import type { Shown } from '../../platform/store/define-table.ts';
import type { CapabilityPresentation } from '../../runtime/enforcement/capability.ts';
import type { capabilityTokens } from './tables.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** Capability tokens, which allow an agent one action for a limited time. Loaded on the first call. */
    readonly capabilities: () => Promise<Capabilities>;
  }
}

/** The actions that a capability token allows to its agent. */
export interface CapabilityScope {
  /** The tool's name; `*` matches any run of characters. */
  readonly tool_name: string;
  /** Lower case, at least one; `*` as in the tool. `invoke` is a call. */
  readonly actions: readonly string[];
  /** Names of secrets that it may resolve; `*` as in the tool. Empty: none. */
  readonly secret_keys: readonly string[];
}

/** A capability token without its secret part. Times are ISO 8601, UTC. */
export interface CapabilityRecord extends Shown<typeof capabilityTokens> {
  readonly status: 'active' | 'expired' | 'revoked';
  readonly scope: CapabilityScope;
}

export interface CapabilityRequest {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly scope: CapabilityScope;
  /** `null`: the configured default. */
  readonly ttl_ms: number | null;
  readonly issued_by: string;
}

/** Why a token is rejected. */
export type CapabilityCause =
  | 'unknown'
  | 'revoked'
  | 'expired'
  | 'not_yet_valid'
  | 'tenant'
  | 'agent'
  | 'tool'
  | 'action'
  | 'session'
  | 'secret_key'
  | 'throttled';

/** The result of presenting a token. `token_id` is `null` if the token is unknown. */
export type CapabilityResult =
  | { readonly taken: true; readonly token_id: string; readonly expires_ms: number }
  | { readonly taken: false; readonly token_id: string | null; readonly cause: CapabilityCause };

export interface CapabilityFilter {
  readonly agent_ids?: readonly string[] | undefined;
  readonly tenant_ids?: readonly string[] | undefined;
  readonly status?: CapabilityRecord['status'] | undefined;
  readonly limit: number;
}

/**
 * Tokens that allow one agent one thing for a limited time. Every call rejects with `StoreFailure` without the
 * store.
 */
export interface Capabilities {
  readonly ttl_max_ms: number;
  /**
   * Issues a token, which is returned only once. Returns `null` at the limit of active tokens. @throws
   * Unavailable if the event could not be written; no token exists then
   */
  readonly issue: (
    request: CapabilityRequest,
  ) => Promise<{ readonly token: string; readonly record: CapabilityRecord } | null>;
  readonly find: (tokenId: string) => Promise<CapabilityRecord | null>;
  /** The newest first. */
  readonly list: (filter: CapabilityFilter) => Promise<readonly CapabilityRecord[]>;
  /**
   * Revokes a token. After this resolves, every process rejects it.
   * @returns the token, and whether this call revoked it; `null` if it does not exist
   * @throws Unavailable if the event could not be written; the token is revoked all the same
   */
  readonly revoke: (
    tokenId: string,
    by: string,
    may: (record: CapabilityRecord) => boolean,
  ) => Promise<{ readonly record: CapabilityRecord; readonly ended: boolean } | null>;
  /** Returns whether a token would be accepted now. Counts nothing. */
  readonly check: (presented: CapabilityPresentation) => Promise<CapabilityResult>;
  /** Presents a token. An accepted use is durable before this resolves. */
  readonly use: (presented: CapabilityPresentation) => Promise<CapabilityResult>;
}
