import type { Migration } from 'kysely/migration';

declare module '../../platform/store/tables.ts' {
  interface StoreTables extends AccountTables {}
}

/** The tables of users who sign in. Times are milliseconds since 1970, UTC; lists are JSON. */
export interface AccountTables {
  readonly users: {
    /** The name to sign in with, in lower case. */
    user_id: string;
    /** The name for people. */
    name: string;
    roles: string;
    tenants: string;
    source: 'local' | 'oidc';
    /** The OpenID provider and its identifier of the user; `null` for local users. */
    issuer: string | null;
    subject: string | null;
    /** Argon2id, as a PHC string. */
    password_hash: string | null;
    /** Encrypted by `sealTotpSecret`; Base32 if it was stored by an earlier version. */
    totp_secret: string | null;
    /** 0 until the first code was entered. */
    totp_confirmed: number;
    /** The time step of the last accepted code, so that a code counts once. */
    totp_step: number;
    disabled_ms: number | null;
    created_ms: number;
    created_by: string;
    last_sign_in_ms: number | null;
  };
  readonly user_links: {
    token_sha256: string;
    /** `null`: the link creates the first administrator. */
    user_id: string | null;
    expires_ms: number;
  };
  readonly user_sessions: {
    /** SHA-256 of the cookie's value, in hex. */
    token_sha256: string;
    session_id: string;
    user_id: string;
    method: string;
    created_ms: number;
    seen_ms: number;
    /** When a second factor was proved last. */
    second_factor_ms: number | null;
    address: string | null;
    user_agent: string | null;
  };
  readonly sign_in_counters: {
    /** `account:<hash>`, `totp:<hash>`, both also with `:<hash of a device>`, `address:<IP>` or `start:<IP>`. */
    subject: string;
    attempts: number;
    last_ms: number;
    /** The time of the next turn, for attempts over the limit. */
    next_ms: number;
  };
  readonly known_devices: {
    /** SHA-256 of the cookie's value, in hex. */
    token_sha256: string;
    user_id: string;
    expires_ms: number;
  };
  readonly sign_in_challenges: {
    challenge_sha256: string;
    kind: string;
    user_id: string | null;
    data: string;
    attempts: number;
    expires_ms: number;
  };
  readonly passkeys: {
    credential_id: string;
    user_id: string;
    name: string;
    /** COSE key, base64url. */
    public_key: string;
    counter: number;
    transports: string;
    created_ms: number;
    last_used_ms: number | null;
  };
}

export const accountMigrations: Readonly<Record<string, Migration>> = {
  '0100_accounts': {
    async up({ schema }) {
      await createUsers(schema);
      await createSessions(schema);
      await createPasskeys(schema);
    },
  },
  '0101_sign_in_turns': {
    async up({ schema }) {
      await schema.dropTable('sign_in_attempts').execute();
      await createCounters(schema);
    },
  },
};

type Schema = Parameters<Migration['up']>[0]['schema'];

async function createUsers(schema: Schema): Promise<void> {
  await schema
    .createTable('users')
    .addColumn('user_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('roles', 'text', (column) => column.notNull())
    .addColumn('tenants', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('issuer', 'text')
    .addColumn('subject', 'text')
    .addColumn('password_hash', 'text')
    .addColumn('totp_secret', 'text')
    .addColumn('totp_confirmed', 'integer', (column) => column.notNull())
    .addColumn('totp_step', 'bigint', (column) => column.notNull())
    .addColumn('disabled_ms', 'bigint')
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('last_sign_in_ms', 'bigint')
    .addUniqueConstraint('users_subject', ['issuer', 'subject'])
    .execute();
  await schema
    .createTable('user_links')
    .addColumn('token_sha256', 'text', (column) => column.primaryKey().notNull())
    .addColumn('user_id', 'text')
    .addColumn('expires_ms', 'bigint', (column) => column.notNull())
    .execute();
}

async function createSessions(schema: Schema): Promise<void> {
  await schema
    .createTable('user_sessions')
    .addColumn('token_sha256', 'text', (column) => column.primaryKey().notNull())
    .addColumn('session_id', 'text', (column) => column.notNull().unique())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('method', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('seen_ms', 'bigint', (column) => column.notNull())
    .addColumn('second_factor_ms', 'bigint')
    .addColumn('address', 'text')
    .addColumn('user_agent', 'text')
    .execute();
  await schema.createIndex('user_sessions_user').on('user_sessions').columns(['user_id']).execute();
  await schema
    .createTable('sign_in_attempts')
    .addColumn('subject', 'text', (column) => column.primaryKey().notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('first_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('sign_in_challenges')
    .addColumn('challenge_sha256', 'text', (column) => column.primaryKey().notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text')
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('expires_ms', 'bigint', (column) => column.notNull())
    .execute();
}

async function createCounters(schema: Schema): Promise<void> {
  await schema
    .createTable('sign_in_counters')
    .addColumn('subject', 'text', (column) => column.primaryKey().notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('last_ms', 'bigint', (column) => column.notNull())
    .addColumn('next_ms', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('known_devices')
    .addColumn('token_sha256', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('expires_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('known_devices_key', ['token_sha256', 'user_id'])
    .execute();
  await schema.createIndex('known_devices_user').on('known_devices').columns(['user_id']).execute();
}

async function createPasskeys(schema: Schema): Promise<void> {
  await schema
    .createTable('passkeys')
    .addColumn('credential_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('counter', 'bigint', (column) => column.notNull())
    .addColumn('transports', 'text', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('last_used_ms', 'bigint')
    .execute();
  await schema.createIndex('passkeys_user').on('passkeys').columns(['user_id']).execute();
}
