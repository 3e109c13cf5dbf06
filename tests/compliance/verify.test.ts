/** The compliance self-test: what acts, what does not, and that its events count nowhere and can be marked by no agent. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readSignal } from '../../src/features/alerts/signal.ts';
import { complianceVerify } from '../../src/features/compliance/operations.ts';
import type { SelfTestReport } from '../../src/features/compliance/verify/run-self-test.ts';
import { callOperation } from '../../src/operations/call.ts';
import { buildAgentCaller, buildOperatorCaller } from '../../src/runtime/access/callers.ts';
import { isSelfTestEvent, markSelfTest } from '../../src/runtime/audit/self-test.ts';
import { writeSpool } from '../../src/runtime/audit/spool.ts';
import type { AuditEvent } from '../../src/runtime/audit/types.ts';
import { startTestService } from '../support/service.ts';
import { makeReport, openReader, playDays, START_MS } from './journal.ts';

const REFUNDS = {
  name: 'refunds-need-approval',
  boundary: 'action',
  condition: { tools: ['issue_refund'], phase: 'request' },
  action: 'require_approval',
  reason: 'A refund needs approval.',
};
const CONTRACTS = `version: v1alpha1
contracts:
  - tool_name: issue_refund
    description: Pays an order back.
    arguments: { type: object, required: [order], properties: { order: { type: string } } }
    allowed_agents: [shop-bot]
    max_calls_per_minute: 60
    accepts: { fields: [order] }
    emits: { fields: [paid] }
    side_effects: { reversible: false, requires_approval: false, egress: false }
`;
const IDENTITIES = `version: v1alpha1
agents:
  - agent_id: shop-bot
    description: Works in the shop.
    tools: [issue_refund]
`;
const STRICT = {
  pii_protection: { enabled: true, action: 'redact' },
  policies: [
    REFUNDS,
    {
      name: 'personal-data-stays-here',
      boundary: 'action',
      data_tags: ['personal'],
      action: 'block',
      reason: 'Personal data is not given to tools.',
    },
  ],
};

interface Api {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

async function post(
  url: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Api> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

test('a running service tests itself; the events are marked and count nowhere; only an operator can', async (t) => {
  const service = await startTestService({
    config: STRICT,
    files: { 'policies/contracts.yaml': CONTRACTS, 'policies/identities.yaml': IDENTITIES },
  });
  t.after(() => service.stop());
  const token = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const operator = { authorization: `Bearer ${token}` };
  const reader = { ...operator, 'x-service-user': 'admin' };
  const scan = { text: 'What is the weather?', metadata: { self_test: true }, self_test: true };
  const own = await post(service.url, '/v1/scan/input', { text: scan.text, agent_id: 'weather-bot' });
  assert.equal(own.status, 200);
  const marked = await post(service.url, '/v1/scan/input', { ...scan, agent_id: 'weather-bot' });
  assert.equal(marked.status, 400, 'a caller cannot mark a check');

  const report = async () => {
    const body = { framework: 'owasp-agentic', since: '1h' };
    const { status, json } = await post(service.url, '/v1/dashboard/compliance/report', body, reader);
    assert.equal(status, 200, JSON.stringify(json));
    return json as { summary: { total_events: number } };
  };
  const before = await report();
  assert.equal(before.summary.total_events, 1);

  const verified = await post(service.url, '/v1/dashboard/compliance/verify', {}, operator);
  assert.equal(verified.status, 200, JSON.stringify(verified.json));
  const { effective, controls, probes, counts } = verified.json as unknown as SelfTestReport;
  assert.deepEqual(
    controls.filter(({ result }) => result === 'ineffective'),
    [],
  );
  assert.equal(effective, true);
  assert.ok(counts.effective > 80 && probes.length > 20, JSON.stringify(counts));
  for (const name of ['call that breaks a contract', 'call that needs an approval', 'event in the audit log'])
    assert.equal(probes.find(({ probe }) => probe === name)?.result, 'enforced', name);

  // All events of the self-test are in the log with the mark, and in no count.
  const ids = probes.flatMap(({ event_id }) => event_id ?? []);
  assert.equal(new Set(ids).size, ids.length);
  let alerting = 0;
  for (const eventId of ids) {
    const { json } = await post(service.url, '/v1/audit/query', { event_id: eventId }, operator);
    const [event] = json.events as AuditEvent[];
    assert.ok(event !== undefined && isSelfTestEvent(event), eventId);
    assert.deepEqual(readSignal(event).sources, [], 'no alert rule matches it');
    alerting += readSignal({ ...event, metadata: {} }).sources.length;
    assert.ok(!JSON.stringify(event).includes('536-90'), 'no synthetic value is in an event');
  }
  assert.ok(alerting > 20, 'without the mark they would match');
  assert.deepEqual((await report()).summary, before.summary);
  const overview = await fetch(`${service.url}/v1/dashboard/overview`, { headers: reader });
  assert.equal(((await overview.json()) as { events_total: number }).events_total, 1);
  const incidents = await fetch(`${service.url}/v1/dashboard/incidents`, { headers: reader });
  assert.deepEqual(((await incidents.json()) as { events: unknown[] }).events, [], 'no probe is an incident');
  const approvals = await fetch(`${service.url}/v1/approvals`, { headers: operator });
  assert.deepEqual(
    ((await approvals.json()) as { approvals: unknown[] }).approvals,
    [],
    'none was requested',
  );
  const metrics = await (await fetch(`${service.url}/v1/metrics`, { headers: operator })).text();
  assert.ok(!metrics.includes('compliance_verify'), 'no check was counted');

  for (const headers of [{}, { 'x-service-user': 'admin' }, { authorization: 'Bearer wrong' }]) {
    const { status } = await post(service.url, '/v1/dashboard/compliance/verify', {}, headers);
    assert.ok(status === 401 || status === 403, `${status}`);
  }
});

test('a control whose rule is in monitor mode or whose detectors are off does not act', async (t) => {
  const folder = await playDays(t, [
    {
      config: { secret_detection: { enabled: false }, policies: [{ ...REFUNDS, enforcement: 'monitor' }] },
      at_ms: START_MS,
      rounds: 1,
    },
  ]);
  const runtime = await openReader(t, folder);
  const context = { runtime, caller: buildOperatorCaller('cli:test'), request_id: 'test' };
  const verified = (await callOperation(complianceVerify, {}, context)) as SelfTestReport;
  assert.equal(verified.effective, false);
  const find = (framework: string, id: string) =>
    verified.controls.find((each) => each.framework === framework && each.control_id === id)!;
  const secrets = find('pci-dss', '8.6.2');
  assert.equal(secrets.result, 'ineffective');
  assert.equal(secrets.details.filter((each) => each.includes('detectors are off')).length, 4);
  const oversight = find('eu-ai-act', 'Art. 14(1)');
  assert.equal(oversight.result, 'ineffective');
  assert.ok(oversight.details.some((each) => each.includes('monitor mode')));
  assert.equal(find('eu-ai-act', 'Art. 14(4)(e)').result, 'not_tested');
  assert.equal(find('pci-dss', '7.3.3').result, 'not_configured');
});

test('an agent may not run the self-test, and cannot hide its events by a mark', async (t) => {
  const folder = await playDays(t, [{ config: {}, at_ms: START_MS, rounds: 1 }]);
  const runtime = await openReader(t, folder);
  const agent = buildAgentCaller('key:agent', ['check', 'compliance:report', 'audit:read'], '*', '*');
  await assert.rejects(
    callOperation(complianceVerify, {}, { runtime, caller: agent, request_id: 'test' }),
    ({ code }) => code === 'forbidden',
  );
  const before = await makeReport(runtime, 'hipaa', 0, 1);

  // Metadata that a caller's words became loses the mark, and so does a file that an agent left in the spool.
  assert.deepEqual(markSelfTest({ self_test: true, phase: 'request' }, false), { phase: 'request' });
  const { events } = await runtime.queryAudit({ limit: 1 });
  const forged = {
    ...events[0]!,
    event_id: `evt_${'f'.repeat(24)}`,
    timestamp: new Date(START_MS + 3_600_000).toISOString(),
    metadata: { ...events[0]!.metadata, self_test: true },
  };
  await writeSpool({ dir: join(folder, '.service', 'journal'), events: [forged], now_ms: Date.now });
  const after = await makeReport(runtime, 'hipaa', 0, 1);
  assert.equal(after.summary.total_events, before.summary.total_events + 1);
  const found = await runtime.queryAudit({ event_id: forged.event_id });
  assert.equal(found.events[0]?.metadata.self_test, undefined);
});
