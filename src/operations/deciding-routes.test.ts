import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DECIDING_ROUTE } from '../core/detect/guard/deciding-commands.ts';
import { operations } from '../server/operations.ts';

/** Permissions that let their holder decide about agents, or weaken the checks. */
const DECIDING: readonly string[] = [
  'agents:block',
  'alerts:manage',
  'approvals:decide',
  'audit:manage',
  'capabilities:issue',
  'memory:purge',
  'keys:manage',
  'policies:edit',
  'policy:reload',
  'sessions:reset',
  'tenants:manage',
  'users:manage',
];

test('the guard covers each route that decides, and no other one', () => {
  let count = 0;
  for (const { name, permission, http } of Object.values(operations)) {
    if (http === undefined || http === null || http.method === 'GET') continue;
    const url = `http://127.0.0.1:8000${http.path.replace(/\{\w+\}/g, 'x_1')}`;
    const decides =
      http.path.startsWith('/v1/session/') || (permission !== null && DECIDING.includes(permission));
    for (const text of [url, `${url} -d '{}'`, `${url}?a=b`])
      assert.equal(DECIDING_ROUTE.test(text), decides, `${name}: ${text}`);
    count += Number(decides);
  }
  assert.equal(count, 72);
});
