/** What a capability token lets its agent do. */
export interface CapabilityScope {
  /** The tool's name; `*` stands for any run of characters. */
  readonly tool_name: string;
  /** Lower case, at least one; `*` as in the tool. `invoke` is a call. */
  readonly actions: readonly string[];
  /** Names of secrets that it may have resolved; `*` as in the tool. Empty: none. */
  readonly secret_keys: readonly string[];
}

/** A capability token as anyone may see it: everything but the token. Times are ISO 8601, UTC. */
export interface CapabilityRecord {
  /** `cap_` and 24 hex digits. It names the token and is none. */
  readonly token_id: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly tenant_id: string;
  readonly agent_id: string;
  /** `null`: any session. */
  readonly session_id: string | null;
  readonly scope: CapabilityScope;
  readonly issued_by: string;
  readonly issued_at: string;
  readonly expires_at: string;
  readonly revoked_by: string | null;
  readonly revoked_at: string | null;
  /** How often it was shown and taken. */
  readonly uses: number;
  readonly last_used_at: string | null;
}

export interface CapabilityRequest {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly scope: CapabilityScope;
  /** `null`: the default. */
  readonly ttl_ms: number | null;
  readonly issued_by: string;
}

/** What somebody wants to do, and the token that is to allow it. */
export interface CapabilityPresentation {
  /** As it was sent. */
  readonly token: string;
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly tool: string;
  readonly action: string;
  /** The secret that is asked for; `null` for none. */
  readonly secret_key: string | null;
  /** Who sent it, as far as a credential proves it. */
  readonly caller_id: string;
  /**
   * Whether a credential proves it. Wrong tokens are counted of those alone: who is trusted for being here shares
   * that name with others, who could otherwise be kept from their own tokens.
   */
  readonly has_credential: boolean;
}

/** Why a token is not taken. */
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

/** Whether a token is taken. `token_id` is `null` where nobody knows which one it was. */
export type CapabilityResult =
  | { readonly taken: true; readonly token_id: string; readonly expires_ms: number }
  | { readonly taken: false; readonly token_id: string | null; readonly cause: CapabilityCause };

export interface CapabilityFilter {
  readonly agent_ids?: readonly string[] | undefined;
  readonly tenant_ids?: readonly string[] | undefined;
  readonly status?: CapabilityRecord['status'] | undefined;
  readonly limit: number;
}

/** Tokens that let one agent do one thing for a while. Everything rejects with a `StoreFailure` without the store. */
export interface Capabilities {
  readonly ttl_max_ms: number;
  /**
   * Makes a token, which is told once. `null` where as many are live as may be.
   * @throws Unavailable where it could not be recorded; there is no token then
   */
  readonly issue: (
    request: CapabilityRequest,
  ) => Promise<{ readonly token: string; readonly record: CapabilityRecord } | null>;
  readonly find: (token_id: string) => Promise<CapabilityRecord | null>;
  /** The newest first. */
  readonly list: (filter: CapabilityFilter) => Promise<readonly CapabilityRecord[]>;
  /**
   * Ends a token for good. Who shows it after this was answered is refused, by every process.
   * @returns the token, and whether it was this call that ended it; `null` where there is none of that name
   * @throws Unavailable where it could not be recorded; the token is ended all the same
   */
  readonly revoke: (
    token_id: string,
    by: string,
    may: (record: CapabilityRecord) => boolean,
  ) => Promise<{ readonly record: CapabilityRecord; readonly ended: boolean } | null>;
  /** Whether a token would be taken now; nothing is counted. */
  readonly check: (presented: CapabilityPresentation) => Promise<CapabilityResult>;
  /** Takes a token, or does not; counted and durable before it is answered. */
  readonly use: (presented: CapabilityPresentation) => Promise<CapabilityResult>;
}
