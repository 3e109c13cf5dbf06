import { count, flag, integer, nullable, oneOf, text, time } from '../../platform/store/columns.ts';
import { createTables, defineTable, type Rows } from '../../platform/store/define-table.ts';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends Rows<typeof accountTables> {}
}

/** Users who sign in. Lists are JSON. */
export const users = defineTable(
  'users',
  {
    /** The name to sign in with, in lower case. */
    user_id: text({ key: true, example: 'ann' }),
    /** The name for people. */
    name: text({ example: 'ann' }),
    roles: text({ shown: false }),
    tenants: text({ shown: false }),
    source: oneOf(['local', 'oidc']),
    /** The OpenID provider and its identifier of the user; `null` for local users. */
    issuer: nullable(text({ shown: false })),
    subject: nullable(text({ shown: false })),
    /** Argon2id, as a PHC string. */
    password_hash: nullable(text({ shown: false })),
    /** Encrypted by `sealTotpSecret`. */
    totp_secret: nullable(text({ shown: false })),
    /** The first code was entered. */
    totp_confirmed: flag({ shown: false }),
    /** The time step of the last accepted code, so that a code counts once. */
    totp_step: count({ shown: false }),
    disabled_ms: nullable(time({ shown: false })),
    created_ms: time(),
    created_by: text({ shown: false }),
    last_sign_in_ms: nullable(time()),
  },
  { unique: { users_subject: ['issuer', 'subject'] } },
);

const userLinks = defineTable('user_links', {
  token_sha256: text({ key: true, shown: false }),
  /** `null`: the link creates the first administrator. */
  user_id: nullable(text()),
  expires_ms: time(),
});

export const userSessions = defineTable(
  'user_sessions',
  {
    /** SHA-256 of the cookie's value, in hex. */
    token_sha256: text({ key: true, shown: false }),
    session_id: text({ unique: true, example: 'web_0123456789abcdef01234567' }),
    user_id: text({ shown: false }),
    method: oneOf(['password', 'passkey', 'oidc', 'link']),
    created_ms: time(),
    seen_ms: time({ shown: 'last_seen_at', description: 'The last request, to the minute.' }),
    /** When a second factor was proved last. */
    second_factor_ms: nullable(time({ shown: false })),
    address: nullable(text(), '127.0.0.1'),
    user_agent: nullable(text(), 'Mozilla/5.0'),
  },
  { indexes: { user_sessions_user: ['user_id'] } },
);

const signInCounters = defineTable('sign_in_counters', {
  /** `account:<hash>`, `totp:<hash>`, both also with `:<hash of a device>`, `address:<IP>` or `start:<IP>`. */
  subject: text({ key: true }),
  attempts: integer(),
  last_ms: time(),
  /** The time of the next turn, for attempts over the limit. */
  next_ms: time(),
});

const knownDevices = defineTable(
  'known_devices',
  {
    /** SHA-256 of the cookie's value, in hex. */
    token_sha256: text({ key: true, shown: false }),
    user_id: text({ key: true }),
    expires_ms: time(),
  },
  { indexes: { known_devices_user: ['user_id'] } },
);

const signInChallenges = defineTable('sign_in_challenges', {
  challenge_sha256: text({ key: true, shown: false }),
  kind: text(),
  user_id: nullable(text()),
  data: text({ shown: false }),
  attempts: integer(),
  expires_ms: time(),
});

export const passkeys = defineTable(
  'passkeys',
  {
    credential_id: text({ key: true, shown: 'passkey_id' }),
    user_id: text({ shown: false }),
    name: text(),
    /** COSE key, base64url. */
    public_key: text({ shown: false }),
    counter: count({ shown: false }),
    transports: text({ shown: false }),
    created_ms: time(),
    last_used_ms: nullable(time()),
  },
  { indexes: { passkeys_user: ['user_id'] } },
);

const accountTables = [
  knownDevices,
  passkeys,
  signInChallenges,
  signInCounters,
  userLinks,
  userSessions,
  users,
] as const;

export const accountMigrations = createTables('accounts', accountTables);
