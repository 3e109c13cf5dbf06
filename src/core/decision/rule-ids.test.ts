/** Rules for particular detectors: in a decision, in its explanation, and in a replay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainDecision } from '../review/explain.ts';
import { summarizeFindings } from '../review/found-tags.ts';
import type { RecordedEvent } from '../review/recorded-decision.ts';
import { replayDecision } from '../review/replay.ts';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import type { Policy } from '../types/index.ts';
import { judge } from './judge.ts';

const DELETE = 'rm -rf /srv/data';
const FORCE = 'git push --force origin main';

function buildPolicy(condition: object, more: object = {}): Policy {
  const own = { name: 'own', boundary: 'action', data_tags: ['dangerous'], condition, action: 'allow' };
  return buildTestPolicy({ rules: [{ ...own, ...more }] });
}

function judgeCommand(command: string, policy: Policy, declaredTags: readonly string[] = []) {
  const content = { kind: 'json', value: { command } } as const;
  const call = {
    boundary: 'action',
    phase: 'request',
    tool: 'Bash',
    content,
    declared_tags: declaredTags,
  } as const;
  return judge(buildTestCrossing(call), policy);
}

/** The rule, the command, and the rule that decides. */
const ROWS: readonly (readonly [condition: object, command: string, rule: RegExp])[] = [
  [{ rule_id: 'git.push_force' }, FORCE, /^own$/],
  [{ rule_ids: ['git.*'] }, FORCE, /^own$/],
  [{ rule_ids: ['sql.*', '*'] }, FORCE, /^own$/],
  [{ rule_id: 'git.push' }, FORCE, /^builtin\.dangerous/],
  [{ rule_ids: ['git.*'] }, DELETE, /^builtin\.dangerous/],
  [{ rule_ids: ['git.*'] }, `${FORCE}; ${DELETE}`, /^builtin\.dangerous/],
  [{ rule_ids: ['git.*', 'filesystem.*'] }, `${FORCE}; ${DELETE}`, /^own$/],
  [{ rule_id: 'git.push_force', tools: ['Other'] }, FORCE, /^builtin\.dangerous/],
];

test('rules match the findings of their detectors', () => {
  for (const [condition, command, rule] of ROWS)
    assert.match(
      judgeCommand(command, buildPolicy(condition)).rule,
      rule,
      JSON.stringify([condition, command]),
    );
  assert.equal(ROWS.length, 8);
});

test('a declared tag has no detector', () => {
  const rules = [{ name: 'own', boundary: 'action', data_tags: ['own'], action: 'block' }];
  const detector = { condition: { rule_id: '*' } };
  const allowing = { settings: { default_action: 'allow' as const } };
  const any = buildTestPolicy({ rules, ...allowing });
  const found = buildTestPolicy({ rules: rules.map((rule) => ({ ...rule, ...detector })), ...allowing });
  assert.equal(judgeCommand('ls', any, ['own']).rule, 'own');
  assert.notEqual(judgeCommand('ls', found, ['own']).rule, 'own');
});

function recordDecision(command: string, policy: Policy): RecordedEvent {
  const { decision, action, rule, data_tags, findings, policy_hash } = judgeCommand(command, policy);
  const metadata = {
    endpoint: 'intercept_tool',
    phase: 'request',
    findings: findings.length,
    found_tags: summarizeFindings(findings),
    rule_ids: [...new Set(findings.map(({ rule_id }) => rule_id))],
  };
  return {
    ...{ event_id: 'evt_1', boundary: 'action', decision, action, policy_name: rule, data_tags },
    ...{ tenant_id: 'default', agent_id: 'a', tool_name: 'Bash', session_id: null },
    ...{ source_agent_id: null, destination_agent_id: null, policy_hash, coverage: 'full', metadata },
  };
}

test('a decision on one detector is explained and replayed', () => {
  const policy = buildPolicy({ rule_id: 'git.push_force' });
  const builtin = buildTestPolicy();
  const explained = explainDecision(recordDecision(FORCE, policy), 0, policy);
  assert.ok(typeof explained !== 'string' && explained.matches_record, JSON.stringify(explained));
  const other = buildPolicy({ rule_id: 'sql.drop' });
  const traced = explainDecision(recordDecision(FORCE, other), 0, other);
  assert.match(
    JSON.stringify(traced),
    /It is for findings of `sql\.drop`, and `git\.push_force` found this\./,
  );
  const replayed = replayDecision(recordDecision(FORCE, builtin), 0, builtin, policy, null);
  assert.equal(replayed?.change, 'less_strict');
  // Negative control: which of two detectors found which tag is not recorded.
  const both = recordDecision(`${FORCE}; ${DELETE}`, builtin);
  assert.deepEqual(replayDecision(both, 0, builtin, policy, null), {
    change: 'unknown',
    reason: 'incomplete',
  });
  assert.equal(replayDecision(both, 0, builtin, builtin, null)?.change, 'same');
  assert.equal(explainDecision(both, 0, policy), 'incomplete');
});
