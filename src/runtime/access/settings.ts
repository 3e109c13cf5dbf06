import type { AgentTier } from '../../core/types/index.ts';
import type { Permission } from '../config/permissions.ts';

/** An API key. Only its SHA-256 is stored. */
export interface ApiKey {
  /** The name of the key in the audit log, `key:<id>`. Two keys with one id allow a rotation with overlap. */
  readonly id: string;
  /** The SHA-256 of the whole key, 64 hex digits. */
  readonly sha256: string;
  /** The tenants that it may name; any if absent. */
  readonly tenants?: readonly string[];
  /** The agents that it may name; any if absent. */
  readonly agents?: readonly string[];
  /** Without it, `check`, `policy:read`, `audit:import`, `audit:read_own`, `approvals:own` and `costs:own`. */
  readonly permissions?: readonly Permission[];
  /** The people for whom it may act, `*` for any. Without it, a person whom a request names is only claimed. */
  readonly may_act_for?: readonly string[];
  readonly agent_tier?: AgentTier;
  /** ISO 8601. The key is refused from this time on. */
  readonly expires_at?: string;
  /** The key was created over the API. Such a key does not switch the agent token off. */
  readonly is_stored?: boolean;
}

/** Which signed tokens are accepted, and which claims give their scope. */
export interface JwtSettings {
  readonly issuer: string;
  readonly audience: string | readonly string[];
  /** JWS names; without it the asymmetric ones in common use. `none` and HMAC are never accepted. */
  readonly algorithms?: readonly string[];
  /** Exactly one of these three provides the keys. */
  readonly jwks_url?: string;
  readonly jwks_file?: string;
  readonly public_key_file?: string;
  /** Dotted names of claims; a claim holds a string or a list of strings. Permissions may be space-separated. */
  readonly claims?: {
    /** Default `tenant_id`. */
    readonly tenants?: string;
    /** Default `agent_id`. */
    readonly agents?: string;
    /** Default `permissions`. */
    readonly permissions?: string;
    /** The person's name. Default `sub`. */
    readonly user?: string;
    /** Default `email`. */
    readonly user_email?: string;
    /** Default `groups`. */
    readonly groups?: string;
    /** Default `scope`, else `scp`. */
    readonly scopes?: string;
    /** Default `act`. */
    readonly chain?: string;
    /** Default `agent_tier`. */
    readonly agent_tier?: string;
    /** A claim that only programs' tokens have. Without it, the marks that common identity providers use count. */
    readonly service_account?: string;
  };
  /** Default 30. */
  readonly clock_tolerance_seconds?: number;
}

/** The `auth` section of the configuration. */
export interface AuthSettings {
  /** `true`: callers on loopback need a credential too. */
  readonly required: boolean;
  /** Addresses or CIDR blocks whose forwarding headers are trusted. */
  readonly trusted_proxies: readonly string[];
  readonly api_keys: readonly ApiKey[];
  readonly jwt: JwtSettings | null;
}
