import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import type { SignedInUser } from './index.ts';
import type { RotatedSession } from './own-account.ts';
import {
  buildSignInRefusal,
  codeSchema,
  newPasswordSchema,
  passwordSchema,
  requireBrowser,
  requireSession,
} from './sign-in-operations.ts';
import { userSessions } from './tables.ts';

const changed = Type.Object({ changed: Type.Boolean() });

const byCode = Type.Object({ code: codeSchema });

const WRONG_CODE = 'The code is wrong, or was used already. Wait for the next one.';

/** The members that all operations on one's own account share. */
export const OWN_ACCOUNT = { permission: 'account:own', browser: true, needs: 'store' } as const;

export const sessionPassword = defineOperation({
  name: 'session_password',
  summary: 'Change your own password',
  description: 'Needs the present password. Ends all other sessions of the user.',
  http: { method: 'POST', path: '/v1/session/password' },
  ...OWN_ACCOUNT,
  input: Type.Object({ current_password: passwordSchema, new_password: newPasswordSchema }),
  output: changed,
  example: { current_password: 'correct horse battery', new_password: 'staple horse battery' },
  answer: { changed: true },
  refusals: ['invalid_request', 'too_many_requests'],
  run: async (input, context) => {
    const { session } = await requireSession(context);
    const passwords = { current: input.current_password, next: input.new_password };
    const accounts = await context.runtime.accounts();
    const result = await accounts.changePassword(session, passwords, requireBrowser(context));
    return rotateOwnSession(result, context, 'The present password is wrong.');
  },
});

export const sessionTotpStart = defineOperation({
  name: 'session_totp_start',
  summary: 'Begin to set up an authenticator app',
  description:
    'Returns the secret, once. `/v1/session/totp/confirm` ends the set-up with the first code. Needs a sign-in, or a second factor if there is one, of the last 10 minutes.',
  http: { method: 'POST', path: '/v1/session/totp' },
  ...OWN_ACCOUNT,
  input: Type.Object({}),
  output: Type.Object({
    secret: Type.String({ description: 'Base32, to type in.' }),
    uri: Type.String({ description: '`otpauth://`, for a QR code.' }),
  }),
  example: {},
  answer: { secret: 'A'.repeat(32), uri: `otpauth://totp/Agent%20Safety:ann?secret=${'A'.repeat(32)}` },
  refusals: ['forbidden', 'conflict'],
  run: async (_input, context) => {
    const { session } = await requireRecentProof(context);
    const made = await (await context.runtime.accounts()).startTotp(session.user_id);
    if (made === null)
      throw new Refusal('conflict', 'An authenticator app is set up already: remove it first.');
    return made;
  },
});

export const sessionTotpConfirm = defineOperation({
  name: 'session_totp_confirm',
  summary: 'End the set-up of an authenticator app',
  description: 'From then on a sign-in with the password asks for a code.',
  http: { method: 'POST', path: '/v1/session/totp/confirm' },
  ...OWN_ACCOUNT,
  input: byCode,
  output: changed,
  example: { code: '123456' },
  answer: { changed: true },
  refusals: ['forbidden', 'invalid_request', 'too_many_requests'],
  run: async ({ code }, context) => {
    const { session } = await requireRecentProof(context);
    const accounts = await context.runtime.accounts();
    return rotateOwnSession(await accounts.confirmTotp(session, code), context, WRONG_CODE);
  },
});

export const sessionTotpProve = defineOperation({
  name: 'session_totp_prove',
  summary: 'Verify the second factor again',
  description: 'For a decision that needs a second factor of the last minutes.',
  http: { method: 'POST', path: '/v1/session/totp/prove' },
  ...OWN_ACCOUNT,
  input: byCode,
  output: changed,
  example: { code: '123456' },
  answer: { changed: true },
  refusals: ['invalid_request', 'too_many_requests'],
  run: async ({ code }, context) => {
    const { session } = await requireSession(context);
    const accounts = await context.runtime.accounts();
    return rotateOwnSession(
      await accounts.proveTotp(session, code, requireBrowser(context)),
      context,
      WRONG_CODE,
    );
  },
});

export const sessionTotpRemove = defineOperation({
  name: 'session_totp_remove',
  summary: 'Remove your own authenticator app',
  description: 'Needs a code of it. A user who lost the app asks an administrator for `users reset`.',
  http: { method: 'POST', path: '/v1/session/totp/remove' },
  ...OWN_ACCOUNT,
  input: byCode,
  output: changed,
  example: { code: '123456' },
  answer: { changed: true },
  refusals: ['invalid_request', 'too_many_requests'],
  run: async ({ code }, context) => {
    const { session } = await requireSession(context);
    const accounts = await context.runtime.accounts();
    return rotateOwnSession(
      await accounts.removeTotp(session, code, requireBrowser(context)),
      context,
      WRONG_CODE,
    );
  },
});

/** The age that a proof of identity may have when second factors are changed, in milliseconds. */
const PROOF_MS_MAX = 10 * 60_000;

/**
 * Returns the user of the session, who proved the own identity minutes ago: with the second factor, or with the sign-in
 * if the user has none yet. A session alone must not add a factor, because the new one would count as the proof that
 * decisions ask for.
 *
 * @throws Refusal `unauthenticated`, or `forbidden` if the proof is too old
 */
export async function requireRecentProof(context: Context): Promise<SignedInUser> {
  const user = await requireSession(context);
  const { account, session } = user;
  const hasFactor = account.has_totp || account.passkey_count > 0;
  const provedMs = hasFactor ? (session.second_factor_ms ?? 0) : session.created_ms;
  if (context.runtime.now_ms() - provedMs < PROOF_MS_MAX) return user;
  if (!hasFactor)
    throw new Refusal('forbidden', 'The sign-in is too old to add a second factor. Sign out and in again.');
  const message = 'Prove your second factor before you change it, or sign out and in again.';
  throw new Refusal('forbidden', message, [], { second_factor_required: true });
}

const sessionId = Type.String({ pattern: '^web_[0-9a-f]{24}$', maxLength: 28 });

/** The sessions of a user in browsers. */
export const signInSessionsSchema = Type.Object({
  sessions: Type.Array(
    Type.Object({
      ...userSessions.schema.properties,
      is_current: Type.Optional(Type.Boolean({ description: 'The session of this request.' })),
    }),
  ),
});

export const sessionList = defineOperation({
  name: 'session_list',
  summary: 'List your own sessions',
  description: 'The browsers in which the user is signed in, the newest sign-in first.',
  http: { method: 'GET', path: '/v1/session/list' },
  ...OWN_ACCOUNT,
  input: Type.Object({}),
  output: signInSessionsSchema,
  example: {},
  answer: { sessions: [{ ...userSessions.example, is_current: true }] },
  run: async (_input, context) => {
    const { session } = await requireSession(context);
    return { sessions: await describeSessions(session.user_id, context, session.session_id) };
  },
});

export const sessionRevoke = defineOperation({
  name: 'session_revoke',
  summary: 'End one of your own sessions',
  description: 'Signs another browser out at once.',
  http: { method: 'POST', path: '/v1/session/revoke' },
  ...OWN_ACCOUNT,
  input: Type.Object({ session_id: sessionId }),
  output: changed,
  example: { session_id: 'web_0123456789abcdef01234567' },
  answer: { changed: true },
  refusals: ['not_found'],
  run: async ({ session_id }, context) => {
    const { session } = await requireSession(context);
    const accounts = await context.runtime.accounts();
    const count = await accounts.endUserSessions(session.user_id, session_id, context.caller.id);
    if (count === 0) throw new Refusal('not_found', 'You have no such session.');
    return { changed: true };
  },
});

/** Describes the sessions of a user. */
export async function describeSessions(userId: string, { runtime }: Context, current: string | null = null) {
  const sessions = await (await runtime.accounts()).listSessions(userId);
  return sessions.map((session) => ({
    ...userSessions.show(session),
    is_current: session.session_id === current,
  }));
}

/** Sets the new cookie of a session whose rights changed, or throws the refusal. */
export function rotateOwnSession(
  result: RotatedSession,
  context: Context,
  wrong: string,
): { changed: boolean } {
  if (result.outcome !== 'done') {
    // The session is valid, so that a wrong proof is no reason to sign in again.
    if (result.outcome === 'refused') throw new Refusal('invalid_request', wrong);
    throw buildSignInRefusal(result, wrong);
  }
  requireBrowser(context).setSession(result.session_token);
  return { changed: true };
}
