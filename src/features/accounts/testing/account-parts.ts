import type { Policy } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import { type Accounts, openAccounts } from '../index.ts';
import type { AccountParts, SignInOrigin } from '../types.ts';

/** A password that is long enough. */
export const TEST_PASSWORD = ['correct', 'horse', 'battery'].join(' ');

/** A browser without a session. */
export const TEST_ORIGIN: SignInOrigin = {
  address: '192.0.2.1',
  user_agent: 'test',
  session_token: null,
  device_token: null,
};

export interface TestAccounts {
  readonly accounts: Accounts;
  readonly parts: AccountParts;
  /** All recorded events, oldest first. */
  readonly events: AuditEvent[];
  /** Moves the clock. */
  readonly pass: (ms: number) => void;
  readonly now_ms: () => number;
  /** The delays of attempts over a limit, in milliseconds. */
  readonly waits: number[];
  /** Adds a user with `TEST_PASSWORD`. */
  readonly add: (userId: string, roles?: readonly ['admin' | 'viewer']) => Promise<void>;
}

/** Opens accounts on a store, with a fixed clock and a list as the journal. */
export function openTestAccounts(
  store: Store,
  settings: Partial<AccountParts['settings']> = {},
): TestAccounts {
  const events: AuditEvent[] = [];
  const clock = { now_ms: Date.UTC(2026, 0, 31, 12) };
  const waits: number[] = [];
  let count = 0;
  const parts: AccountParts = {
    store: async () => store,
    ports: () => ({
      policy: { hash: 'sha256:test' } as Policy,
      now_ms: () => clock.now_ms,
      new_event_id: () => `evt_${(++count).toString(16).padStart(24, '0')}`,
      record: async (event) => void events.push(event),
    }),
    settings: {
      ...{ idle_ms: 3_600_000, absolute_ms: 43_200_000, link_ms: 3_600_000 },
      ...{ attempts_per_account_max: 3, attempts_per_address_max: 10, attempts_window_ms: 900_000 },
      attempt_delay_ms: 10_000,
      public_url: 'http://localhost:8000',
      oidc: null,
      totp_key: { state_dir: '/nowhere', key: 'a-key-of-authenticator-apps-for-tests' },
      ...settings,
    },
    wait: async (ms) => void waits.push(ms),
  };
  const accounts = openAccounts(parts);
  return {
    accounts,
    parts,
    events,
    waits,
    now_ms: () => clock.now_ms,
    pass: (ms) => {
      clock.now_ms += ms;
    },
    add: async (userId, roles = ['viewer']) => {
      const added = await accounts.addUser(
        { user_id: userId, name: null, roles, tenants: ['acme'] },
        'operator',
      );
      const token = added!.link.split('#')[1]!;
      await accounts.signInWithLink({ token, password: TEST_PASSWORD, user_id: null }, TEST_ORIGIN);
    },
  };
}
