import {
  type Permission,
  PROVED_PERMISSIONS,
  ROLE_PERMISSIONS,
  type Role,
  SERVICE_PERMISSIONS,
} from '../config/permissions.ts';
import { LOOPBACK_CALLER, PROXY_CALLER } from './callers.ts';
import type { Caller, User } from './types.ts';

/** Returns the permissions of a user who signed in: those of all roles, within the user's tenants. */
export function findRolePermissions(
  roles: readonly Role[],
  tenants: Caller['tenants'],
): readonly Permission[] {
  const all = new Set(roles.flatMap((role) => ROLE_PERMISSIONS[role]));
  return [...all].filter((one) => tenants === '*' || !SERVICE_PERMISSIONS.includes(one));
}

/** Returns the permissions of a user whom a header names: to read, and nothing else. */
function findReadPermissions(role: Role, tenants: Caller['tenants']): readonly Permission[] {
  return findRolePermissions([role], tenants).filter((one) => !PROVED_PERMISSIONS.includes(one));
}

/** Returns whether the caller is a user with a session, whom no header renames. */
export function isSignedIn(caller: Caller): boolean {
  return caller.second_factor_ms !== undefined;
}

/** The users for callers on this machine if none is configured. */
const DEFAULT_USERS: readonly User[] = (['admin', 'billing', 'viewer'] as const).map((role) => ({
  user_id: role,
  role,
  tenants: ['*'],
}));

/** Why a user is rejected, and how to fix it. */
export interface UserRejection {
  readonly refused: 'unauthenticated' | 'forbidden';
  readonly reason: string;
}

/**
 * Identifies the user of an operation that is for users. The caller vouches for the name in `x-service-user`,
 * and the user's role gives the permissions. A program on this machine and an operator's credential vouch for
 * any user. A proxy does if it is configured to. An agent's credential gives a user no more than its own
 * permissions.
 *
 * @param name the user that the transport names; `null` for none, `undefined` if it cannot name one (the
 * command line, which needs none)
 */
export function identifyUser(
  caller: Caller,
  name: string | null | undefined,
  configured: readonly User[],
): Caller | UserRejection {
  if (isSignedIn(caller) || (name === undefined && caller.kind === 'person')) return caller;
  if (name === undefined || name === null || name.trim() === '') return MISSING;
  const isDefault = configured.length === 0;
  if (isDefault && caller === PROXY_CALLER) return UNKNOWN;
  const wanted = name.trim().toLowerCase();
  const user = (isDefault ? DEFAULT_USERS : configured).find(
    ({ user_id }) => user_id.toLowerCase() === wanted,
  );
  if (user === undefined) return UNKNOWN;
  const tenants: Caller['tenants'] = user.tenants.includes('*') ? '*' : user.tenants;
  const own = { permissions: findReadPermissions(user.role, tenants), tenants };
  const isTrusted = caller.kind === 'person' || caller === LOOPBACK_CALLER || caller === PROXY_CALLER;
  const lent = isTrusted ? own : narrowRights(own, caller);
  return { id: `user:${user.user_id}`, kind: 'anonymous', ...lent, agents: caller.agents };
}

const MISSING: UserRejection = {
  refused: 'unauthenticated',
  reason: 'This is for users: name one in the header `x-service-user`.',
};
const UNKNOWN: UserRejection = {
  refused: 'forbidden',
  reason: 'This user is not known: see `dashboard.users`.',
};

type Lent = Pick<Caller, 'permissions' | 'tenants'>;

/** Returns the permissions that both have. */
function narrowRights(user: Lent, caller: Lent): Lent {
  const { tenants } = caller;
  return {
    permissions: user.permissions.filter((one) => caller.permissions.includes(one)),
    tenants:
      tenants === '*'
        ? user.tenants
        : user.tenants === '*'
          ? tenants
          : tenants.filter((one) => user.tenants.includes(one)),
  };
}
