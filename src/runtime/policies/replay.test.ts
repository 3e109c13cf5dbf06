import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { judge } from '../../core/decision/judge.ts';
import { compilePolicy } from '../../core/policy/compile/index.ts';
import { NO_NAME, OTHER_NAMES } from '../../core/review/replay.ts';
import { buildTestCrossing, buildTestPolicy, POLICY_SETTINGS } from '../../core/testing/policies.ts';
import type { Crossing, Policy } from '../../core/types/index.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import { caller, SECRET, SSN } from '../../server/testing/examples.ts';
import { buildServiceEvent } from '../audit/service-event.ts';
import { makeAuditLog } from '../audit/testing/audit-log.ts';
import type { AuditEvent } from '../audit/types.ts';
import { buildAuditEvent } from '../enforcement/audit-event.ts';
import { overlayDocuments } from './overlay.ts';
import { type ReplayFilter, type ReplayReport, replayJournal } from './replay.ts';
import { replayApart } from './run-apart.ts';
import { savePolicy } from './saved-policy.ts';

const NOW_MS = Date.UTC(2026, 0, 31, 12);
const rule = (name: string, action: string, more: object = {}) => ({
  name,
  boundary: ['input', 'action'],
  data_tags: ['personal'],
  action,
  ...more,
});
const was = buildTestPolicy({ rules: [rule('mask', 'redact')] });
const next = buildTestPolicy({
  rules: [
    rule('no-more', 'block', { condition: { agents: ['bot'] } }),
    rule('fine', 'allow', { condition: { agents: ['ann'] } }),
    rule('mask', 'redact'),
    { name: 'no-shell', boundary: 'action', action: 'block', condition: { tools: ['shell'] } },
  ],
});

let count = 0;
function buildEvent(
  parts: Partial<Crossing>,
  policy: Policy = was,
  fields: Partial<AuditEvent> = {},
): AuditEvent {
  const crossing = buildTestCrossing({ now_ms: NOW_MS - 60_000, ...parts });
  const verdict = judge(crossing, policy);
  count += 1;
  const eventId = `evt_${String(count).padStart(24, '0')}`;
  const logged = { inputs: false, outputs: false };
  const made = {
    event_id: eventId,
    crossing,
    verdict,
    caller,
    endpoint: 'scan_input',
    logged,
    typed_redaction: false,
  };
  return { ...buildAuditEvent(made as Parameters<typeof buildAuditEvent>[0]), ...fields };
}

const text = (content: string) => ({ content: { kind: 'text', text: content } }) as const;
const shell = { boundary: 'action', phase: 'request', tool: 'shell' } as const;

const EVENTS: readonly AuditEvent[] = [
  buildEvent({ ...text(`SSN ${SSN}`), agent_id: 'bot' }),
  buildEvent({ ...text(`SSN ${SSN}`), agent_id: 'ann' }),
  buildEvent({ ...text(`SSN ${SSN}`), agent_id: 'eve' }),
  buildEvent({ ...text(`key ${SECRET}`), agent_id: 'bot' }),
  buildEvent({ ...text('hello'), agent_id: 'bot', ...shell }),
  buildEvent({ ...text('hello'), agent_id: 'bot', tenant_id: 'acme' }),
  buildEvent({ ...text(`SSN ${SSN}`), agent_id: 'bot', now_ms: NOW_MS - 40 * 86_400_000 }),
  buildEvent({ ...text('hello') }, was, { policy_hash: `sha256:${'0'.repeat(64)}` }),
  buildEvent({ ...text('hello') }, was, { action: 'flag' }),
  buildServiceEvent({
    event_id: 'evt_service',
    now_ms: NOW_MS,
    phase: 'policy_reload',
    done: true,
    reason: 'A new policy is active.',
    caller_id: 'operator',
    policy_hash: was.hash,
    metadata: {},
  }),
];

async function replayFolder(
  dir: string,
  filter: Partial<ReplayFilter> = {},
  to = next,
): Promise<ReplayReport> {
  return replayJournal({
    journal_dir: dir,
    next: to,
    policyOf: async (hash) => (hash === was.hash ? was : null),
    filter: { since: '7d', ...filter },
    now_ms: NOW_MS,
  });
}

test('every decision of the journal is counted once: same, stricter, less strict or unknown', async (t) => {
  const trail = await makeAuditLog(t);
  const [one, other] = [await trail.open(), await trail.open({ writer: 'worker-2' })];
  for (const [at, each] of EVENTS.entries()) await (at % 2 === 0 ? one : other).append(each);
  const { tally } = await replayFolder(trail.dir);
  assert.deepEqual(tally.total, { same: 3, stricter: 2, less_strict: 1, unknown: 2 });
  assert.deepEqual(Object.fromEntries(tally.unknown), { policy_unavailable: 1, record_differs: 1 });
  assert.deepEqual(Object.fromEntries(tally.transitions), {
    'redact block': 1,
    'redact allow': 1,
    'allow block': 1,
  });
  assert.deepEqual(tally.by_agent.get('bot'), { same: 2, stricter: 2, less_strict: 0, unknown: 0 });
  assert.deepEqual(tally.by_tool.get('shell'), { same: 0, stricter: 1, less_strict: 0, unknown: 0 });
  assert.deepEqual(tally.by_tag.get('personal.pii.ssn'), {
    same: 1,
    stricter: 1,
    less_strict: 1,
    unknown: 0,
  });
  assert.deepEqual(tally.by_tag.get(NO_NAME), { same: 1, stricter: 1, less_strict: 0, unknown: 2 });
  assert.deepEqual(tally.stricter.map(({ from, to, to_rule }) => [from, to, to_rule]).sort(), [
    ['allow', 'block', 'no-shell'],
    ['redact', 'block', 'no-more'],
  ]);
  const filters: [Partial<ReplayFilter>, number][] = [
    [{}, 8],
    [{ since: '90d' }, 9],
    [{ since: '10s' }, 0],
    [{ until: '2h' }, 0],
    [{ agent_id: 'ann' }, 1],
    [{ tool_name: 'shell' }, 1],
    [{ data_tag: 'personal' }, 3],
    [{ data_tag: 'person' }, 0],
    [{ tenant_id: 'acme' }, 1],
  ];
  for (const [filter, expected] of filters) {
    const { total } = (await replayFolder(trail.dir, filter)).tally;
    const all = total.same + total.stricter + total.less_strict + total.unknown;
    assert.equal(all, expected, JSON.stringify(filter));
  }
  assert.equal(filters.length, 9);
  const again = (await replayFolder(trail.dir, {}, was)).tally;
  assert.deepEqual([again.total.same, again.total.stricter, again.total.less_strict], [6, 0, 0]);
});

test('a replay in a process of its own gives the same report, and stops on request', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  for (const each of EVENTS) await journal.append(each);
  const request = {
    ...{ state_dir: trail.state, next, active: was, now_ms: NOW_MS },
    filter: { since: '7d' },
  };
  assert.deepEqual(await replayApart(request), await replayFolder(trail.dir));
  await savePolicy(join(trail.state, 'policies'), was);
  assert.deepEqual(await replayApart({ ...request, active: next }), await replayFolder(trail.dir));
  assert.throws(() => replayApart({ ...request, filter: { since: 'yesterday' } }), /since/);
  await assert.rejects(replayApart(request, AbortSignal.abort()), Unavailable);
  await assert.rejects(replayApart({ ...request, state_dir: `${trail.state}\0` }), Unavailable);
});

test('a tally does not grow with the names that callers choose', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  const sample = EVENTS[5]!;
  await Promise.all(
    Array.from({ length: 1_500 }, (_, at) => journal.append({ ...sample, agent_id: `agent-${at}` })),
  );
  const { tally } = await replayFolder(trail.dir);
  assert.equal(tally.total.same, 1_500);
  assert.ok(tally.by_agent.size <= 1_001);
  assert.equal(tally.by_agent.get(OTHER_NAMES)?.same, 500);
});

test('a replay knows which tools another policy leaves undeclared', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  for (const each of EVENTS) await journal.append(each);
  const asked = { name: 'asked', boundary: 'action', action: 'require_approval' };
  const rules = [
    rule('mask', 'redact'),
    { ...asked, condition: { when: 'undeclared && effect != "reads"' } },
  ];
  const replay = async (documents: readonly object[]) =>
    (await replayFolder(trail.dir, {}, buildTestPolicy({ rules, documents }))).tally;
  const { stricter, unknown } = await replay([]);
  assert.deepEqual(
    stricter.map(({ to_rule }) => to_rule),
    ['asked'],
  );
  assert.deepEqual([...unknown.keys()].sort(), ['policy_unavailable', 'record_differs']);
  assert.deepEqual((await replay([{ contract: { tool_name: 'shell' } }])).stricter, []);
});

test('contracts of other servers stay next to each other', () => {
  const contract = (more: object) => ({ tool_name: 'send', ...more });
  const input = {
    inline_rules: [],
    documents: [{ file: 'p.yaml', value: { contracts: [contract({ description: 'own' })] } }],
    settings: POLICY_SETTINGS,
  };
  const value = {
    contracts: [
      contract({ fallback: true }),
      contract({ servers: ['mail'], description: 'mail' }),
      contract({ servers: ['chat'], description: 'chat' }),
    ],
  };
  const { policy } = compilePolicy(overlayDocuments(input, [{ file: 'n.yaml', value, lineOf: () => 1 }]));
  assert.deepEqual(
    policy!.contracts.map(({ tool_name, description }) => [tool_name, description]),
    [
      ['send', 'own'],
      ['mcp__mail__send', 'mail'],
      ['mail__send', 'mail'],
      ['mcp__chat__send', 'chat'],
      ['chat__send', 'chat'],
    ],
  );
});

test('documents replace those in use by kind, name and tenant, in their position', () => {
  const inline = [
    {
      file: 'service.yaml',
      path: 'policies',
      tenant_id: null,
      rules: [rule('a', 'flag'), rule('b', 'flag')],
    },
    { file: 'service.yaml', path: 'tenants.acme.policies', tenant_id: 'acme', rules: [rule('a', 'flag')] },
  ];
  const standing = { enforcement: 'monitor', policies: [rule('c', 'flag'), rule('d', 'flag')] };
  const over = [
    { policies: [rule('a', 'block'), rule('c', 'block'), rule('e', 'block')] },
    { policy: rule('a', 'allow', { tenant_id: 'acme' }) },
    { policy: rule('b', 'flag', { enabled: false }) },
    { agent: { agent_id: 'bot' } },
  ];
  const input = {
    inline_rules: inline,
    documents: [{ file: 'p.yaml', value: standing }],
    settings: POLICY_SETTINGS,
  };
  const lineOf = () => 1;
  const documents = over.map((value) => ({ file: 'new.yaml', value, lineOf }));
  const { policy, problems } = compilePolicy(overlayDocuments(input, documents));
  assert.deepEqual(problems, []);
  assert.deepEqual(
    policy!.rules.map(({ name, action, tenant_id, enforcement }) => [name, action, tenant_id, enforcement]),
    [
      ['a', 'block', null, 'enforce'],
      ['a', 'allow', 'acme', 'enforce'],
      ['c', 'block', null, 'enforce'],
      ['d', 'flag', null, 'monitor'],
      ['e', 'block', null, 'enforce'],
    ],
  );
  assert.deepEqual(
    policy!.identities.map(({ agent_id }) => agent_id),
    ['bot'],
  );
});
