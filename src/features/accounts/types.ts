import type { BrowserContext } from '../../operations/operation.ts';
import type { Row } from '../../platform/store/define-table.ts';
import type { Store } from '../../platform/store/index.ts';
import type { Caller } from '../../runtime/access/types.ts';
import type { AuditPorts } from '../../runtime/audit/service-event.ts';
import type { Role } from '../../runtime/config/permissions.ts';
import type { userSessions, users } from './tables.ts';
import type { TotpKeyPlace } from './totp-sealing.ts';

/** The settings of sign-in, with all times in milliseconds. */
export interface AccountSettings {
  /** A session ends after this time without a request. */
  readonly idle_ms: number;
  /** A session ends after this time in any case. */
  readonly absolute_ms: number;
  /** Attempts without a delay, until `attempts_window_ms` have passed without another. */
  readonly attempts_per_account_max: number;
  readonly attempts_per_address_max: number;
  readonly attempts_window_ms: number;
  /** The interval at which further attempts on one account are verified. */
  readonly attempt_delay_ms: number;
  /** A one-time link is valid for this time. */
  readonly link_ms: number;
  /** The address of the console for browsers, `https://safety.example.com`, without a path. */
  readonly public_url: string;
  readonly totp_key: TotpKeyPlace;
  /** `null` if there is no OpenID provider. */
  readonly oidc: OidcSettings | null;
}

/** `auth.oidc` of the configuration. */
export interface OidcSettings {
  readonly issuer: string;
  readonly client_id: string;
  /** Absent for a public client. */
  readonly client_secret?: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Dotted names of claims. */
  readonly claims: {
    readonly user: string;
    readonly name: string;
    readonly roles: string;
    readonly tenants: string;
  };
  readonly role_mapping: Readonly<Record<string, Role>>;
  readonly tenant_mapping: Readonly<Record<string, string>>;
  readonly default_roles: readonly Role[];
  readonly default_tenants: readonly string[];
  readonly clock_tolerance_seconds: number;
}

/** The dependencies of accounts. */
export interface AccountParts {
  readonly store: () => Promise<Store>;
  /** Returns the active policy, the clock and the journal. */
  readonly ports: () => AuditPorts;
  readonly settings: AccountSettings;
  /** Resolves after this time. */
  readonly wait: (ms: number) => Promise<void>;
}

/** A user who can sign in. */
export interface Account
  extends Pick<Row<typeof users>, 'user_id' | 'name' | 'source' | 'created_ms' | 'last_sign_in_ms'> {
  readonly roles: readonly Role[];
  readonly tenants: Caller['tenants'];
  readonly is_disabled: boolean;
  readonly has_password: boolean;
  readonly has_totp: boolean;
  readonly passkey_count: number;
}

/** A session of a user in one browser. */
export type SignInSession = Omit<Row<typeof userSessions>, 'token_sha256'>;

/** The kinds of proof that began a session. */
export type SignInMethod = SignInSession['method'];

/** The browser that a request to sign in comes from. */
export type SignInOrigin = Pick<BrowserContext, 'address' | 'user_agent' | 'session_token' | 'device_token'>;

/** A session that has begun, with the values of both cookies. */
export interface StartedSession {
  readonly outcome: 'signed_in';
  readonly session_token: string;
  readonly device_token: string;
  readonly user_id: string;
}

/** The answer to an attempt to sign in. */
export type SignInResult =
  | StartedSession
  /** The password is correct. `ticket` continues with a second factor. */
  | {
      readonly outcome: 'second_factor';
      readonly ticket: string;
      readonly factors: readonly SecondFactor[];
    }
  | { readonly outcome: 'refused' }
  | { readonly outcome: 'limited'; readonly retry_seconds: number };

export type SecondFactor = 'totp' | 'passkey';
