import { Type } from '../../core/schema.ts';
import { type BrowserContext, type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { deriveCsrfToken } from '../../runtime/access/browser.ts';
import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from '../../runtime/access/password-limits.ts';
import { PERMISSIONS, ROLES } from '../../runtime/config/permissions.ts';
import type { SignedInUser } from './index.ts';
import type { SignInResult } from './types.ts';

const userId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The name of the user, in upper or lower case.',
});

/** A password that someone types to sign in. */
export const passwordSchema = Type.String({
  minLength: 1,
  maxLength: PASSWORD_CHARS_MAX,
  description: 'The password.',
});

/** A password that someone chooses. */
export const newPasswordSchema = Type.String({
  minLength: PASSWORD_CHARS_MIN,
  maxLength: PASSWORD_CHARS_MAX,
  description: 'The new password.',
});

/** A code of an authenticator app. */
export const codeSchema = Type.String({
  pattern: '^[0-9]{6}$',
  maxLength: 6,
  description: 'The 6 digits that the app shows.',
});

/** The answer to a sign-in. */
export const signInAnswerSchema = Type.Object({
  status: Type.Enum(['signed_in', 'second_factor'], {
    description: '`signed_in`: the cookie of the session is set. `second_factor`: send one with the ticket.',
  }),
  ticket: Type.Optional(
    Type.String({ description: 'Continues the sign-in, for five minutes and five attempts.' }),
  ),
  factors: Type.Optional(Type.Array(Type.Enum(['totp', 'passkey']))),
});

const signedIn = { status: 'signed_in' as const };

export const sessionShow = defineOperation({
  name: 'session_show',
  summary: 'Show who is signed in',
  description:
    'Returns the user of the session with roles, permissions and tenants, and the token that every request but a GET sends as `x-csrf-token`. 401 without a session.',
  http: { method: 'GET', path: '/v1/session' },
  permission: 'account:own',
  browser: true,
  needs: 'store',
  input: Type.Object({}),
  output: Type.Object({
    user_id: Type.String(),
    name: Type.String({ description: 'The name for people.' }),
    source: Type.Optional(Type.Enum(['local', 'oidc'])),
    roles: Type.Array(Type.Enum(ROLES)),
    permissions: Type.Array(Type.Enum(PERMISSIONS)),
    tenants: Type.Array(Type.String(), { description: 'The tenants of the user; `*`: all.' }),
    csrf_token: Type.String(),
    second_factor: Type.Object({
      totp: Type.Boolean({ description: 'An authenticator app is set up.' }),
      passkeys: Type.Integer({ description: 'Number of passkeys.' }),
      verified_at: Type.Nullable(
        Type.String({ description: 'The time of the last verification in this session.' }),
      ),
    }),
    session: Type.Object({
      session_id: Type.String(),
      method: Type.Enum(['password', 'passkey', 'oidc', 'link']),
      created_at: Type.String(),
      expires_at: Type.String({ description: 'The session ends then in any case.' }),
      idle_timeout_seconds: Type.Integer({ description: 'It ends after this time without a request.' }),
    }),
  }),
  example: {},
  answer: {
    user_id: 'ann',
    name: 'ann',
    source: 'local',
    roles: ['approver'],
    permissions: ['approvals:decide', 'approvals:read', 'dashboard:view'],
    tenants: ['acme'],
    csrf_token: 'qkz3pCgNLHSbb1yyzCq1zvNEGPRwM7IGVqeTXcbFhjs',
    second_factor: { totp: true, passkeys: 0, verified_at: '2026-01-31T12:00:00.000Z' },
    session: {
      session_id: 'web_0123456789abcdef01234567',
      method: 'password',
      created_at: '2026-01-31T12:00:00.000Z',
      expires_at: '2026-02-01T00:00:00.000Z',
      idle_timeout_seconds: 3_600,
    },
  },
  async run(_input, context) {
    const { caller, account, session } = await requireSession(context);
    const { settings } = await context.runtime.accounts();
    const { second_factor_ms, created_ms, session_id, method } = session;
    return {
      user_id: account.user_id,
      name: account.name,
      source: account.source,
      roles: [...account.roles],
      permissions: caller.permissions.toSorted(),
      tenants: account.tenants === '*' ? ['*'] : [...account.tenants],
      csrf_token: deriveCsrfToken(requireBrowser(context).session_token!),
      second_factor: {
        totp: account.has_totp,
        passkeys: account.passkey_count,
        verified_at: second_factor_ms === null ? null : new Date(second_factor_ms).toISOString(),
      },
      session: {
        session_id,
        method,
        created_at: new Date(created_ms).toISOString(),
        expires_at: new Date(created_ms + settings.absolute_ms).toISOString(),
        idle_timeout_seconds: Math.floor(settings.idle_ms / 1_000),
      },
    };
  },
});

export const sessionSignIn = defineOperation({
  name: 'session_sign_in',
  summary: 'Sign in with a password',
  description:
    'Begins a session and sets its cookie. A user with a second factor gets a ticket instead. Attempts over the limits of an account or an address are delayed, except on a device on which the user has signed in before.',
  http: { method: 'POST', path: '/v1/session/sign-in' },
  permission: null,
  browser: true,
  needs: 'store',
  input: Type.Object({ user_id: userId, password: passwordSchema }),
  output: signInAnswerSchema,
  example: { user_id: 'ann', password: 'correct horse battery' },
  answer: signedIn,
  refusals: ['unauthenticated', 'forbidden', 'too_many_requests'],
  run: async (input, context) => {
    const browser = requireBrowser(context);
    const result = await (await context.runtime.accounts()).signInWithPassword(input, browser);
    return answerSignIn(result, browser, 'The user name or the password is wrong.');
  },
});

export const sessionSecondFactor = defineOperation({
  name: 'session_second_factor',
  summary: 'Sign in with a code of an authenticator app',
  description:
    'Continues a sign-in that answered `second_factor`. A code counts once. A user who is signed in proves the second factor again at `/v1/session/totp/prove`.',
  http: { method: 'POST', path: '/v1/session/second-factor' },
  permission: null,
  browser: true,
  needs: 'store',
  input: Type.Object({
    ticket: Type.String({ minLength: 1, maxLength: 128, description: 'From `/v1/session/sign-in`.' }),
    code: codeSchema,
  }),
  output: signInAnswerSchema,
  example: { ticket: 'pM0bNJxWm1nqJ3i1xVwS0o6WqCq2mX2m7sT3s3mE0bA', code: '123456' },
  answer: signedIn,
  refusals: ['unauthenticated', 'forbidden', 'too_many_requests'],
  run: async (input, context) => {
    const browser = requireBrowser(context);
    const result = await (await context.runtime.accounts()).signInWithTotp(input, browser);
    return answerSignIn(result, browser, 'The code is wrong, or the sign-in took too long: sign in again.');
  },
});

export const sessionSetUp = defineOperation({
  name: 'session_set_up',
  summary: 'Set a password with a one-time link',
  description:
    'Uses the link that the first start, `users add` or `users reset` printed, sets the password, and signs the user in. The link is the part after `#`.',
  http: { method: 'POST', path: '/v1/session/set-up' },
  permission: null,
  browser: true,
  needs: 'store',
  input: Type.Object({
    token: Type.String({ minLength: 1, maxLength: 128, description: 'The part of the link after `#`.' }),
    password: newPasswordSchema,
    user_id: Type.Optional(
      Type.Nullable(
        Type.String({
          pattern: '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$',
          maxLength: 128,
          description: 'The name of the first administrator (default: `admin`).',
        }),
      ),
    ),
  }),
  output: signInAnswerSchema,
  example: { token: `svc_link_${'A'.repeat(43)}`, password: 'correct horse battery' },
  answer: signedIn,
  refusals: ['unauthenticated', 'forbidden'],
  run: async ({ token, password, user_id = null }, context) => {
    const browser = requireBrowser(context);
    const accounts = await context.runtime.accounts();
    const result = await accounts.signInWithLink({ token, password, user_id }, browser);
    const wrong =
      'The link was used already or has expired. Make another one with `customshouse users reset`.';
    return answerSignIn(result, browser, wrong);
  },
});

export const sessionSignOut = defineOperation({
  name: 'session_sign_out',
  summary: 'Sign out',
  description: 'Ends the session and removes its cookie.',
  http: { method: 'POST', path: '/v1/session/sign-out' },
  permission: 'account:own',
  browser: true,
  needs: 'store',
  input: Type.Object({}),
  output: Type.Object({
    signed_out: Type.Boolean(),
    location: Type.Optional(Type.String({ description: 'Open it to sign out of the OpenID provider too.' })),
  }),
  example: {},
  answer: { signed_out: true },
  async run(_input, context) {
    const browser = requireBrowser(context);
    const { session } = await requireSession(context);
    const accounts = await context.runtime.accounts();
    await accounts.signOut(browser.session_token!, context.caller.id);
    browser.setSession(null);
    if (session.method !== 'oidc') return { signed_out: true };
    const location = await accounts.oidcSignOutUrl(`${browser.origin}/dashboard/sign-in`);
    return { signed_out: true, ...(location !== null && { location }) };
  },
});

/** Returns the browser of a call. @throws Refusal if the transport is none */
export function requireBrowser({ browser }: Context): BrowserContext {
  if (browser === undefined) throw new Refusal('not_configured', 'Only a browser can do this.');
  return browser;
}

/** Returns the user of the browser's session. @throws Refusal `unauthenticated` */
export async function requireSession(context: Context): Promise<SignedInUser> {
  const { session_token } = requireBrowser(context);
  const found =
    session_token === null ? null : await (await context.runtime.accounts()).identify(session_token);
  if (found === null) throw new Refusal('unauthenticated', 'The session has ended: sign in again.');
  return found;
}

/** Sets the cookie of a sign-in, or throws its refusal. */
export function answerSignIn(result: SignInResult, browser: BrowserContext, wrong: string) {
  if (result.outcome === 'second_factor')
    return { status: 'second_factor' as const, ticket: result.ticket, factors: [...result.factors] };
  if (result.outcome !== 'signed_in') throw buildSignInRefusal(result, wrong);
  browser.setSession(result.session_token);
  browser.setDevice(result.device_token);
  return signedIn;
}

/** Builds the refusal of a wrong or limited proof. */
export function buildSignInRefusal(
  result: Extract<SignInResult, { outcome: 'refused' | 'limited' }>,
  wrong: string,
): Refusal {
  if (result.outcome === 'refused') return new Refusal('unauthenticated', wrong);
  const { retry_seconds } = result;
  const message = `Too many attempts. Try again in ${retry_seconds} seconds.`;
  return new Refusal('too_many_requests', message, [], { retry_after_seconds: retry_seconds });
}
