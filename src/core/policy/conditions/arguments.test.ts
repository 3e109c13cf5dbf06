import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../decision/judge.ts';
import { parseJsonSource } from '../../json/source.ts';
import { getStepsTaken } from '../../steps.ts';
import { buildTestCrossing, buildTestPolicy, compileParts } from '../../testing/policies.ts';
import type { Content, Json, Verdict } from '../../types/index.ts';
import { formatArgumentPath, NoResult, parseArgumentPath } from './arguments.ts';
import { CONDITION_LENGTH_MAX, celEvaluator, findConditionProblem, LOOP_STEPS_MAX } from './cel.ts';
import { buildConditionFacts } from './facts.ts';

/** Findings decide nothing here. */
const SETTINGS = {
  builtin_rules: false,
  default_action: 'allow',
  secret_detection: { enabled: false },
  command_detection: { enabled: false },
  pii_protection: { enabled: false, action: 'flag' },
} as const;
const LIMITS = { depth_max: 1_000, nodes_max: 1_000_000 };

/** A call's content as text, with exact numbers and duplicates. */
function readCall(text: string): Content {
  return { kind: 'json', value: JSON.parse(text) as Json, source: parseJsonSource(text, LIMITS)! };
}

const NOTHING_KNOWN = { data_tags: () => [], findings_count: 0, is_undeclared: false };

const CALL = buildTestCrossing({ boundary: 'action', phase: 'request', tool: 'pay' });

const rule = (action: string, when: string, more: object = {}) => ({
  ...{ name: action, boundary: 'action', action, ...more },
  condition: { tools: ['pay'], when },
});

function judgeCall(rules: readonly object[], content: Content, documents: readonly object[] = []): Verdict {
  const call = { ...CALL, content };
  return judge(call, buildTestPolicy({ rules, documents, settings: SETTINGS }), null, celEvaluator);
}

/** Returns `yes`, `no` or `none`, as a rule that blocks and a rule that allows show it. */
function evaluate(when: string, content: Content): string {
  const blocks = judgeCall([rule('block', when)], content);
  const allows = judgeCall([rule('allow', when)], content);
  const isNone = /could not be evaluated/.test(blocks.reason);
  assert.equal(allows.rule === 'allow', blocks.rule === 'block' && !isNone, when);
  return isNone ? 'none' : blocks.rule === 'block' ? 'yes' : 'no';
}

test('conditions read arguments, and have no result without them', () => {
  const long = `{"list":[${'1,'.repeat(100_000)}1]}`;
  const deep = `{"a":${'['.repeat(60)}1${']'.repeat(60)}}`;
  const rows: readonly (readonly [when: string, call: string, result: string])[] = [
    ['args.amount > 1000', '{"amount":1001}', 'yes'],
    ['args.amount > 1000', '{"amount":1000}', 'no'],
    ['args.amount > 1000', '{"amount":1000.01}', 'yes'],
    ['args.amount > 1000', '{"amount":1e3}', 'no'],
    ['args.amount > 1000', '{"amount":1.1e3}', 'yes'],
    ['args.amount > 1000', '{}', 'none'],
    ['args.amount > 1000', '{"amount":null}', 'none'],
    ['args.amount > 1000', '{"amount":"1001"}', 'none'],
    ['args.amount > 1000', '{"amount":"1,001"}', 'none'],
    ['args.amount > 1000', '{"amount":"0x10"}', 'none'],
    ['args.amount > 1000', '{"amount":[5000]}', 'none'],
    ['args.amount > 1000', '"{\\"amount\\":5000}"', 'none'],
    ['args.amount > 1000', '[5000]', 'none'],
    // The same name twice, with either order; a twin name; another spelling.
    ['args.amount > 1000', '{"amount":1,"amount":5000}', 'none'],
    ['args.amount > 1000', '{"amount":5000,"\\u0061mount":1}', 'none'],
    ['args.amount > 1000', '{"\u0430mount":5000}', 'none'],
    ['args.amount > 1000', '{"Amount":5000}', 'none'],
    // Numbers that a double does not hold.
    ['args.id == 9007199254740993', '{"id":9007199254740993}', 'yes'],
    ['args.id == 9007199254740993', '{"id":9007199254740992}', 'no'],
    ['args.amount > 1000', '{"amount":1000.00000000000000000001}', 'none'],
    ['args.amount > 1000', '{"amount":1e400}', 'none'],
    ['args.amount > 0', '{"amount":1e-400}', 'none'],
    ['args.amount > 1000', '{"amount":123456789012345678901234567890}', 'none'],
    ['args.price == 0.1', '{"price":0.1}', 'yes'],
    ['args.price == 0.1', '{"price":0.10000000000000000}', 'yes'],
    ['args.to.endsWith("@corp.example")', '{"to":"ann@corp.example"}', 'yes'],
    ['args.to.endsWith("@corp.example")', '{"to":"ann@corp.example.evil.example"}', 'no'],
    ['args.to.lowerAscii() == "ann@bank"', '{"to":"ANN@BANK"}', 'yes'],
    ['args.to.lowerAscii() == "ann@bank"', '{"to":"ANN@BAN\u212a"}', 'no'],
    ['"x" in args.recipients', '{"recipients":["a","x"]}', 'yes'],
    ['"x" in args.recipients', '{"recipients":["a"]}', 'no'],
    ['"x" in args.recipients', '{"recipients":["a",["x"]]}', 'none'],
    ['"x" in args.recipients', '{"recipients":["a",{"to":"x"}]}', 'none'],
    ['"x" in args.recipients', '{"recipients":"x"}', 'none'],
    ['args.items[0].id == "7"', '{"items":[{"id":"7"}]}', 'yes'],
    ['args.items[1].id == "7"', '{"items":[{"id":"7"}]}', 'none'],
    ['args["content-type"] == "a"', '{"content-type":"a"}', 'yes'],
    ['has(args.note)', '{"note":null}', 'yes'],
    ['has(args.note)', '{}', 'no'],
    ['has(args.a.b)', '{"a":{}}', 'no'],
    ['has(args.a.b)', '{"a":"{\\"b\\":1}"}', 'none'],
    ['has(args.note) && args.note.contains("z")', '{}', 'no'],
    ['has(args.constructor) || has(args.__proto__)', '{}', 'no'],
    ['args.__proto__.admin', '{"__proto__":{"admin":true}}', 'yes'],
    ['args.to.all(x, x.endsWith("@corp"))', '{"to":["a@corp","b@corp"]}', 'yes'],
    ['args.to.all(x, x.endsWith("@corp"))', '{"to":["a@corp","b@evil"]}', 'no'],
    ['args.to.exists(x, !x.endsWith("@corp"))', '{"to":["a@corp",7]}', 'none'],
    ['args.to.exists(x, x.price > 5)', '{"to":[{"price":1},{"price":5.5}]}', 'yes'],
    ['args.m.exists(k, k == "bcc")', '{"m":{"bcc":1}}', 'yes'],
    ['"bcc" in args', '{"bcc":1}', 'yes'],
    ['size(args.list) > 2', long, 'none'],
    ['args.list.exists(x, x > 2)', long, 'none'],
    ['size(args.a) == 1', deep, 'none'],
    ['size(args.a) == 1', '{"a":[[[1]]]}', 'yes'],
    // The other side of a disjunction counts, as CEL specifies.
    ['args.missing == 1 || args.amount > 1', '{"amount":5}', 'yes'],
    ['args.missing == 1 && args.amount > 1', '{"amount":0}', 'no'],
  ];
  for (const [when, call, expected] of rows)
    assert.equal(evaluate(when, readCall(call)), expected, `${when} of ${call.slice(0, 80)}`);
  assert.equal(rows.length, 56);
});

test('values that never were a text are read the same', () => {
  const rows: readonly (readonly [when: string, value: Json, result: string])[] = [
    ['args.amount > 1000', { amount: 1001 }, 'yes'],
    ['args.amount > 1000', { amount: 0.5 }, 'no'],
    ['args.amount > 1000', { amount: 2 ** 53 }, 'none'],
    ['args.amount > 1000', {}, 'none'],
    ['args.list[1].a == "b"', { list: [1, { a: 'b' }] }, 'yes'],
    ['has(args.toString)', { a: 1 }, 'no'],
    ['args.kind == "array"', { kind: 'array', start: 1 }, 'yes'],
    ['args.o.kind == "array"', { o: { kind: 'array', start: 1 } }, 'yes'],
  ];
  for (const [when, value, expected] of rows)
    assert.equal(evaluate(when, { kind: 'json', value }), expected, when);
  assert.equal(evaluate('args.a == "b"', { kind: 'text', text: '{"a":"b"}' }), 'none');
});

test('each restricting action counts a missing argument as met', () => {
  for (const action of ['block', 'require_approval', 'flag']) {
    const missing = judgeCall([rule(action, 'args.amount > 5')], readCall('{}'));
    assert.equal(missing.rule, action);
    const small = judgeCall([rule(action, 'args.amount > 5')], readCall('{"amount":1}'));
    assert.equal(small.rule, 'default.allow');
  }
});

test('a condition reads what a contract leaves', () => {
  const contract = { contract: { tool_name: 'pay', accepts: { fields: ['amount'] } } };
  const call = readCall('{"amount":1,"note":"x"}');
  assert.equal(judgeCall([rule('block', 'has(args.note)')], call).rule, 'block');
  assert.notEqual(judgeCall([rule('block', 'has(args.note)')], call, [contract]).rule, 'block');
  const monitored = [{ contract: { ...contract.contract, enforcement: 'monitor' } }];
  const verdict = judgeCall([rule('block', 'has(args.note)')], call, monitored);
  assert.deepEqual([verdict.rule, verdict.enforced_result?.action], ['block', 'redact']);
});

test('a verdict lists results and names, never values', () => {
  const { condition_results } = judgeCall(
    [rule('flag', 'args.note == "secret-word"')],
    readCall('{"note":"n"}'),
  );
  assert.deepEqual(condition_results, [{ rule: 'flag', result: false, arguments: ['note'] }]);
  assert.equal('condition_results' in judgeCall([rule('flag', 'tool == "pay"')], readCall('{}')), false);
});

test('conditions that would take too long are refused', () => {
  const rows: readonly (readonly [when: string, problem: RegExp])[] = [
    ['args.a.exists(x, args.b.contains(x))', /where it needs a fixed text|inside a loop/],
    ['args.a.exists(x, args.b == x)', /inside a loop/],
    ['args.a.exists(x, x.exists(y, y == 1))', /inside another loop/],
    ['args.a.exists(x, x in session_tags)', /`session_tags` inside a loop/],
    ['args.a.exists(x, has_tag(data_tags, "a"))', /`data_tags` inside a loop/],
    ['args.a.map(x, x).size() > 0', /calls `map`/],
    ['args.a.filter(x, x == 1).size() > 0', /calls `filter`/],
    ['args.a.matches("(a+)+$")', /calls `matches`/],
    ['args.a.contains(args.b)', /where it needs a fixed text/],
    ['matches_glob(tool, args.b)', /where it needs a fixed text/],
    ['duration(args.a) > duration("1h")', /where it needs a fixed text/],
    ['args.a + args.b == "ab"', /computes with an argument/],
    ['(args.a - 0.5) / (args.b - 0.5) > 3.0', /computes with an argument/],
    ['-args.a > 3', /computes with an argument/],
    ['"a" in [args.a]', /inside a list/],
    ['"a" in args.a.b ? true : "x" in (args.c ? args.d : args.e)', /after `in`/],
    ['args.list[args.at] == 1', /index/],
    ['args.list[-1] == 1', /index/],
    ['(args).a == 1', /in parentheses/],
    ['args.a.exists(x, tag == "b")', /next to a loop/],
    ['has(tool.a)', /no argument/],
    ['tool.a == 1', /only `args` has members/],
    [`args.a == "${'x'.repeat(CONDITION_LENGTH_MAX)}"`, /longer than 2000 characters/],
    [Array.from({ length: 45 }, (_, at) => `args.a${at}`).join(' || '), /more than 40 arguments/],
  ];
  for (const [when, problem] of rows) assert.match(findConditionProblem(when) ?? 'accepted', problem, when);
  const longest = `args.a == "${'x'.repeat(CONDITION_LENGTH_MAX - 12)}"`;
  assert.equal(longest.length, CONDITION_LENGTH_MAX);
  assert.equal(findConditionProblem(longest), null);
});

test('a loop ends at its limit of steps', () => {
  const when = 'args.list.exists(x, x == "none" || x == "nothing" || x == "no")';
  const call = (items: number) => readCall(JSON.stringify({ list: new Array(items).fill('a') }));
  const read = (content: Content) =>
    celEvaluator.evaluate(when, buildConditionFacts(CALL, { ...NOTHING_KNOWN, content }, null, ''));
  const before = getStepsTaken();
  assert.equal(read(call(1_000)), false);
  assert.throws(() => read(call(9_000)), NoResult);
  // Two lists are converted, and one is searched.
  assert.ok(getStepsTaken() - before <= LOOP_STEPS_MAX + 11_000);
});

test('a rule on arguments is refused where none are', () => {
  const amount = 'args.amount > 1';
  const base = {
    name: 'r',
    boundary: 'action',
    action: 'block',
    condition: { tools: ['pay'], when: amount },
  };
  const at = (condition: object) => ({ ...base, condition });
  const rows: readonly (readonly [rule: object, path: string, problem: RegExp])[] = [
    [{ ...base, boundary: 'input' }, 'condition.when', /only the boundary `action`/],
    [{ ...base, boundary: 'output' }, 'condition.when', /only the boundary `action`/],
    [{ ...base, boundary: ['action', 'input'] }, 'condition.when', /only the boundary `action`/],
    [at({ tools: ['pay'], when: amount, phase: 'response' }), 'condition.phase', /must be `request`/],
    [
      at({ tools: ['pay'], when: amount, phase: ['request', 'message'] }),
      'condition.phase',
      /must be `request`/,
    ],
    [at({ when: amount }), 'condition.when', /has\(args\.amount\)/],
    [at({ tools: ['*'], when: amount }), 'condition.when', /name tools/],
    [at({ tools: ['*'], when: 'has(args.b) && args.amount > 1' }), 'condition.when', /name tools/],
  ];
  for (const [written, path, problem] of rows) {
    const { policy, problems } = compileParts({ rules: [written] });
    assert.equal(policy, null);
    assert.equal(problems[0]!.path, `policies[0].${path}`);
    assert.match(problems[0]!.message, problem);
  }
  const accepted = [
    base,
    at({ tools: ['pay', 'pay.*'], when: amount, phase: 'request' }),
    at({ when: 'has(args.amount) && args.amount > 1' }),
  ];
  for (const written of accepted) {
    const [compiled] = buildTestPolicy({ rules: [written] }).rules;
    assert.deepEqual([compiled!.phases, compiled!.reads!.arguments], [['request'], ['amount']]);
  }
});

test('a type that the contract excludes is refused', () => {
  const schema = {
    type: 'object',
    properties: {
      amount: { type: 'number' },
      note: { type: 'string' },
      to: { type: 'array', items: { $ref: '#/$defs/name' } },
      any: {},
      mixed: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    },
    $defs: { name: { type: 'string' } },
  };
  const documents = [{ contract: { tool_name: 'pay', arguments: schema } }];
  const problemOf = (when: string, more: readonly object[] = []) =>
    compileParts({ rules: [rule('block', when)], documents: [...documents, ...more] }).problems[0]?.message;
  for (const when of ['args.note > 5', 'args.amount == "5"', 'args.to.exists(x, x > 5)', 'args.to == "a"'])
    assert.match(problemOf(when) ?? '', /contract of `pay` gives the argument another type/, when);
  const fine = [
    ...['args.amount > 5', 'args.amount > 5.5', 'args.note == "5"', 'args.any > 5', 'args.mixed > 5'],
    ...['args.to.exists(x, x == "a")', '"a" in args.to', 'has(args.note) && args.note != ""'],
  ];
  for (const when of fine) assert.equal(problemOf(when), undefined, when);
  // Another tenant's contract may have the type, so the rule can have a result.
  const other = {
    tool_name: 'pay',
    tenant_id: 'acme',
    arguments: { properties: { note: { type: 'number' } } },
  };
  assert.equal(problemOf('args.note > 5', [{ contract: other }]), undefined);
});

test('paths are written and read back', () => {
  const paths = [[], ['a'], ['a', 0, 'b'], ['content-type', 3], ['', 'a"b', '__proto__'], ['a]b', 'c.d']];
  for (const path of paths) assert.deepEqual(parseArgumentPath(formatArgumentPath(path)), path);
  assert.equal(formatArgumentPath(['items', 0, 'id']), 'items[0].id');
});
