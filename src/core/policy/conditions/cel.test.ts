import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../decision/judge.ts';
import { buildTestCrossing, buildTestPolicy, compileParts } from '../../testing/policies.ts';
import type { Action, Crossing, Verdict } from '../../types/index.ts';
import { CONDITION_LENGTH_MAX, celEvaluator, findConditionProblem } from './cel.ts';
import type { ConditionFacts } from './facts.ts';

const FACTS: ConditionFacts = {
  boundary: 'action',
  phase: 'request',
  tool: 'mail.send',
  undeclared: true,
  agent_id: 'planner',
  source_agent_id: '',
  destination_agent_id: 'mail.send',
  tenant_id: 'acme',
  session_id: 's-1',
  user: 'alice',
  user_email: 'alice@corp.test',
  groups: ['finance'],
  scopes: ['email.send'],
  claimed_user: '',
  chain: ['lead', 'planner'],
  agent_tier: 'subagent',
  tag: '',
  severity: '',
  data_tags: ['egress.url', 'personal.pii.email'],
  declared_tags: ['personal.pii.email'],
  session_tags: ['untrusted.web'],
  findings: 3,
  // A Saturday, 12:30.
  now_ms: Date.UTC(2026, 10, 21, 12, 30),
};

test('conditions evaluate to the expected value', () => {
  const rows: [string, boolean][] = [
    ['true', true],
    ['undeclared && effect == "writes"', true],
    ['!undeclared || effect in ["reads", "unknown"]', false],
    ['user == "alice" && claimed_user == ""', true],
    ['user_email.endsWith("@corp.test")', true],
    ['"finance" in groups && !("admin" in groups)', true],
    ['"email.read" in scopes', false],
    ['"lead" in chain && size(chain) == 2', true],
    ['agent_tier in ["background", "subagent"]', true],
    ['boundary == "action" && phase != "response"', true],
    ['tool.startsWith("mail.") ? agent_id == "planner" : false', true],
    ['matches_glob(tool, "mail.*")', true],
    ['matches_glob(tool, "*.delete")', false],
    ['has_tag(data_tags, "personal")', true],
    ['has_tag(data_tags, "PERSONAL.PII")', true],
    ['has_tag(data_tags, "person")', false],
    ['has_tag(session_tags, "untrusted") && !has_tag(session_tags, "secret")', true],
    ['"untrusted.web" in session_tags', true],
    ['tool in ["mail.send", "mail.draft"]', true],
    ['findings > 2 && size(data_tags) == 2', true],
    ['findings * 2 - 1 == 5', true],
    ['tenant_id == "acme" && session_id != ""', true],
    ['now.getHours() >= 8 && now.getHours() < 18', true],
    ['now.getDayOfWeek() in [0, 6]', true],
    ['now < timestamp("2026-11-21T12:00:00Z") + duration("1h")', true],
    ['agent_id.contains("lan") && agent_id.endsWith("ner") && agent_id.lowerAscii() == "planner"', true],
    ['tag == "" && severity == "" && source_agent_id == ""', true],
    // If one side of a disjunction has no result, the other side counts, as CEL specifies.
    ['findings > 2 || 1 / (findings - 3) > 0', true],
  ];
  for (const [when, expected] of rows) {
    assert.equal(findConditionProblem(when), null, when);
    assert.equal(celEvaluator.evaluate(when, FACTS), expected, when);
  }
  assert.equal(rows.length, 28);
});

test('what cannot be evaluated, or not in bounded time, is refused with a sentence', () => {
  const rows: [string, RegExp][] = [
    ['tol == "x"', /unknown variable: tol/],
    ['tool ==', /is no condition: unexpected token/],
    ['tool', /must evaluate to true or false, but has type `string`/],
    ['findings + 1', /has type `int`/],
    ['findings == "3"', /no such overload/],
    ['tool.foo()', /calls `foo`.*there are has_tag/],
    ['tool.matches("(a+)+$")', /calls `matches`/],
    ['session_tags.exists(x, x == "a")', /calls `exists`/],
    ['session_tags.all(x, session_tags.all(y, x == y))', /calls `all`/],
    ['data_tags.map(x, x).size() > 0', /calls `map`/],
    ['cel.bind(x, tool, x == tool)', /calls `bind`/],
    ['dyn(tool) == 1', /calls `dyn`/],
    ['{"a": 1} == {"a": 1}', /exceeded maxMapEntries|uses `map`/],
    ['session_tags[0] == "a"', /uses `\[\]`/],
    ['text.size() > 3', /unknown variable: text/],
    ['content == ""', /unknown variable: content/],
    ['has_tag("a", "b")', /no matching overload/],
    [`tool == "${'x'.repeat(CONDITION_LENGTH_MAX)}"`, /longer than 2000 characters/],
    [`${'('.repeat(60)}true${')'.repeat(60)}`, /exceeded|depth/i],
    [`findings in [${'1,'.repeat(250)}1]`, /exceeded|list/i],
    [`true${' && true'.repeat(240)}`, /exceeded|maxAstNodes/i],
  ];
  for (const [when, expected] of rows) assert.match(findConditionProblem(when) ?? 'accepted', expected, when);
  assert.equal(rows.length, 21);
});

test('a problem names the file, the path and the fix', () => {
  const rule = { name: 'r', boundary: 'action', action: 'block', condition: { when: 'tol == 1' } };
  const { policy, problems } = compileParts({ documents: [{ policies: [rule] }] });
  assert.equal(policy, null);
  assert.deepEqual(
    problems.map(({ file, path }) => [file, path]),
    [['document-0.yaml', 'policies[0].condition.when']],
  );
});

const requested = (action: Action, when: string) => ({
  name: action,
  boundary: 'action',
  action,
  condition: { when },
});
const call = buildTestCrossing({ boundary: 'action', phase: 'request', tool: 'mail.send' });

function getVerdict(
  rules: readonly object[],
  conditions: typeof celEvaluator | null = celEvaluator,
): Verdict {
  return judge(call, buildTestPolicy({ rules }), null, conditions);
}

test('a condition that has no answer restricts and never allows', () => {
  const broken = '1 / findings == 1';
  const behind = { name: 'behind', boundary: 'action', action: 'block' };
  const rows: [readonly object[], Verdict['decision'], Action, string][] = [
    [[requested('block', broken)], 'block', 'block', 'block'],
    [[requested('require_approval', broken)], 'block', 'require_approval', 'require_approval'],
    [[requested('flag', broken)], 'allow', 'flag', 'flag'],
    [[requested('allow', broken)], 'allow', 'allow', 'default.allow'],
    // A rule whose condition has no result does not shadow the rules after it.
    [[requested('allow', broken), behind], 'block', 'block', 'behind'],
    [[requested('flag', broken), behind], 'block', 'block', 'behind'],
    // Controls: with a result, the first rule that matches decides and shadows the rules after it.
    [[requested('flag', 'findings == 0'), behind], 'allow', 'flag', 'flag'],
    [[requested('allow', 'findings == 0'), behind], 'allow', 'allow', 'allow'],
    [[requested('block', 'findings == 1')], 'allow', 'allow', 'default.allow'],
  ];
  for (const [rules, decision, action, name] of rows) {
    const verdict = getVerdict(rules);
    assert.deepEqual([verdict.decision, verdict.action, verdict.rule], [decision, action, name]);
  }
  assert.match(
    getVerdict([requested('block', broken)]).reason,
    /could not be evaluated, so it counts as met/,
  );
  assert.equal(rows.length, 9);
});

test('where nothing evaluates conditions, they restrict and never allow', () => {
  const behind = { name: 'behind', boundary: 'action', action: 'block' };
  assert.equal(getVerdict([requested('block', 'findings == 1')], null).rule, 'block');
  assert.equal(getVerdict([requested('allow', 'findings == 0'), behind], null).rule, 'behind');
});

test('a condition of a tag rule sees the tag and severity', () => {
  const when = 'tag == "personal.pii.ssn" && severity == "high" && findings == 1';
  const rule = {
    name: 'ssn',
    boundary: 'input',
    data_tags: ['personal'],
    action: 'block',
    condition: { when },
  };
  const ssn = ['536', '22', '8412'].join('-');
  const text = `My SSN is ${ssn}.`;
  const verdict = judge(
    buildTestCrossing({ content: { kind: 'text', text } }),
    buildTestPolicy({ rules: [rule] }),
    null,
    celEvaluator,
  );
  assert.equal(verdict.rule, 'ssn');
});

test('facts that a condition names are looked for', () => {
  const when = 'has_tag(data_tags, "egress.metadata_endpoint")';
  const content = { kind: 'json', value: { url: 'http://169.254.169.254/latest' } } as const;
  const policy = buildTestPolicy({ rules: [requested('block', when)] });
  assert.equal(judge({ ...call, content }, policy, null, celEvaluator).decision, 'block');
  const other = { kind: 'json', value: { url: 'https://example.org/' } } as const;
  assert.equal(judge({ ...call, content: other }, policy, null, celEvaluator).decision, 'allow');
});

test('a rule asks for writing tools without a contract', () => {
  const rule = requested('require_approval', 'undeclared && effect != "reads"');
  const documents = [{ contract: { tool_name: 'mail.send' } }];
  const policy = buildTestPolicy({ rules: [rule], documents });
  const rows: readonly (readonly [Partial<Crossing>, Action])[] = [
    [{ tool: 'mail.forward' }, 'require_approval'],
    [{ tool: 'weather' }, 'require_approval'],
    [{ tool: null }, 'require_approval'],
    [{ tool: 'mail.send' }, 'allow'],
    // The contract restricts a name in other letters too.
    [{ tool: 'Mail.Send' }, 'allow'],
    [{ tool: 'mail.list' }, 'allow'],
    [{ phase: 'message', tool: 'agent_to_agent' }, 'allow'],
    [{ tool: 'memory.write', memory: { schema: null, field: null, tag: null } as never }, 'allow'],
  ];
  for (const [parts, action] of rows)
    assert.equal(
      judge({ ...call, ...parts }, policy, null, celEvaluator).action,
      action,
      JSON.stringify(parts),
    );
});
