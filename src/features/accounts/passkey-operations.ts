import type { Static } from 'typebox';
import { Type } from '../../core/schema.ts';
import { type BrowserContext, type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { OWN_ACCOUNT, requireRecentProof, rotateOwnSession } from './own-account-operations.ts';
import { answerSignIn, requireBrowser, requireSession, signInAnswerSchema } from './sign-in-operations.ts';
import { passkeys } from './tables.ts';

const field = Type.String({ maxLength: 16_384 });

/** The answer of `navigator.credentials`, as `@simplewebauthn/browser` writes it. */
const response = Type.Object(
  {
    id: Type.String({ maxLength: 2_048 }),
    rawId: Type.String({ maxLength: 2_048 }),
    type: Type.Enum(['public-key']),
    response: Type.Object({
      clientDataJSON: field,
      attestationObject: Type.Optional(field),
      authenticatorData: Type.Optional(field),
      signature: Type.Optional(field),
      userHandle: Type.Optional(Type.Nullable(Type.String({ maxLength: 2_048 }))),
    }),
    clientExtensionResults: Type.Unsafe<object>({ type: 'object' }),
  },
  { description: 'The answer of the browser, in the JSON form of WebAuthn.' },
);

/** Completes an answer for its check. A missing part is empty, which no check accepts. */
function completeResponse({ response: answer, ...credential }: Static<typeof response>) {
  const { userHandle, ...parts } = answer;
  const given = typeof userHandle === 'string' ? { ...parts, userHandle } : parts;
  return {
    ...credential,
    response: { attestationObject: '', authenticatorData: '', signature: '', ...given },
  };
}

const byResponse = Type.Object({ response });
const options = Type.Unsafe<object>({
  type: 'object',
  description: 'The options for `navigator.credentials`.',
});
const changed = Type.Object({ changed: Type.Boolean() });

const RESPONSE = {
  id: 'AQIDBA',
  rawId: 'AQIDBA',
  type: 'public-key' as const,
  response: { clientDataJSON: 'e30' },
  clientExtensionResults: {},
};
const WRONG = 'The passkey was not accepted. Try again, or use another one.';

export const passkeySignInOptions = defineOperation({
  name: 'passkey_sign_in_options',
  summary: 'Begin to sign in with a passkey',
  description:
    'With a `ticket` of `/v1/session/sign-in` for that user, otherwise for any passkey of this site.',
  http: { method: 'POST', path: '/v1/session/passkey/options' },
  permission: null,
  browser: true,
  needs: 'store',
  input: Type.Object({
    ticket: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'Optional.' })),
  }),
  output: options,
  example: {},
  answer: null,
  refusals: ['forbidden', 'not_configured', 'too_many_requests'],
  run: async ({ ticket = null }, context) => {
    const browser = requirePasskeyOrigin(context);
    const begun = await (await context.runtime.accounts()).startPasskeyUse({ ticket }, browser);
    if (begun === null) throw new Refusal('too_many_requests', 'Too many attempts from this address.');
    return begun;
  },
});

export const passkeySignIn = defineOperation({
  name: 'passkey_sign_in',
  summary: 'Sign in with a passkey',
  description: 'A passkey verifies the person too, so that it needs no password and no second factor.',
  http: { method: 'POST', path: '/v1/session/passkey' },
  permission: null,
  browser: true,
  needs: 'store',
  input: byResponse,
  output: signInAnswerSchema,
  example: { response: RESPONSE },
  answer: { status: 'signed_in' },
  refusals: ['unauthenticated', 'forbidden', 'not_configured'],
  run: async (input, context) => {
    const browser = requirePasskeyOrigin(context);
    const accounts = await context.runtime.accounts();
    return answerSignIn(
      await accounts.signInWithPasskey(completeResponse(input.response), browser),
      browser,
      WRONG,
    );
  },
});

export const passkeyList = defineOperation({
  name: 'passkey_list',
  summary: 'List your own passkeys',
  description: 'The oldest first.',
  http: { method: 'GET', path: '/v1/session/passkeys' },
  ...OWN_ACCOUNT,
  input: Type.Object({}),
  output: Type.Object({
    passkeys: Type.Array(passkeys.schema),
  }),
  example: {},
  answer: { passkeys: [] },
  run: async (_input, context) => {
    const { session } = await requireSession(context);
    return { passkeys: await (await context.runtime.accounts()).listPasskeys(session.user_id) };
  },
});

export const passkeyOptions = defineOperation({
  name: 'passkey_options',
  summary: 'Start to add or verify a passkey of your own',
  description: 'Returns the options for `navigator.credentials.create` or, with `verify`, for `get`.',
  http: { method: 'POST', path: '/v1/session/passkeys/options' },
  ...OWN_ACCOUNT,
  input: Type.Object({
    verify: Type.Optional(
      Type.Boolean({ description: 'Verify the second factor again (default: add a passkey).' }),
    ),
  }),
  output: options,
  example: {},
  answer: null,
  refusals: ['forbidden', 'not_configured'],
  run: async ({ verify = false }, context) => {
    const { session } = await (verify ? requireSession(context) : requireRecentProof(context));
    const browser = requirePasskeyOrigin(context);
    const accounts = await context.runtime.accounts();
    const { user_id } = session;
    if (!verify) return accounts.startPasskeyRegistration(user_id, browser);
    return (await accounts.startPasskeyUse({ ticket: null, user_id }, browser))!;
  },
});

export const passkeyAdd = defineOperation({
  name: 'passkey_add',
  summary: 'Add a passkey of your own',
  description:
    'After that, a sign-in with the password requires a second factor. Needs a sign-in, or a second factor if there is one, of the last 10 minutes.',
  http: { method: 'POST', path: '/v1/session/passkeys' },
  ...OWN_ACCOUNT,
  input: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 64, description: 'For the list.' }),
    response,
  }),
  output: changed,
  example: { name: 'laptop', response: RESPONSE },
  answer: { changed: true },
  refusals: ['forbidden', 'invalid_request', 'not_configured'],
  run: async ({ name, response }, context) => {
    const { session } = await requireRecentProof(context);
    const registration = { name, response: completeResponse(response) };
    const accounts = await context.runtime.accounts();
    return rotateOwnSession(
      await accounts.addPasskey(session, registration, requirePasskeyOrigin(context)),
      context,
      WRONG,
    );
  },
});

export const passkeyProve = defineOperation({
  name: 'passkey_prove',
  summary: 'Verify the second factor again with a passkey',
  description: 'For a decision that needs a second factor of the last minutes.',
  http: { method: 'POST', path: '/v1/session/passkeys/prove' },
  ...OWN_ACCOUNT,
  input: byResponse,
  output: changed,
  example: { response: RESPONSE },
  answer: { changed: true },
  refusals: ['invalid_request', 'not_configured'],
  run: async (input, context) => {
    const { session } = await requireSession(context);
    const accounts = await context.runtime.accounts();
    const browser = requirePasskeyOrigin(context);
    const result = await accounts.provePasskey(session, completeResponse(input.response), browser);
    return rotateOwnSession(result, context, WRONG);
  },
});

export const passkeyRemove = defineOperation({
  name: 'passkey_remove',
  summary: 'Remove one of your own passkeys',
  description: 'It no longer signs in. Needs a second factor of the last 10 minutes.',
  http: { method: 'POST', path: '/v1/session/passkeys/{passkey_id}/remove' },
  ...OWN_ACCOUNT,
  input: Type.Object({ passkey_id: Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength: 2_048 }) }),
  output: changed,
  example: { passkey_id: 'AQIDBA' },
  answer: { changed: true },
  refusals: ['forbidden', 'not_found'],
  run: async ({ passkey_id }, context) => {
    const { session } = await requireRecentProof(context);
    const accounts = await context.runtime.accounts();
    if (!(await accounts.removePasskey(session.user_id, passkey_id)))
      throw new Refusal('not_found', 'You have no such passkey.');
    return { changed: true };
  },
});

/** Returns the browser, if its origin can have passkeys. */
function requirePasskeyOrigin(context: Context): BrowserContext {
  const browser = requireBrowser(context);
  const { hostname, port } = new URL(browser.origin);
  if (/^[\d.]+$|^\[/.test(hostname))
    throw new Refusal(
      'not_configured',
      `Passkeys belong to a name and not to an IP address: open http://localhost${port === '' ? '' : `:${port}`} or \`server.public_url\`.`,
    );
  return browser;
}
