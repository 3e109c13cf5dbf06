import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventRoutes } from '../../src/entry/http/events/routes.ts';
import { type Answer, serve } from '../../src/entry/http/testing/serve.ts';
import { llmRoutes } from '../../src/entry/llm/routes.ts';
import { MCP_ROUTES } from '../../src/entry/mcp/route.ts';
import { beginSession } from '../../src/features/accounts/sign-in.ts';
import { openTestAccounts, TEST_ORIGIN } from '../../src/features/accounts/testing/account-parts.ts';
import { openTestApprovals } from '../../src/features/approvals/testing/open.ts';
import { openCapabilities } from '../../src/features/capabilities/capabilities.ts';
import { createCapabilityParts } from '../../src/features/capabilities/testing/parts.ts';
import { openTestCosts } from '../../src/features/costs/testing/test-costs.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { StoreFailure } from '../../src/platform/store/failure.ts';
import { deriveCsrfToken } from '../../src/runtime/access/browser.ts';
import { createApiKey, ensureToken } from '../../src/runtime/access/tokens.ts';
import { OPERATOR_PERMISSIONS, PERMISSIONS, ROLES } from '../../src/runtime/config/permissions.ts';
import { operations } from '../../src/server/operations.ts';
import { openServiceStore } from '../../src/server/store.ts';

export interface AccessCaller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The tenant that the calls name. */
  readonly tenant_id: 'acme' | 'globex';
}

type AccessRoute = Pick<AnyOperation, 'http' | 'example' | 'input'>;

/** The routes without an operation record: streams, formats of model providers, MCP and pages. */
const OTHER_ROUTES: readonly AccessRoute[] = [
  ...[...eventRoutes, ...llmRoutes, ...MCP_ROUTES].map(({ http: { method, path } }) => ({ method, path })),
  ...['/', '/docs', '/openapi.json', '/redoc'].map((path) => ({ method: 'GET' as const, path })),
].map((http) => ({ http, example: {}, input: {} }));

/** A service with users in each role, for one tenant and for all, and with each kind of key. */
export interface AccessWorld {
  readonly callers: readonly AccessCaller[];
  readonly routes: readonly AccessRoute[];
  readonly service: Awaited<ReturnType<typeof serve>>;
  /** Makes a request for approval of a tenant, and returns its ID. */
  readonly request: (tenantId: string) => Promise<string>;
  /** Calls a route with its example. */
  readonly ask: (route: AccessRoute, caller: AccessCaller) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

/** Opens the service. A user whose tenant is `acme` has two callers: one that names it, and one that names `globex`. */
export async function openAccessWorld(): Promise<AccessWorld> {
  const scratch = mkdtempSync(join(tmpdir(), 'access-'));
  const store = await openServiceStore(
    { kind: 'sqlite', path: join(scratch, 'store.db') },
    { migrate: true },
  );
  const { accounts, parts } = openTestAccounts(store);
  const approvals = openTestApprovals(store);
  const capabilities = openCapabilities(createCapabilityParts(store).parts);
  const { costs } = openTestCosts(async () => store, {});
  const { keys, callers } = createKeyCallers(scratch);
  const service = await serve({
    state_dir: scratch,
    auth: { required: true, api_keys: keys },
    instead: {
      accounts: async () => accounts,
      approvals: async () => approvals.approvals,
      capabilities: async () => capabilities,
      costs: async () => costs,
      store: async () => store,
      // A stream has no end, so that a caller who passes gets an error.
      events: () => Promise.reject(new StoreFailure('store_unavailable', 'This test has no events.')),
    },
  });
  for (const role of ROLES) {
    for (const tenant of ['acme', '*']) {
      const userId = `${role}-${tenant === '*' ? 'all' : tenant}`;
      await accounts.addUser({ user_id: userId, name: null, roles: [role], tenants: [tenant] }, 'operator');
      const begun = await beginSession(parts, { user_id: userId }, 'password', false, TEST_ORIGIN);
      const token = begun.outcome === 'signed_in' ? begun.session_token : '';
      callers.push(...listUserCallers(role, tenant, token));
    }
  }
  return {
    callers,
    // After a sign-out the later routes would see no user.
    routes: [...operations.filter(({ name }) => name !== 'session_sign_out'), ...OTHER_ROUTES],
    service,
    request: async (tenantId) => (await approvals.check({ tenant_id: tenantId })).approval!.request_id!,
    ask: (route, caller) => askExample(service, route, caller),
    close: async () => {
      await service.close();
      await store.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

function createKeyCallers(stateDir: string) {
  const keys = {
    agent: createApiKey('agent'),
    acme: createApiKey('agent-of-acme'),
    reader: createApiKey('reader'),
  };
  const permissions = PERMISSIONS.filter((one) => !OPERATOR_PERMISSIONS.includes(one));
  const named: readonly (readonly [name: string, key: string | null])[] = [
    ['no credential', null],
    ['a wrong key', createApiKey('unknown').key],
    ['an agent', keys.agent.key],
    ['an agent in its tenant', keys.acme.key],
    ['an agent in another tenant', keys.acme.key],
    ['a key with every permission', keys.reader.key],
    ['the operator token', ensureToken(stateDir, 'operator').token],
  ];
  return {
    keys: [
      keys.agent.entry,
      { ...keys.acme.entry, tenants: ['acme'] },
      { ...keys.reader.entry, permissions },
    ],
    callers: named.map(
      ([name, key]): AccessCaller => ({
        name,
        headers: key === null ? {} : { 'x-service-key': key },
        tenant_id: name.endsWith('another tenant') ? 'globex' : 'acme',
      }),
    ),
  };
}

function listUserCallers(role: string, tenant: string, token: string): readonly AccessCaller[] {
  const session = { cookie: `service-session=${token}`, 'x-csrf-token': deriveCsrfToken(token) };
  if (tenant === '*') return [{ name: `${role} of all tenants`, headers: session, tenant_id: 'acme' }];
  return [
    {
      name: `${role} in its tenant`,
      headers: { ...session, 'x-service-tenant': 'acme' },
      tenant_id: 'acme',
    },
    {
      name: `${role} in another tenant`,
      headers: { ...session, 'x-service-tenant': 'globex' },
      tenant_id: 'globex',
    },
  ];
}

async function askExample(
  service: AccessWorld['service'],
  { http, example, input }: AccessRoute,
  { tenant_id, headers }: AccessCaller,
): Promise<Answer> {
  const values: Record<string, string> = { ...(example as object), tenant_id };
  const path = http.path.replace(/\{(\w+)\}/g, (_whole, name: string) => values[name] ?? 'none');
  const namesTenant = 'tenant_id' in ((input as { properties?: object }).properties ?? {});
  const body = { ...(example as object), ...(namesTenant && { tenant_id }) };
  const request = { method: http.method, path, headers };
  return service.ask(http.method === 'GET' ? request : { ...request, body });
}

/**
 * Returns one line for each route and caller, with the status and the code of the answer. `none` follows the status of
 * a list without rows, so that rows of another tenant show.
 */
export async function collectAccess(world: AccessWorld): Promise<string> {
  const lines: string[] = [];
  for (const route of world.routes) {
    const { method, path } = route.http;
    for (const caller of world.callers) {
      const outcome = describeAnswer(await world.ask(route, caller));
      lines.push(`${method} ${path} | ${caller.name} | ${outcome}`);
    }
  }
  return `${lines.sort().join('\n')}\n`;
}

/** Returns the status of an answer, its error code, and whether its lists are empty. */
export function describeAnswer({ status, json }: Pick<Answer, 'status' | 'json'>): string {
  const code = json?.code ?? json?.error?.data?.code ?? json?.error?.code;
  if (status >= 400) return `${status} ${code ?? json?.error?.type ?? ''}`.trimEnd();
  const lists = Object.values(json ?? {}).filter((value) => Array.isArray(value));
  return lists.length > 0 && lists.every((list) => list.length === 0) ? `${status} none` : `${status}`;
}
