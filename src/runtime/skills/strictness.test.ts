/** The comparison of two policies: every way to weaken one is found, and the same change backwards is none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestPolicy, type PolicyParts } from '../../core/testing/policies.ts';
import type { Policy } from '../../core/types/index.ts';
import { compareStrictness } from './strictness.ts';
import { listWeakenings } from './weakenings.ts';

const contract = (terms: object = {}): PolicyParts => ({
  documents: [
    {
      version: 'v1alpha1',
      contracts: [
        {
          ...{ tool_name: 'pay', accepts: { tags: ['personal.pii'], fields: ['to', 'sum'] } },
          emits: { tags: ['untrusted.web', 'personal.pii'], fields: ['id'] },
          side_effects: { reversible: false, requires_approval: true, egress: true },
          ...{ allowed_agents: ['bill*'], max_calls_per_minute: 2, ...terms },
        },
      ],
    },
  ],
});
const identity = (terms: object = {}): PolicyParts => ({
  documents: [
    {
      version: 'v1alpha1',
      agents: [{ agent_id: 'bot', tools: ['crm.*'], clearance_tags: ['personal'], ...terms }],
    },
  ],
  settings: { unknown_agents: 'allow' },
});
const rule = (terms: object = {}): PolicyParts => ({
  rules: [
    {
      ...{ name: 'ask', boundary: 'action', data_tags: ['personal.pii'], action: 'require_approval' },
      ...{ approval: { ttl: '1h', min_approvals: 2 }, ...terms },
    },
  ],
});
/** Allows dangerous commands that these detectors find. */
const detectorRule = (ruleIds: readonly string[]): PolicyParts => ({
  rules: [
    {
      name: 'own',
      boundary: 'action',
      data_tags: ['dangerous.git'],
      condition: { rule_ids: ruleIds },
      action: 'allow',
    },
  ],
});
const effects = { reversible: false, requires_approval: true, egress: true };

const UNDECLARED_RULE = {
  ...{ name: 'ask', boundary: 'action', action: 'require_approval' },
  condition: { when: 'undeclared' },
};

/** Each weakens in the first direction only. */
const ROWS: readonly (readonly [before: PolicyParts, after: PolicyParts, found: RegExp])[] = [
  [{}, { settings: { builtin_rules: false, default_action: 'allow' } }, /input, secret.* block -> allow/],
  [{}, { settings: { pii_protection: { enabled: true, action: 'allow' } } }, /personal.* redact -> allow/],
  [{}, { settings: { default_action: 'flag' } }, /no rule names: block -> flag/],
  [
    { rules: [UNDECLARED_RULE] },
    { rules: [UNDECLARED_RULE], ...contract() },
    /`pay` becomes declared; undeclared ones are restricted/,
  ],
  [contract({ flow: { arguments: { to: { any_of: ['user'] } } } }), contract(), /origin of argument values/],
  [{ settings: { undeclared_tools: 'block' } }, {}, /without a contract are no longer blocked/],
  [{ settings: { unknown_agents: 'block' } }, {}, /unknown agents are no longer blocked/],
  [contract(), contract({ enforcement: 'monitor' }), /contract `pay`: is only recorded/],
  [contract(), contract({ allowed_agents: undefined }), /more agents/],
  [contract(), contract({ allowed_agents: ['b*'] }), /more agents/],
  [contract(), contract({ max_calls_per_minute: 3 }), /more calls/],
  [contract(), contract({ max_calls_per_minute: undefined }), /more calls/],
  [contract(), contract({ side_effects: { ...effects, requires_approval: false } }), /no approval/],
  [contract(), contract({ side_effects: { ...effects, egress: false } }), /data leaves/],
  [contract(), contract({ accepts: { tags: ['personal'], fields: ['to', 'sum'] } }), /arguments may carry/],
  [contract(), contract({ accepts: { tags: ['personal.pii'] } }), /arguments may have more fields/],
  [contract(), contract({ emits: { tags: ['personal.pii'], fields: ['id'] } }), /marks results/],
  [contract(), contract({ emits: { tags: ['untrusted', 'personal'], fields: ['id'] } }), /results may carry/],
  [contract(), contract({ emits: { tags: ['untrusted.web'], fields: ['id'] } }), /results may carry/],
  [
    contract({ emits: { tags: ['private.mail', 'untrusted.web'] } }),
    contract({ emits: { tags: ['untrusted.web'] } }),
    /marks results with private.mail/,
  ],
  [
    contract(),
    contract({ emits: { tags: ['untrusted.web', 'personal.pii'], fields: ['id', 'x'] } }),
    /results may have/,
  ],
  [contract(), {}, /contract `pay` is removed/],
  [{}, detectorRule(['git.push_force']), /call, dangerous.git, detector git.push_force: block -> allow/],
  [detectorRule(['git.push_force']), detectorRule(['git.*']), /detector git.x: block -> allow/],
  [identity(), identity({ tools: undefined }), /identity `bot`: the agent may call more tools/],
  [identity(), identity({ tools: ['crm.*', 'pay'] }), /more tools/],
  [identity(), identity({ clearance_tags: ['personal', 'secret'] }), /see more tags/],
  [identity(), identity({ clearance_tags: undefined }), /see more tags/],
  [identity(), { settings: { unknown_agents: 'allow' } }, /identity `bot` is removed/],
  [rule(), rule({ approval: { ttl: '1h', min_approvals: 1 } }), /fewer approvals/],
  [rule(), rule({ approval: { ttl: '2h', min_approvals: 2 } }), /valid for longer/],
  [rule(), rule({ condition: { severity_min: 'critical' } }), /fewer severities/],
  [rule(), rule({ action: 'allow' }), /require_approval -> allow/],
];

/** Members that are `undefined` are left out, as in a file. */
function compile(parts: PolicyParts): Policy {
  return buildTestPolicy(JSON.parse(JSON.stringify(parts)));
}

function describeWeakening(before: PolicyParts, after: PolicyParts): string {
  const found = compareStrictness(compile(before), compile(after));
  const places = found.examples.map(({ where, before: was, after: is }) => `${where}: ${was} -> ${is}`);
  return [...places, ...found.loosening].join('\n');
}

test('each way to weaken a policy is found, and none in the opposite direction', () => {
  for (const [before, after, found] of ROWS) {
    assert.match(describeWeakening(before, after), found);
    assert.doesNotMatch(describeWeakening(after, before), found, `backwards: ${found}`);
  }
  assert.equal(ROWS.length, 33);
});

test('a contract that replaces another one for a tenant, or in other letters, is compared with it', () => {
  const pay = contract();
  const loose = contract({ side_effects: { ...effects, requires_approval: false } });
  const add = (terms: object): PolicyParts => {
    const [written] = loose.documents as readonly { readonly contracts: readonly object[] }[];
    const other = { ...written, contracts: [{ ...written!.contracts[0], ...terms }] };
    return { documents: [...pay.documents!, other] };
  };
  for (const terms of [{ tenant_id: 'acme' }, { tool_name: 'Pay' }])
    assert.match(describeWeakening(pay, add(terms)), /no approval/, JSON.stringify(terms));
  assert.equal(describeWeakening(pay, add({ tool_name: 'refund' })), '', 'a contract of another tool');
});

test('a removed wrapper of commands weakens a policy', () => {
  const [one, none] = [['rtk'], []].map((wrappers) =>
    buildTestPolicy({ settings: { command_detection: { enabled: true, wrappers } } }),
  );
  assert.match(listWeakenings(one!, none!).join(), /no longer names `rtk`/);
  assert.deepEqual(listWeakenings(none!, one!), []);
});
