import type { Static } from 'typebox';
import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { ROLES, type Role } from '../../runtime/config/permissions.ts';
import { describeSessions, signInSessionsSchema } from './own-account-operations.ts';
import { users } from './tables.ts';
import type { Account } from './types.ts';

const userId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._@+-]*$',
  description: 'The name of the user, in upper or lower case.',
});

const role = Type.Array(Type.Enum(ROLES, { type: 'string' }), {
  minItems: 1,
  maxItems: 10,
  description: 'A role of the user; may be repeated.',
});

const tenant = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
  minItems: 1,
  maxItems: 1_000,
  description: 'A tenant of the user, `*` for all; may be repeated (default: `default`).',
});

const user = Type.Object({
  ...users.schema.properties,
  roles: Type.Array(Type.Enum(ROLES)),
  tenants: Type.Array(Type.String()),
  disabled: Type.Boolean(),
  has_password: Type.Boolean(),
  second_factors: Type.Array(Type.Enum(['totp', 'passkey'])),
});

const example = {
  ...users.example,
  roles: ['approver' as const],
  tenants: ['acme'],
  disabled: false,
  has_password: false,
  second_factors: [],
};

const withLink = Type.Object({
  user,
  link: Type.String({ description: 'Sets the password; valid once, for `auth.sign_in.link_ttl`.' }),
});

const LINK = `http://localhost:8000/dashboard/set-up#svc_link_${'A'.repeat(43)}`;
const MANAGING = { permission: 'users:manage', needs: 'store' } as const;
const byName = Type.Object({ user_id: userId });

export const usersList = defineOperation({
  name: 'users_list',
  summary: 'List the users who can sign in',
  description: 'In the order of their names, page by page.',
  http: { method: 'GET', path: '/v1/users' },
  cli: {
    verb: 'users list',
    options: ['limit', 'cursor'],
    columns: {
      rows: 'users',
      cells: { USER: 'user_id', ROLES: 'roles', TENANTS: 'tenants', DISABLED: 'disabled' },
      empty: 'No user can sign in yet. Add one with `customshouse users add NAME --role admin --tenant "*"`.',
    },
    examples: [['customshouse users list', '']],
  },
  ...MANAGING,
  input: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 100.' })),
    cursor: Type.Optional(
      Type.String({ maxLength: 128, description: 'The `next_cursor` of the page before.' }),
    ),
  }),
  output: Type.Object({
    users: Type.Array(user),
    next_cursor: Type.Nullable(Type.String({ description: '`null` on the last page.' })),
  }),
  example: {},
  answer: { users: [example], next_cursor: null },
  run: async ({ limit = 100, cursor = '' }, { runtime }) => {
    const found = await (await runtime.accounts()).listUsers(cursor, limit + 1);
    const page = found.slice(0, limit);
    const nextCursor = found.length > limit ? (page.at(-1)?.user_id ?? null) : null;
    return { users: page.map(toReply), next_cursor: nextCursor };
  },
});

export const usersAdd = defineOperation({
  name: 'users_add',
  summary: 'Add a user who can sign in',
  description: 'Returns a one-time link with which the user sets a password.',
  http: { method: 'POST', path: '/v1/users' },
  cli: {
    verb: 'users add',
    arguments: ['user_id'],
    options: ['role', 'tenant', 'name'],
    line: ({ link }) => ['Added. Open this link once to set the password:', link],
    examples: [['customshouse users add ann --role approver --tenant acme', '']],
  },
  ...MANAGING,
  input: Type.Object({
    user_id: userId,
    role,
    tenant: Type.Optional(tenant),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'The name for people.' })),
  }),
  output: withLink,
  example: { user_id: 'ann', role: ['approver'], tenant: ['acme'] },
  answer: { user: example, link: LINK },
  refusals: ['conflict'],
  run: async (input, { runtime, caller }) => {
    const { user_id, role: roles, tenant: tenants = ['default'], name = null } = input;
    const added = await (await runtime.accounts()).addUser({ user_id, name, roles, tenants }, caller.id);
    if (added === null) throw new Refusal('conflict', 'There is a user of this name already.');
    return { user: toReply(added.user), link: added.link };
  },
});

export const usersRole = defineOperation({
  name: 'users_role',
  summary: 'Change the roles or tenants of a user',
  description: 'Replaces the roles, the tenants, or both. The next request of the user has them.',
  http: { method: 'POST', path: '/v1/users/{user_id}/role' },
  cli: {
    verb: 'users role',
    arguments: ['user_id'],
    options: ['role', 'tenant'],
    line: writeUser,
    examples: [['customshouse users role ann --role approver --role auditor', '']],
  },
  ...MANAGING,
  input: Type.Object({ user_id: userId, role: Type.Optional(role), tenant: Type.Optional(tenant) }),
  output: user,
  example: { user_id: 'ann', role: ['approver'], tenant: ['acme'] },
  answer: example,
  refusals: ['invalid_request', 'not_found'],
  run: async ({ user_id, role: roles, tenant: tenants }, context) => {
    if (roles === undefined && tenants === undefined)
      throw new Refusal('invalid_request', 'Name a `role`, a `tenant`, or both.');
    refuseSelf(user_id, context);
    const accounts = await context.runtime.accounts();
    const change = { ...(roles && { roles: roles as Role[] }), ...(tenants && { tenants }) };
    return toReply(requireUser(await accounts.changeUser(user_id, change, context.caller.id)));
  },
});

export const usersDisable = defineOperation({
  name: 'users_disable',
  summary: 'Disable a user',
  description: 'Ends the user’s sessions at once. `users enable` allows sign-in again.',
  http: { method: 'POST', path: '/v1/users/{user_id}/disable' },
  cli: {
    verb: 'users disable',
    arguments: ['user_id'],
    line: writeUser,
    examples: [['customshouse users disable ann', '']],
  },
  ...MANAGING,
  input: byName,
  output: user,
  example: { user_id: 'ann' },
  answer: { ...example, disabled: true },
  refusals: ['not_found'],
  run: async ({ user_id }, context) => {
    refuseSelf(user_id, context);
    const accounts = await context.runtime.accounts();
    return toReply(requireUser(await accounts.setUserDisabled(user_id, true, context.caller.id)));
  },
});

export const usersEnable = defineOperation({
  name: 'users_enable',
  summary: 'Enable a disabled user',
  description: 'The user can sign in again.',
  http: { method: 'POST', path: '/v1/users/{user_id}/enable' },
  cli: {
    verb: 'users enable',
    arguments: ['user_id'],
    line: writeUser,
    examples: [['customshouse users enable ann', '']],
  },
  ...MANAGING,
  input: byName,
  output: user,
  example: { user_id: 'ann' },
  answer: example,
  refusals: ['not_found'],
  run: async ({ user_id }, { runtime, caller }) =>
    toReply(requireUser(await (await runtime.accounts()).setUserDisabled(user_id, false, caller.id))),
});

export const usersReset = defineOperation({
  name: 'users_reset',
  summary: 'Reset the sign-in of a user',
  description:
    'Removes the password and all second factors, ends the sessions, and returns a one-time link for a new password.',
  http: { method: 'POST', path: '/v1/users/{user_id}/reset' },
  cli: {
    verb: 'users reset',
    arguments: ['user_id'],
    line: ({ link }) => ['Open this link once to set a new password:', link],
    examples: [['customshouse users reset ann', '']],
  },
  ...MANAGING,
  input: byName,
  output: withLink,
  example: { user_id: 'ann' },
  answer: { user: example, link: LINK },
  refusals: ['not_found', 'conflict'],
  run: async ({ user_id }, context) => {
    refuseSelf(user_id, context);
    const accounts = await context.runtime.accounts();
    if (requireUser(await accounts.findUser(user_id)).source === 'oidc')
      throw new Refusal('conflict', 'This user signs in at the OpenID provider: reset the password there.');
    const reset = requireUser(await accounts.resetUser(user_id, context.caller.id));
    return { user: toReply(reset.user), link: reset.link };
  },
});

export const usersUnlock = defineOperation({
  name: 'users_unlock',
  summary: 'End the delays of sign-in for a user',
  description:
    'Forgets the wrong passwords and codes that delay the sign-in of the user, and those of all addresses.',
  http: { method: 'POST', path: '/v1/users/{user_id}/unlock' },
  cli: {
    verb: 'users unlock',
    arguments: ['user_id'],
    line: ({ user_id }) => `${user_id} can sign in without a delay.`,
    examples: [['customshouse users unlock ann', '']],
  },
  ...MANAGING,
  input: byName,
  output: user,
  example: { user_id: 'ann' },
  answer: example,
  refusals: ['not_found'],
  run: async ({ user_id }, { runtime, caller }) =>
    toReply(requireUser(await (await runtime.accounts()).unlockUser(user_id, caller.id))),
});

export const usersSessions = defineOperation({
  name: 'users_sessions',
  summary: 'List the sessions of a user',
  description: 'The browsers in which the user is signed in, the newest sign-in first.',
  http: { method: 'GET', path: '/v1/users/{user_id}/sessions' },
  ...MANAGING,
  input: byName,
  output: signInSessionsSchema,
  example: { user_id: 'ann' },
  answer: { sessions: [] },
  refusals: ['not_found'],
  run: async ({ user_id }, context) => {
    const { user_id: found } = requireUser(await (await context.runtime.accounts()).findUser(user_id));
    return { sessions: await describeSessions(found, context) };
  },
});

export const usersSignOut = defineOperation({
  name: 'users_sign_out',
  summary: 'End all sessions of a user',
  description: 'Signs the user out of every browser at once.',
  http: { method: 'POST', path: '/v1/users/{user_id}/sign-out' },
  cli: {
    verb: 'users sign-out',
    arguments: ['user_id'],
    line: ({ ended }) => `Sessions that were ended: ${ended}.`,
    examples: [['customshouse users sign-out ann', '']],
  },
  ...MANAGING,
  input: byName,
  output: Type.Object({ ended: Type.Integer({ description: 'How many sessions were ended.' }) }),
  example: { user_id: 'ann' },
  answer: { ended: 0 },
  refusals: ['not_found'],
  run: async ({ user_id }, { runtime, caller }) => {
    const accounts = await runtime.accounts();
    requireUser(await accounts.findUser(user_id));
    return { ended: await accounts.endUserSessions(user_id, null, caller.id) };
  },
});

function requireUser<Found>(found: Found | null): Found {
  if (found === null) throw new Refusal('not_found', 'There is no such user.');
  return found;
}

/** Refuses a change of the caller's own user, so that the last administrator does not lock everyone out. */
function refuseSelf(user: string, { caller }: Context): void {
  if (caller.id === `user:${user.toLowerCase()}`)
    throw new Refusal('forbidden', 'You cannot change your own user. Ask another administrator.');
}

function writeUser({ user_id, roles, tenants, disabled }: Static<typeof user>): string {
  const state = disabled ? 'is disabled' : 'can sign in';
  return `${user_id} ${state}; roles: ${roles.join(', ')}; tenants: ${tenants.join(', ')}.`;
}

function toReply(account: Account) {
  return {
    ...users.show(account),
    roles: account.roles,
    tenants: account.tenants === '*' ? ['*'] : account.tenants,
    disabled: account.is_disabled,
    has_password: account.has_password,
    second_factors: [
      ...(account.has_totp ? ['totp' as const] : []),
      ...(account.passkey_count > 0 ? ['passkey' as const] : []),
    ],
  };
}
