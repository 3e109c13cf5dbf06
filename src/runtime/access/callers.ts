import { PERMISSIONS, PERSON_PERMISSIONS, type Permission } from '../config/permissions.ts';
import type { Caller } from './types.ts';

/** What those may do who are trusted to check and to read their own results. */
const CHECKING: readonly Permission[] = [
  'check',
  'memory:use',
  'policy:read',
  'audit:read_own',
  'metrics:read',
  'approvals:own',
  'costs:own',
];

/** An API key or a signed token that names no permissions. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = [
  'check',
  'memory:use',
  'policy:read',
  'audit:read_own',
  'approvals:own',
  'costs:own',
];

/** Whoever calls from this machine without a credential. */
export const LOOPBACK_CALLER: Caller = {
  id: 'loopback',
  kind: 'anonymous',
  permissions: CHECKING,
  tenants: '*',
  agents: '*',
};

/** A proxy that says for whom it asks, and may do nothing in its own name. */
export const PROXY_CALLER: Caller = {
  id: 'proxy',
  kind: 'anonymous',
  permissions: [],
  tenants: '*',
  agents: '*',
};

/** For routes that are open to everyone: who calls there is not looked at. */
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
 * A person: the bearer of the operator token, or the peer of the Unix socket, whose file mode proves it.
 * `id` is `operator` or `cli:<user of the operating system>`.
 */
export function buildOperatorCaller(id: string): Caller {
  return { id, kind: 'person', permissions: PERMISSIONS, tenants: '*', agents: '*' };
}

/**
 * An agent's credential. What needs a person is never in it, whatever was asked for; who may read the whole audit
 * trail, or all requests for approval, may read its own part.
 */
export function buildAgentCaller(
  id: string,
  asked: readonly string[],
  tenants: Caller['tenants'],
  agents: Caller['agents'],
): Caller {
  const granted = asked.flatMap((one) => [one, ...(IMPLIED.get(one) ?? [])]);
  const permissions = PERMISSIONS.filter((one) => granted.includes(one) && !PERSON_PERMISSIONS.includes(one));
  return { id, kind: 'agent', permissions, tenants, agents };
}

/** The agent behind an MCP server that a user of this machine started: it may check and read its own. */
export function buildMcpCaller(user: string): Caller {
  return { id: `mcp:${user}`, kind: 'agent', permissions: CHECKING, tenants: '*', agents: '*' };
}

const IMPLIED: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'audit:read': ['audit:read_own'],
    'approvals:read': ['approvals:own'],
    'costs:read': ['costs:own'],
  }),
);
