import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import type { Crossing, Json, MemoryField, MemoryUse } from '../types/index.ts';
import { judge } from './judge.ts';
import { findMemoryField, isMemoryValueOfType, listMemorySchemas } from './memory-field.ts';

const field = (name: string, tag = 'internal') => ({ name, type: 'string', tag });

const DOCUMENTS = [
  { memory: { name: 'notes', scope: 'session', fields: [field('note'), field('plan')] } },
  { memory: { name: 'acme-notes', scope: 'user', tenant_id: 'acme', fields: [field('note')] } },
  { memory: { name: 'other-notes', scope: 'global', tenant_id: 'other', fields: [field('secret-plan')] } },
];

test('a key means the field of the tenant’s own documents, then of those for all, or of the one that is named', () => {
  const policy = buildTestPolicy({ documents: DOCUMENTS });
  const cases: readonly [string, string, string | null, string | null][] = [
    ['default', 'note', null, 'notes'],
    ['default', 'plan', null, 'notes'],
    ['acme', 'note', null, 'acme-notes'],
    ['acme', 'note', 'notes', 'notes'],
    ['acme', 'plan', null, 'notes'],
    ['acme', 'plan', 'acme-notes', null],
    ['acme', 'secret-plan', null, null],
    ['acme', 'secret-plan', 'other-notes', null],
    ['other', 'secret-plan', null, 'other-notes'],
    ['default', 'Note', null, null],
    ['default', 'toString', null, null],
    ['default', 'note', 'nothing', null],
  ];
  for (const [tenantId, key, schema, expected] of cases) {
    const found = findMemoryField(policy, tenantId, key, schema);
    assert.equal(found?.schema.name ?? null, expected, `${tenantId} ${key} ${schema}`);
    if (found !== null) assert.equal(found.field.name, key);
  }
  assert.equal(cases.length, 12);
  assert.deepEqual(
    listMemorySchemas(policy, 'acme').map(({ name }) => name),
    ['acme-notes', 'notes'],
  );
  assert.equal(findMemoryField(buildTestPolicy(), 'default', 'note', null), null);
});

test('a value is of the type that its field names, and of no other', () => {
  const values: readonly [Json, readonly MemoryField['type'][]][] = [
    ['text', ['string']],
    ['', ['string']],
    [1, ['integer', 'number']],
    [1.5, ['number']],
    [0, ['integer', 'number']],
    [1e300, ['integer', 'number']],
    [true, ['boolean']],
    [false, ['boolean']],
    [[], ['list']],
    [[1, 'a'], ['list']],
    [{}, ['object']],
    [{ length: 1 }, ['object']],
    [null, []],
  ];
  const types: readonly MemoryField['type'][] = ['string', 'integer', 'number', 'boolean', 'list', 'object'];
  let ran = 0;
  for (const [value, expected] of values) {
    const fits = types.filter((type) => isMemoryValueOfType(value, type));
    assert.deepEqual(fits, expected, JSON.stringify(value));
    ran += types.length;
  }
  assert.equal(ran, 78);
});

const USE: MemoryUse = {
  operation: 'write',
  schema: 'notes',
  key: 'note',
  scope: 'session',
  handle_id: null,
  tag: 'internal',
};

function buildMemoryCrossing(memory: MemoryUse | null, parts: Partial<Crossing> = {}): Crossing {
  return buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    tool: 'memory.write',
    agent_id: 'support-bot',
    ...(memory !== null && { memory }),
    ...parts,
  });
}

test('a document lets its tag pass where no rule names it, and a rule that names it decides', () => {
  const silent = buildTestPolicy();
  assert.equal(judge(buildMemoryCrossing(USE), silent).rule, 'default.allow');
  assert.deepEqual(judge(buildMemoryCrossing(USE), silent).data_tags, ['internal']);
  // The same tag from a caller, or an additional tag, still gets the default action.
  assert.equal(
    judge(buildMemoryCrossing(null, { declared_tags: ['internal'] }), silent).rule,
    'default.block',
  );
  assert.equal(judge(buildMemoryCrossing(USE, { declared_tags: ['other'] }), silent).rule, 'default.block');
  const rules = [
    {
      name: 'keep-out',
      boundary: 'action',
      data_tags: ['internal'],
      action: 'block',
      condition: { tool: 'memory.*' },
    },
  ];
  assert.equal(judge(buildMemoryCrossing(USE), buildTestPolicy({ rules })).rule, 'keep-out');
  assert.equal(
    judge(buildMemoryCrossing({ ...USE, tag: 'confidential' }), buildTestPolicy({ rules })).rule,
    'default.allow',
  );
  assert.equal(
    judge(buildMemoryCrossing({ ...USE, tag: 'secret.credential' }), silent).rule,
    'builtin.secret.action',
  );
  assert.equal(
    judge(buildMemoryCrossing({ ...USE, tag: null }), buildTestPolicy({ rules })).rule,
    'default.allow',
  );
});

test('contracts and the tools of an identity have no say on memory; its clearance has', () => {
  const documents = [
    { agent: { agent_id: 'support-bot', tools: ['send_email'], clearance_tags: ['internal'] } },
  ];
  const policy = buildTestPolicy({ documents, settings: { undeclared_tools: 'block' } });
  assert.equal(judge(buildMemoryCrossing(USE), policy).decision, 'allow');
  assert.equal(
    judge(buildMemoryCrossing({ ...USE, tag: 'confidential' }), policy).rule,
    'identity.clearance_tags',
  );
  assert.equal(judge(buildMemoryCrossing(USE, { agent_id: 'stranger' }), policy).rule, 'identity.agent_id');
  // A tool with that name is an ordinary tool.
  assert.equal(judge(buildMemoryCrossing(null), policy).decision, 'block');
});
