import type { ProvedUser } from '../../core/types/index.ts';
import { OPERATOR_PERMISSIONS, PERMISSIONS, type Permission } from '../config/permissions.ts';
import type { Caller } from './types.ts';

/** The permissions to check and to read one's own results. */
const CHECKING: readonly Permission[] = [
  'check',
  'memory:use',
  'policy:read',
  'audit:import',
  'audit:read_own',
  'metrics:read',
  'approvals:own',
  'costs:own',
];

/** The permissions of an operator: all but those on an account, because an operator token has none. */
const OPERATING = PERMISSIONS.filter((one) => one !== 'account:own');

/** The permissions of an API key or signed token that lists none. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = [
  'check',
  'memory:use',
  'policy:read',
  'audit:import',
  'audit:read_own',
  'approvals:own',
  'costs:own',
];

/** A caller on this machine without a credential. */
export const LOOPBACK_CALLER: Caller = {
  id: 'loopback',
  kind: 'anonymous',
  permissions: CHECKING,
  tenants: '*',
  agents: '*',
};

/** A proxy that acts for others and may do nothing in its own name. */
export const PROXY_CALLER: Caller = {
  id: 'proxy',
  kind: 'anonymous',
  permissions: [],
  tenants: '*',
  agents: '*',
};

/** The caller of routes that are open to everyone; no credential is checked there. */
export const ANONYMOUS_CALLER: Caller = {
  id: 'anonymous',
  kind: 'anonymous',
  permissions: [],
  tenants: [],
  agents: [],
};

/** The bearer of the agent token. */
export const AGENT_TOKEN_CALLER: Caller = {
  id: 'agent-token',
  kind: 'agent',
  permissions: CHECKING,
  tenants: '*',
  agents: '*',
};

/**
 * Builds the caller for an operator: the bearer of the operator token, or the user of the command line, which can read
 * it. `id` is `operator` or `cli:<operating system user>`.
 */
export function buildOperatorCaller(id: string): Caller {
  return { id, kind: 'person', permissions: OPERATING, tenants: '*', agents: '*' };
}

/**
 * Builds the caller for an agent's credential. It never gets the permissions that need an operator. A
 * credential with permission to read the whole audit log or all approval requests may also read its own part.
 */
export function buildAgentCaller(
  id: string,
  request: readonly string[],
  tenants: Caller['tenants'],
  agents: Caller['agents'],
): Caller {
  const granted = request.flatMap((one) => [one, ...(IMPLIED.get(one) ?? [])]);
  const permissions = PERMISSIONS.filter(
    (one) => granted.includes(one) && !OPERATOR_PERMISSIONS.includes(one),
  );
  return { id, kind: 'agent', permissions, tenants, agents };
}

/**
 * Builds the caller for a coding agent's hook. It acts for the operating system user who runs the process: the hook
 * itself, or the daemon, whose socket that user alone can open.
 *
 * @param name - the user that the hook's environment names
 */
export function buildHookCaller(name: string, osUser: string): Caller {
  const caller = buildAgentCaller(`hook:${name}`, ['check', 'approvals:own'], '*', '*');
  return { ...caller, user: buildNamedUser(osUser) };
}

/**
 * Builds the caller for the agent behind an MCP server that a user of this machine started. It may check and
 * read its own results.
 */
export function buildMcpCaller(name: string, osUser: string): Caller {
  return {
    id: `mcp:${name}`,
    kind: 'agent',
    permissions: CHECKING,
    tenants: '*',
    agents: '*',
    user: buildNamedUser(osUser),
  };
}

/** Builds a person whose name alone is proved. */
export function buildNamedUser(userId: string): ProvedUser {
  return { user_id: userId, user_email: null, groups: [], scopes: null };
}

const IMPLIED: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'audit:read': ['audit:read_own'],
    'approvals:read': ['approvals:own'],
    'costs:read': ['costs:own'],
  }),
);
