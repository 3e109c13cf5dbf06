import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { OPERATOR_PERMISSIONS, type Permission, ROLES } from '../config/permissions.ts';
import {
  AGENT_TOKEN_CALLER,
  ANONYMOUS_CALLER,
  buildAgentCaller,
  buildOperatorCaller,
  LOOPBACK_CALLER,
  PROXY_CALLER,
} from './callers.ts';
import type { Caller, User } from './types.ts';
import { identifyUser } from './users.ts';

const USERS: readonly User[] = [
  { user_id: 'Ann@corp.io', role: 'admin', tenants: ['*'] },
  { user_id: 'bill', role: 'billing', tenants: ['acme', 'beta'] },
  { user_id: 'vera', role: 'viewer', tenants: ['default'] },
  { user_id: 'audrey', role: 'auditor', tenants: ['default'] },
  { user_id: 'april', role: 'approver', tenants: ['default'] },
];

interface Row {
  readonly name: string;
  readonly caller?: Caller;
  readonly user: string | null | undefined;
  readonly users?: readonly User[];
  /** Returns the status of a refusal, or whether the caller can read costs. */
  readonly costs: 'unauthenticated' | 'forbidden' | boolean;
  readonly tenants?: Caller['tenants'];
}

const exporter = buildAgentCaller('key:exporter', ['costs:read'], ['beta', 'gamma'], '*');

const ROWS: readonly Row[] = [
  { name: 'an administrator', user: 'ann@CORP.io', costs: true, tenants: '*' },
  { name: 'somebody of billing', user: ' bill ', costs: true, tenants: ['acme', 'beta'] },
  { name: 'a viewer', user: 'vera', costs: false },
  { name: 'an auditor', user: 'audrey', costs: false },
  { name: 'an approver', user: 'april', costs: false },
  { name: 'somebody unknown', user: 'eve', costs: 'forbidden' },
  { name: 'a default user where others are configured', user: 'admin', costs: 'forbidden' },
  { name: 'nobody', user: null, costs: 'unauthenticated' },
  { name: 'a blank', user: '  ', costs: 'unauthenticated' },
  { name: 'no place for a name, and no person', user: undefined, costs: 'unauthenticated' },
  {
    name: 'a person at the command line',
    caller: buildOperatorCaller('cli:ann'),
    user: undefined,
    costs: true,
  },
  {
    name: 'a person who names nobody',
    caller: buildOperatorCaller('operator'),
    user: null,
    costs: 'unauthenticated',
  },
  {
    name: 'a person who names a viewer',
    caller: buildOperatorCaller('operator'),
    user: 'vera',
    costs: false,
  },
  { name: 'a person who names billing', caller: buildOperatorCaller('operator'), user: 'bill', costs: true },
  {
    name: 'an agent that names an administrator',
    caller: AGENT_TOKEN_CALLER,
    user: 'ann@corp.io',
    costs: false,
  },
  { name: 'a key that may, and billing', caller: exporter, user: 'bill', costs: true, tenants: ['beta'] },
  {
    name: 'a key that may, and all',
    caller: exporter,
    user: 'ann@corp.io',
    costs: true,
    tenants: ['beta', 'gamma'],
  },
  { name: 'a key that may, and a viewer', caller: exporter, user: 'vera', costs: false },
  { name: 'a proxy that names billing', caller: PROXY_CALLER, user: 'bill', costs: true },
  { name: 'a proxy that names a viewer', caller: PROXY_CALLER, user: 'vera', costs: false },
  { name: 'a proxy and a default user', caller: PROXY_CALLER, user: 'admin', users: [], costs: 'forbidden' },
  { name: 'the default administrator', user: 'admin', users: [], costs: true, tenants: '*' },
  { name: 'the default of billing', user: 'billing', users: [], costs: true },
  { name: 'the default viewer', user: 'viewer', users: [], costs: false },
  { name: 'a role is no user', user: 'auditor', users: [], costs: 'forbidden' },
  { name: 'somebody whom nobody let in', caller: ANONYMOUS_CALLER, user: 'ann@corp.io', costs: false },
];

for (const { name, caller = LOOPBACK_CALLER, user, users = USERS, costs, tenants } of ROWS) {
  test(`who looks: ${name}`, () => {
    const outcome = identifyUser(caller, user, users);
    if ('refused' in outcome) return assert.equal(outcome.refused, costs);
    assert.equal(outcome.permissions.includes('costs:read'), costs);
    if (tenants !== undefined) assert.deepEqual(outcome.tenants, tenants);
  });
}

test('unknown names, and names that every object has, are no permissions', () => {
  const request = ['costs:read', 'constructor', 'toString', 'no:such'];
  assert.deepEqual(buildAgentCaller('key:odd', request, '*', '*').permissions.toSorted(), [
    'costs:own',
    'costs:read',
  ]);
});

test('every row ran', () => assert.equal(ROWS.length, 26));

test('no user may decide or change by a name alone', () => {
  const deciding: readonly Permission[] = [
    ...OPERATOR_PERMISSIONS,
    'check',
    'prompts:speak',
    'secrets:resolve',
    'memory:use',
  ];
  for (const role of expectRows(6, ROLES)) {
    const user = identifyUser(LOOPBACK_CALLER, 'u', [{ user_id: 'u', role, tenants: ['*'] }]);
    assert.ok('permissions' in user && user.permissions.length > 0, role);
    assert.notEqual(user.kind, 'person');
    for (const one of deciding) assert.ok(!user.permissions.includes(one), `${role} ${one}`);
  }
});
