import type { Permission } from '../config/permissions.ts';

/** A key of an agent's program. The key itself is nowhere: only its SHA-256. */
export interface ApiKey {
  /** Names the key in the audit trail, `key:<id>`. Two with one id are how a key is rotated with overlap. */
  readonly id: string;
  /** 64 hex digits: the SHA-256 of the whole key. */
  readonly sha256: string;
  /** Tenants it may name; without it, any. */
  readonly tenants?: readonly string[];
  /** Agents it may speak for; without it, any. */
  readonly agents?: readonly string[];
  /** Without it, `check`, `policy:read`, `audit:read_own`, `approvals:own` and `costs:own`. */
  readonly permissions?: readonly Permission[];
  /** ISO 8601; from this moment on the key is refused. */
  readonly expires_at?: string;
}

/** Whose signed tokens are accepted, and which of their claims say what the bearer may name. */
export interface JwtSettings {
  readonly issuer: string;
  readonly audience: string | readonly string[];
  /** JWS names; without it the asymmetric ones in common use. `none` and HMAC are never accepted. */
  readonly algorithms?: readonly string[];
  /** Exactly one of these three says where the keys are. */
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
  };
  /** Default 30. */
  readonly clock_tolerance_seconds?: number;
}

/** The `auth` section of the configuration. */
export interface AuthSettings {
  /** `true`: callers on loopback need a credential too. */
  readonly required: boolean;
  /** Addresses or CIDR blocks whose forwarding headers are believed. */
  readonly trusted_proxies: readonly string[];
  readonly api_keys: readonly ApiKey[];
  readonly jwt: JwtSettings | null;
}
