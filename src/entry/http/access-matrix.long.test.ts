import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { openTestCosts } from '../../features/costs/testing/test-costs.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { deriveCsrfToken } from '../../runtime/access/browser.ts';
import { CREDENTIAL_PERMISSIONS } from '../../runtime/access/testing/credential-permissions.ts';
import { createApiKey } from '../../runtime/access/tokens.ts';
import { beginSession } from '../../runtime/accounts/sign-in.ts';
import { openTestAccounts, TEST_ORIGIN } from '../../runtime/accounts/testing/account-parts.ts';
import {
  OPERATOR_PERMISSIONS,
  PERMISSIONS,
  type Permission,
  ROLES,
  type Role,
  SERVICE_PERMISSIONS,
} from '../../runtime/config/permissions.ts';
import { openTestApprovals } from '../../runtime/enforcement/approvals/testing/open.ts';
import { openCapabilities } from '../../runtime/enforcement/capabilities/capabilities.ts';
import { createCapabilityParts } from '../../runtime/enforcement/capabilities/testing/parts.ts';
import { operations } from '../../server/operations.ts';
import { openServiceStore } from '../../server/store.ts';
import { findRoutePermission } from './testing/route-permissions.ts';
import { type Answer, serve } from './testing/serve.ts';

const scratch = mkdtempSync(join(tmpdir(), 'matrix-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** The order of the columns on the page. */
const ROLES_IN_ORDER: readonly Role[] = [
  'viewer',
  'auditor',
  'approver',
  'policy_editor',
  'billing',
  'admin',
];

/** The cells that the page for administrators promises: `permission role`. */
const promised = readPromises();

function readPromises(): { cells: ReadonlySet<string>; service: Permission[]; person: Permission[] } {
  const page = resolve(import.meta.dirname, '..', '..', '..', 'docs', 'reference', 'permissions.md');
  const rows = readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const cells = new Set<string>();
  const marked = (mark: string): Permission[] =>
    rows.filter(([names]) => names!.includes(mark)).flatMap(([names]) => parsePermissions(names!));
  for (const [names, ...columns] of rows)
    for (const name of parsePermissions(names!))
      for (const [at, role] of ROLES_IN_ORDER.entries())
        if (columns[at] === 'yes') cells.add(`${name} ${role}`);
  return { cells, service: marked('¹'), person: marked('²') };
}

function parsePermissions(text: string): Permission[] {
  return [...text.matchAll(/`([a-z:_-]+)`/g)].map(([, name]) => name as Permission);
}

test('the page on roles names every permission', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/reference/permissions.md'), 'utf8');
  for (const permission of PERMISSIONS) assert.ok(page.includes(`\`${permission}\``), permission);
  assert.deepEqual([...ROLES_IN_ORDER].sort(), [...ROLES].sort());
  assert.deepEqual(promised.service.toSorted(), SERVICE_PERMISSIONS.toSorted());
  const own = (one: Permission) => one !== 'account:own';
  assert.deepEqual(promised.person.toSorted(), OPERATOR_PERMISSIONS.filter(own).toSorted());
});

interface MatrixCaller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `null`: not a user. */
  readonly role: Role | null;
  /** The tenant that the call names, and whether the caller may name it. */
  readonly tenant: 'own' | 'other' | 'all';
}

/** Returns the expected status of a refusal; `null` if the caller passes. */
function getExpectedRefusal(
  caller: MatrixCaller,
  operation: AnyOperation,
  permission: Permission | null,
): 401 | 403 | null {
  if (permission === null) return null;
  if (caller.role === null) {
    if (caller.name === 'no credential') return 401;
    if (operation.for_users === true) return 401;
    return CREDENTIAL_PERMISSIONS.includes(permission) ? null : 403;
  }
  if (!promised.cells.has(`${permission} ${caller.role}`)) return 403;
  if (caller.tenant !== 'all' && promised.service.includes(permission)) return 403;
  if (caller.tenant !== 'all' && operation.whole_service === true) return 403;
  return null;
}

/** Returns what is wrong with an answer; `null` if it is as expected. */
function judgeCell(
  caller: MatrixCaller,
  operation: AnyOperation,
  { status, json }: Pick<Answer, 'status' | 'json'>,
  permission: Permission | null,
): string | null {
  const cell = `${operation.http.method} ${operation.http.path} as ${caller.name}`;
  const expected = getExpectedRefusal(caller, operation, permission);
  if (expected !== null) return status === expected ? null : `${cell}: ${status}, not ${expected}`;
  if (caller.role !== null && caller.tenant === 'other' && permission !== null) {
    const is_refused = status === 403 || status === 404;
    const is_free = !namesTenant(operation) || (status === 200 && holdsNothing(json));
    return is_refused || is_free ? null : `${cell}: ${status} for another tenant`;
  }
  // The operation's own requirements may be missing here, but the caller passed.
  return status === 403 || (status === 401 && permission !== null) ? `${cell}: ${status}` : null;
}

/** Returns whether an answer has no rows. */
function holdsNothing(json: Readonly<Record<string, unknown>>): boolean {
  const lists = Object.values(json).filter((value) => Array.isArray(value));
  return lists.length > 0 && lists.every((list) => list.length === 0);
}

function namesTenant({ input }: AnyOperation): boolean {
  return 'tenant_id' in ((input as { properties?: object }).properties ?? {});
}

test('every route answers every role, tenant and credential as the page on roles says', async () => {
  const world = await openWorld();
  const problems: string[] = [];
  const cells = new Set<string>();
  try {
    for (const operation of world.operations) {
      const { method, path } = operation.http;
      const permission = findRoutePermission(method, path);
      assert.ok(permission !== undefined, `say in route-permissions.ts who may call ${method} ${path}`);
      for (const caller of world.callers) {
        const answer = await world.ask(operation, caller);
        const problem = judgeCell(caller, operation, answer, permission);
        if (problem !== null) problems.push(problem);
        cells.add(`${operation.name} ${caller.name}`);
      }
    }
  } finally {
    await world.close();
  }
  assert.deepEqual(problems, []);
  assert.equal(world.callers.length, 6 * 3 + 2);
  assert.equal(cells.size, world.operations.length * world.callers.length);
  assert.ok(cells.size > 1_500, `${cells.size} cells`);
});

test('a user of one tenant neither sees nor decides a request of another one', async () => {
  const world = await openWorld();
  try {
    const as = (name: string) => world.callers.find((one) => one.name === name)!;
    const approver = as('approver in its tenant');
    const call = async (path: string, body?: object) => {
      const { 'x-service-tenant': _, ...headers } = approver.headers;
      return world.service.ask({ path, headers, ...(body && { body }) });
    };
    const own = await world.request('acme');
    const other = await world.request('globex');
    for (const list of ['/v1/approvals', '/v1/dashboard/approvals', '/v1/approvals?limit=1']) {
      const { json, status } = await call(list);
      assert.equal(status, 200, list);
      const ids = json.approvals.map(({ request_id }: { request_id: string }) => request_id);
      assert.deepEqual(ids, [own], `${list}: the scope applies before the limit`);
    }
    assert.equal((await call(`/v1/approvals/${other}`)).status, 404);
    assert.equal((await call(`/v1/approvals/${other}/approve`, {})).status, 404);
    assert.equal((await call(`/v1/dashboard/approvals/${other}/deny`, {})).status, 404);
    const decided = await call(`/v1/approvals/${own}/approve`, {});
    assert.deepEqual([decided.status, decided.json.decided_by], [200, 'user:approver-acme']);
  } finally {
    await world.close();
  }
});

test('a record with a wrong permission is found', async () => {
  const users = operations.find(({ name }) => name === 'users_list')!;
  const world = await openWorld();
  try {
    const viewer = world.callers.find(({ name }) => name === 'viewer of all tenants')!;
    const answer = await world.ask(users, viewer);
    assert.equal(judgeCell(viewer, users, answer, 'users:manage'), null);
    assert.match(judgeCell(viewer, users, answer, 'audit:read')!, /403$/);
    const open = { status: 200, json: { users: [{}] } };
    assert.match(judgeCell(viewer, users, open, 'users:manage')!, /200, not 403/);
    const approvals = operations.find(({ name }) => name === 'approvals_list')!;
    const stranger = world.callers.find(({ name }) => name === 'viewer in another tenant')!;
    const leaked = { status: 200, json: { approvals: [{}] } };
    assert.match(judgeCell(stranger, approvals, leaked, 'approvals:read')!, /another tenant/);
    assert.notEqual(findRoutePermission('GET', '/v1/users'), 'audit:read');
  } finally {
    await world.close();
  }
});

/** Opens the service with a user of each role, for one tenant and for all. */
async function openWorld() {
  const store = await openServiceStore(
    { kind: 'sqlite', path: join(scratch, `${Math.random()}.db`) },
    { migrate: true },
  );
  const { accounts, parts } = openTestAccounts(store);
  const desk = openTestApprovals(store);
  const capabilities = openCapabilities(createCapabilityParts(store).parts);
  const { costs } = openTestCosts(async () => store, {});
  const key = createApiKey('agent');
  const service = await serve({
    state_dir: scratch,
    auth: { required: true, api_keys: [{ ...key.entry }] },
    instead: {
      accounts: async () => accounts,
      approvals: async () => desk.approvals,
      capabilities: async () => capabilities,
      costs: async () => costs,
      store: async () => store,
    },
  });
  const callers: MatrixCaller[] = [
    { name: 'no credential', headers: {}, role: null, tenant: 'own' },
    { name: 'an agent', headers: { 'x-service-key': key.key }, role: null, tenant: 'own' },
  ];
  for (const role of ROLES) {
    for (const tenant of ['acme', '*']) {
      const user_id = `${role}-${tenant === '*' ? 'all' : tenant}`;
      await accounts.addUser({ user_id, name: null, roles: [role], tenants: [tenant] }, 'operator');
      const begun = await beginSession(parts, { user_id }, 'password', false, TEST_ORIGIN);
      const token = begun.outcome === 'signed_in' ? begun.session_token : '';
      const csrf = { 'x-csrf-token': deriveCsrfToken(token) };
      const session = { cookie: `service-session=${token}`, ...csrf };
      const within = (name: string): Record<string, string> => ({ ...session, 'x-service-tenant': name });
      if (tenant === '*')
        callers.push({ name: `${role} of all tenants`, headers: session, role, tenant: 'all' });
      else {
        callers.push({ name: `${role} in its tenant`, headers: within('acme'), role, tenant: 'own' });
        callers.push({ name: `${role} in another tenant`, headers: within('globex'), role, tenant: 'other' });
      }
    }
  }
  const offered = operations.filter(
    ({ unavailable, name }) => unavailable === undefined && name !== 'session_sign_out',
  );
  return {
    operations: offered,
    callers,
    service,
    /** Makes a request for approval of a tenant. */
    request: async (tenant_id: string): Promise<string> => {
      const { approval } = await desk.check({ tenant_id });
      return approval!.request_id!;
    },
    ask: async (operation: AnyOperation, { tenant, headers }: MatrixCaller): Promise<Answer> => {
      const { http, example } = operation;
      const tenant_id = tenant === 'other' ? 'globex' : 'acme';
      const values: Record<string, string> = { ...(example as object), tenant_id };
      const path = http.path.replace(/\{(\w+)\}/g, (_whole, name: string) => values[name] ?? 'none');
      const body = { ...(example as object), ...(namesTenant(operation) && { tenant_id }) };
      const request = { method: http.method, path, headers };
      return service.ask(http.method === 'GET' ? request : { ...request, body });
    },
    close: async () => {
      await service.close();
      await store.close();
    },
  };
}
