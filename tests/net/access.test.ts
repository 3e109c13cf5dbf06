import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  OPERATOR_PERMISSIONS,
  PERMISSIONS,
  type Permission,
  ROLE_PERMISSIONS,
  ROLES,
  type Role,
  SERVICE_PERMISSIONS,
} from '../../src/runtime/config/permissions.ts';
import { root } from '../support/checkout.ts';
import { type AccessWorld, collectAccess, describeAnswer, openAccessWorld } from './access-world.ts';
import { compareWithData } from './lines.ts';

/** The order of the columns on the page for administrators. */
const ROLES_IN_ORDER: readonly Role[] = [
  'viewer',
  'auditor',
  'approver',
  'policy_editor',
  'billing',
  'admin',
];

let world: AccessWorld;
before(async () => {
  world = await openAccessWorld();
});
after(() => world.close());

test('every route answers every credential as before', async () => {
  const text = await collectAccess(world);
  assert.deepEqual(compareWithData('access.txt', text), []);
  assert.equal(world.callers.length, 6 * 3 + 7);
  assert.equal(text.trimEnd().split('\n').length, world.routes.length * world.callers.length);
  assert.ok(world.routes.length > 180, `${world.routes.length} routes`);
});

test('a caller with more rights changes the data', async () => {
  const users = world.routes.find(({ http }) => http.path === '/v1/users' && http.method === 'GET')!;
  const named = (name: string) => world.callers.find((one) => one.name === name)!;
  const viewer = named('viewer of all tenants');
  const promoted = { ...named('admin of all tenants'), name: viewer.name };
  const line = async (caller: typeof viewer) =>
    `GET /v1/users | ${caller.name} | ${describeAnswer(await world.ask(users, caller))}`;
  const kept = readFileSync(join(root, 'tests/net/data/access.txt'), 'utf8').split('\n');
  assert.ok(kept.includes(await line(viewer)));
  assert.ok(!kept.includes(await line(promoted)));
});

test('answers with rows of another tenant differ from empty ones', () => {
  const list = (rows: readonly object[]) =>
    describeAnswer({ status: 200, json: { approvals: rows, limit: 10 } });
  assert.deepEqual([list([]), list([{}])], ['200 none', '200']);
});

test('a user of one tenant neither sees nor decides a request of another one', async () => {
  const approver = world.callers.find((one) => one.name === 'approver in its tenant')!;
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
});

test('the page on roles shows the permissions of each', () => {
  const page = readFileSync(join(root, 'docs/reference/permissions.md'), 'utf8');
  for (const permission of PERMISSIONS) assert.ok(page.includes(`\`${permission}\``), permission);
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const named = (names: string) =>
    [...names.matchAll(/`([a-z:_-]+)`/g)].map(([, name]) => name as Permission);
  const marked = (mark: string) =>
    rows.flatMap(([names]) => (names!.includes(mark) ? named(names!) : [])).sort();
  assert.deepEqual(ROLES_IN_ORDER.toSorted(), ROLES.toSorted());
  for (const [at, role] of ROLES_IN_ORDER.entries()) {
    const promised = rows.flatMap(([names, ...cells]) => (cells[at] === 'yes' ? named(names!) : []));
    assert.deepEqual(promised.sort(), ROLE_PERMISSIONS[role].toSorted(), role);
  }
  assert.deepEqual(marked('¹'), SERVICE_PERMISSIONS.toSorted());
  assert.deepEqual(marked('²'), OPERATOR_PERMISSIONS.filter((one) => one !== 'account:own').sort());
});
