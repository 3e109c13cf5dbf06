import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildAgentCaller, buildOperatorCaller, LOOPBACK_CALLER } from '../runtime/access/callers.ts';
import { findOperation, operations } from '../server/operations.ts';
import { callOperation } from './call.ts';
import { type AnyOperation, type Context, Refusal } from './operation.ts';
import { createTestRuntime } from './testing/runtime.ts';

const { runtime } = createTestRuntime();
const context = (caller = LOOPBACK_CALLER): Context => ({ runtime, caller, request_id: 'req' });

async function getRefusal(operation: AnyOperation, raw: unknown, caller = LOOPBACK_CALLER): Promise<Refusal> {
  try {
    await callOperation(operation, raw, context(caller));
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const tool = findOperation('intercept_tool') as AnyOperation;

test('names and paths are unique, and every operation says what it needs', () => {
  const names = operations.map(({ name }) => name);
  assert.deepEqual(names, names.toSorted());
  assert.equal(new Set(names).size, names.length);
  assert.equal(new Set(operations.map(({ http }) => `${http.method} ${http.path}`)).size, names.length);
  assert.equal(findOperation('nothing'), undefined);
  for (const { name, summary, description } of operations) {
    assert.match(name, /^[a-z]+(_[a-z]+)*$/);
    assert.ok(summary.length > 0 && description.endsWith('.'), name);
  }
});

test('a permission is checked before the shape, and availability before both', async () => {
  const powerless = buildAgentCaller('key:idle', [], '*', '*');
  assert.equal((await getRefusal(tool, 7, powerless)).code, 'forbidden');
  assert.equal((await getRefusal(tool, 7)).code, 'invalid_request');
  const explain = findOperation('intelligence_explain') as AnyOperation;
  assert.equal((await getRefusal(explain, 7, powerless)).code, 'not_configured');
});

test('only a person reloads, and learns how where one is missing', async () => {
  const reload = findOperation('policies_reload') as AnyOperation;
  assert.match((await getRefusal(reload, undefined)).message, /operator token/);
  const wishful = buildAgentCaller('key:x', ['check', 'policy:reload'], '*', '*');
  assert.equal((await getRefusal(reload, undefined, wishful)).code, 'forbidden');
  assert.deepEqual(
    Object.keys((await callOperation(reload, undefined, context(buildOperatorCaller('cli:jo')))) as object),
    ['reloaded', 'policy_hash', 'generation', 'changed', 'warnings'],
  );
});

test('an input that concerns all tenants needs access to them', async () => {
  const hold = findOperation('audit_hold_add') as AnyOperation;
  const operation = { ...hold, run: () => ({}) };
  const everyone = buildOperatorCaller('cli:jo');
  const limited = { ...everyone, tenants: ['acme'] };
  assert.equal((await getRefusal(operation, { reason: 'x', tenant_id: ' ' }, limited)).code, 'forbidden');
  const named = { reason: 'x', tenant_id: 'acme' };
  assert.deepEqual(await callOperation(operation, named, context(limited)), {});
  assert.deepEqual(await callOperation(operation, { reason: 'x' }, context(everyone)), {});
});

/** Bodies below the size limit, but with so many faults that a complete error report would be huge. */
const vast: Readonly<Record<string, object>> = {
  'a million wrong items': { data_tags: Array(1_000_000).fill(1) },
  'a million wrong tags': { data_tags: Array(1_000_000).fill('!') },
  'one endless tag': { data_tags: ['a.'.repeat(2_000_000)] },
  'one endless name': { agent_id: '😀'.repeat(2_000_000) },
  'an endless tool': { tool: '\n'.repeat(4_000_000) },
  'a vast context': { context: { session_id: Array(1_000_000).fill(1) } },
};

test('what is vast is refused with few words', async () => {
  for (const [name, body] of Object.entries(vast)) {
    const refusal = await getRefusal(tool, { tool: 'x', ...body });
    assert.equal(refusal.code, 'invalid_request', name);
    assert.ok(JSON.stringify([refusal.message, refusal.details]).length < 2_000, name);
  }
});

test('a value of the wrong form is refused with the form that the schema expects', async () => {
  const save = operations.find(({ name }) => name === 'alert_rules_save')!;
  const refusal = await getRefusal(
    save,
    { ...(save.example as object), window: '3y' },
    buildOperatorCaller('operator'),
  );
  assert.equal(refusal.message, '`window` must be a duration, such as `30s`, `15m`, `24h` or `7d`.');
});

test('details say where and what, in the words of the schema', async () => {
  const cases: readonly [unknown, string, { path: string; message: string }[]][] = [
    [undefined, '`tool` is required.', [{ path: 'tool', message: 'is required' }]],
    [[], 'The request must be an object.', [{ path: '', message: 'must be an object' }]],
    [{ tool: 7 }, '`tool` must be a string.', [{ path: 'tool', message: 'must be a string' }]],
    [
      { tool: 'x', agent_id: 7 },
      '`agent_id` must be a string or null.',
      [{ path: 'agent_id', message: 'must be a string or null' }],
    ],
    [
      { tool: 'x', phase: 'later' },
      '`phase` must be one of request, response.',
      [{ path: 'phase', message: 'must be one of request, response' }],
    ],
    [
      { tool: 'x', data_tags: ['ok', ''] },
      '`data_tags[1]` must not be empty.',
      [
        { path: 'data_tags[1]', message: 'must not be empty' },
        { path: 'data_tags[1]', message: 'has characters that are not allowed there' },
      ],
    ],
  ];
  for (const [raw, message, details] of cases) {
    const refusal = await getRefusal(tool, raw);
    assert.equal(refusal.message, message);
    assert.deepEqual(refusal.details, details);
  }
});
