/** Compliance reports over journals that the real engine made: counts, gaps over time, tenants, and the same bytes again. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { complianceReport } from '../../src/features/compliance/operations.ts';
import { REPORT_FORMATS, renderComplianceReport } from '../../src/features/compliance/render.ts';
import type { ControlGap } from '../../src/features/compliance/report-types.ts';
import { callOperation } from '../../src/operations/call.ts';
import { FRAMEWORK_IDS } from '../../src/operations/compliance-frameworks.ts';
import { buildAgentCaller, buildOperatorCaller, LOOPBACK_CALLER } from '../../src/runtime/access/callers.ts';
import { verifyJournal } from '../../src/runtime/audit/index.ts';
import { loadPublicKeys } from '../../src/runtime/audit/keys.ts';
import type { AuditEvent } from '../../src/runtime/audit/types.ts';
import { sampleRows } from '../support/nightly.ts';
import { DAY_MS, MARKERS, makeReport, openReader, playDays, playOne, START_MS } from './journal.ts';

const REFUNDS = {
  name: 'refunds-need-approval',
  boundary: 'action',
  condition: { tools: ['issue_refund'], phase: 'request' },
  action: 'require_approval',
  reason: 'A refund needs approval.',
};
const HEALTH = {
  name: 'health-data-stays-here',
  boundary: 'output',
  data_tags: ['personal.phi'],
  action: 'block',
  reason: 'Health data is never shown.',
};
const ALL_ON = { pii_protection: { enabled: true, action: 'redact' }, policies: [REFUNDS, HEALTH] };
const GLOBEX_ONLY = {
  name: 'globex-secret-plans',
  boundary: 'output',
  data_tags: ['personal.phi'],
  action: 'block',
  reason: 'Plans of globex.',
};
/** Five days: all on, the rule in monitor mode, the rule gone, detection of personal data off, all on again. */
const DAYS = [
  { config: ALL_ON, at_ms: START_MS + 3_600_000, rounds: 3 },
  {
    config: { ...ALL_ON, policies: [REFUNDS, { ...HEALTH, enforcement: 'monitor' }] },
    at_ms: START_MS + DAY_MS,
    rounds: 2,
  },
  { config: { ...ALL_ON, policies: [REFUNDS] }, at_ms: START_MS + 2 * DAY_MS, rounds: 2 },
  {
    config: { ...ALL_ON, pii_protection: { enabled: false } },
    at_ms: START_MS + 3 * DAY_MS,
    rounds: 2,
  },
  {
    config: { ...ALL_ON, tenants: { globex: { policies: [GLOBEX_ONLY] } } },
    at_ms: START_MS + 4 * DAY_MS,
    rounds: 2,
  },
];

const iso = (ms: number) => new Date(ms).toISOString();

test('a rule that was in monitor mode or gone, and detectors that were off, are gaps with their time', async (t) => {
  const folder = await playDays(t, DAYS);
  const report = await makeReport(await openReader(t, folder), 'hipaa', 0, 5);
  const audit = report.controls.find(({ control_id }) => control_id === '164.312(b)');
  const access = report.controls.find(({ control_id }) => control_id === '164.312(a)(1)');
  assert.ok(audit !== undefined && access !== undefined);
  const days = [0, 1, 2, 3, 4, 5].map((day) => START_MS + day * DAY_MS);
  const find = (gaps: readonly ControlGap[], words: string) =>
    gaps.filter(({ message }) => message.includes(words));
  const [monitored] = find(access.gaps, '`health-data-stays-here` was in monitor mode');
  assert.ok(monitored !== undefined, JSON.stringify(access.gaps));
  // The first event of the day is a second after its begin.
  assert.deepEqual([monitored.since, monitored.until], [iso(days[1]! + 1_000), iso(days[2]! + 1_000)]);
  const [gone] = find(access.gaps, '`health-data-stays-here` was not part of the policy');
  assert.deepEqual([gone?.since, gone?.until], [iso(days[2]! + 1_000), iso(days[3]! + 1_000)]);
  const [off] = find(audit.gaps, 'its detectors are off');
  assert.deepEqual(
    [off?.kind, off?.since, off?.until],
    ['detector', iso(days[3]! + 1_000), iso(days[4]! + 1_000)],
  );
  assert.equal(audit.status, 'partly');
  assert.equal(report.policies.length, 5);
  assert.ok(report.policies.every(({ saved }) => saved));
  // Before the first event of all nothing is known.
  assert.deepEqual(
    report.record_gaps.map(({ since, until }) => [since, until]),
    [[iso(days[0]!), iso(days[0]! + 3_601_000)]],
  );

  // The same control in the window of a day without a fault.
  const whole = await makeReport(await openReader(t, folder), 'hipaa', 0.5, 0.9);
  const again = whole.controls.find(({ control_id }) => control_id === '164.312(b)');
  assert.deepEqual([again?.status, again?.active], ['enforced', 'all']);
  assert.deepEqual(
    again?.gaps.map(({ kind }) => kind),
    ['framework'],
  );
});

test('the same journal and window give the same bytes, also after a rebuild of the index and more events', async (t) => {
  const folder = await playDays(t, DAYS.slice(0, 2));
  const frameworks = sampleRows(FRAMEWORK_IDS, 3);
  const renderAll = async () => {
    const runtime = await openReader(t, folder);
    const texts: string[] = [];
    for (const framework of frameworks) {
      const report = await makeReport(runtime, framework, 0, 1.5);
      texts.push(...REPORT_FORMATS.map((format) => renderComplianceReport(report, format)));
    }
    await runtime.close();
    return texts;
  };
  const first = await renderAll();
  assert.deepEqual([FRAMEWORK_IDS.length, first.length], [9, frameworks.length * 3]);
  assert.deepEqual(await renderAll(), first, 'made again');
  for (const suffix of ['', '-wal', '-shm'])
    rmSync(join(folder, '.service', `index.db${suffix}`), { force: true });
  assert.deepEqual(await renderAll(), first, 'after a rebuild of the index');
  await playOne(folder, DAYS[2]!);
  assert.deepEqual(await renderAll(), first, 'after later events under another policy');
  const other = await makeReport(await openReader(t, folder), 'hipaa', 0, 1);
  assert.ok(!first.includes(renderComplianceReport(other, 'json')), 'another window is another report');
});

test('counts are those of the events in the window, and the checkpoint is in the journal and signs them', async (t) => {
  const folder = await playDays(t, DAYS.slice(0, 2));
  const runtime = await openReader(t, folder);
  // The window begins and ends in the middle of events, and of periods of five minutes.
  const [fromDay, toDay] = [(3_600_000 + 62_000) / DAY_MS, 1 + 30_000 / DAY_MS];
  const report = await makeReport(runtime, 'owasp-llm', fromDay, toDay);
  const { events } = await runtime.queryAudit({ limit: 10_000 });
  const isIn = ({ timestamp }: AuditEvent) =>
    timestamp >= report.window.since && timestamp < report.window.until;
  const counted = events.filter((each) => isIn(each) && !String(each.metadata.phase).startsWith('approval_'));
  assert.ok(counted.length > 10 && counted.length < events.length);
  assert.equal(report.summary.total_events, counted.length);
  const count = (action: string) => counted.filter((each) => each.action === action).length;
  assert.equal(report.summary.action_counts.block, count('block'));
  assert.equal(report.summary.action_counts.redact, count('redact'));
  assert.equal(
    report.summary.policy_violation_count,
    count('block') + count('redact') + count('require_approval'),
  );
  const requests = events.filter((each) => isIn(each) && each.metadata.phase === 'approval_pending');
  assert.equal(report.summary.approval_stats.counts.pending, requests.length);
  assert.ok(requests.length > 0);
  const secrets = report.controls.find(({ control_id }) => control_id === 'LLM02:2025')!;
  const tagged = counted.filter(({ data_tags }) => data_tags.some((tag) => tag.startsWith('secret.')));
  assert.equal(secrets.evidence.counts.find(({ name }) => name === 'secret')?.events, tagged.length);
  assert.ok(secrets.evidence.sample_event_ids.length > 0);
  for (const id of secrets.evidence.sample_event_ids)
    assert.ok(
      counted.some(({ event_id }) => event_id === id),
      id,
    );

  const state = join(folder, '.service');
  const publicKeys = await loadPublicKeys(join(state, 'keys'));
  const [chain] = report.journal.chains;
  assert.ok(chain?.checkpoint !== null && chain?.checkpoint !== undefined && chain.covers_window);
  const knownHeads = new Map([[chain.writer, chain.checkpoint]]);
  assert.equal(
    (await verifyJournal({ dir: join(state, 'journal'), public_keys: publicKeys, known_heads: knownHeads }))
      .intact,
    true,
  );
  const forged = new Map([[chain.writer, { ...chain.checkpoint, record_hash: '0'.repeat(64) }]]);
  const checked = await verifyJournal({
    dir: join(state, 'journal'),
    public_keys: publicKeys,
    known_heads: forged,
  });
  assert.equal(checked.intact, false, 'a checkpoint that is not in the journal is found');
});

test('no report of any framework has a planted value, and names of agents are text in HTML', async (t) => {
  const runtime = await openReader(t, await playDays(t, DAYS));
  let read = 0;
  for (const framework of FRAMEWORK_IDS) {
    const report = await makeReport(runtime, framework, 0, 5);
    for (const format of REPORT_FORMATS) {
      const text = renderComplianceReport(report, format);
      for (const marker of Object.values(MARKERS))
        assert.ok(!text.includes(marker), `${framework} ${format}`);
      if (format === 'html') {
        assert.ok(text.includes("default-src 'none'") && !/<script|<b>bot|\son\w+=|href=|src=/i.test(text));
        assert.ok(framework !== 'hipaa' || text.includes('164.312(b)'));
      }
      assert.ok(text.length > 5_000 && text.endsWith('\n'));
      read += 1;
    }
  }
  assert.equal(read, 27);
});

test('a user of one tenant gets a report on that tenant alone', async (t) => {
  const runtime = await openReader(t, await playDays(t, DAYS));
  const caller = { ...buildOperatorCaller('user:ann'), tenants: ['acme'] };
  const context = {
    runtime: { ...runtime, now_ms: () => START_MS + 5 * DAY_MS },
    caller,
    request_id: 'test',
  };
  const input = { framework: 'HIPAA', since: '5d', format: 'json' };
  const own = JSON.stringify(await callOperation(complianceReport, input, context));
  assert.ok(own.includes('acme') && !own.includes('globex'), 'nothing of another tenant');
  const all = JSON.stringify(
    await callOperation(complianceReport, input, { ...context, caller: buildOperatorCaller('cli:test') }),
  );
  assert.ok(all.includes('globex-secret-plans'), 'the operator sees both');
  await assert.rejects(callOperation(complianceReport, { ...input, tenant_id: 'globex' }, context), {
    code: 'forbidden',
  });
});

test('a report needs the permission, a known framework and a window', async (t) => {
  const runtime = await openReader(t, await playDays(t, DAYS.slice(0, 1)));
  const context = { runtime, caller: buildOperatorCaller('cli:test'), request_id: 'test' };
  const agent = buildAgentCaller('key:agent', ['check', 'audit:read'], '*', '*');
  for (const caller of [agent, LOOPBACK_CALLER])
    await assert.rejects(
      callOperation(complianceReport, { framework: 'hipaa' }, { ...context, caller }),
      ({ code }) => code === 'forbidden' || code === 'unauthenticated',
    );
  const unknown = callOperation(complianceReport, { framework: 'sox' }, context);
  await assert.rejects(unknown, ({ code, message }) => {
    assert.equal(code, 'invalid_request');
    for (const id of FRAMEWORK_IDS) assert.ok(message.includes(id), id);
    return true;
  });
  for (const window of [
    { since: 'soon' },
    { since: '2026-03-02', until: '2026-03-01' },
    { last: '2y' },
    { since: '400d' },
  ])
    await assert.rejects(callOperation(complianceReport, { framework: 'soc2', ...window }, context), {
      code: 'invalid_request',
    });
});
