import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '../../server/operations.ts';
import { openSeenAgents } from '../../server/seen-agents.ts';
import {
  buildExampleCrossing,
  buildExamplePorts,
  caller,
  SECRET,
  SSN,
} from '../../server/testing/examples.ts';
import { createEventId } from '../audit/event-id.ts';
import { enforce } from '../enforcement/enforce.ts';
import type { Endpoint } from './endpoint.ts';
import { formatMetrics, keepCounters, type Metrics, openMetrics, sumSnapshots } from './metrics.ts';

async function check(metrics: Metrics, text: string, endpoint: Endpoint): Promise<void> {
  const ruling = await enforce(buildExampleCrossing(text), caller, endpoint, buildExamplePorts([]));
  metrics.count(ruling, endpoint, 0.0002);
}

/** Returns the lines of our own metrics, without comments. */
function listOwnLines(text: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('service_'));
}

test('the metrics of the interface are there from the start, with their labels, at zero', async () => {
  const text = await formatMetrics([
    await openMetrics({ version: '1.2.3', mode: 'sidecar', endpoints }).snapshot(),
  ]);
  for (const endpoint of ['scan_input', 'guard_output', 'intercept_tool']) {
    for (const decision of ['allow', 'block', 'modify']) {
      assert.ok(text.includes(`service_requests_total{endpoint="${endpoint}",decision="${decision}"} 0\n`));
    }
  }
  for (const type of ['secret_detected', 'pii_detected', 'contract_violation']) {
    assert.ok(text.includes(`service_violations_total{type="${type}"} 0\n`));
  }
  assert.match(text, /^# TYPE service_requests_total counter$/m);
  assert.match(text, /^# TYPE service_violations_total counter$/m);
  assert.match(text, /^# TYPE service_scan_duration_seconds histogram$/m);
  assert.match(text, /^service_build_info\{version="1\.2\.3",mode="sidecar"\} 1$/m);
  assert.match(text, /^process_resident_memory_bytes [1-9]/m);
});

test('what several processes counted is summed', async () => {
  const about = { version: '1.2.3', mode: 'gateway' };
  const [first, second] = [openMetrics(about), openMetrics(about)];
  await check(first, 'hello', 'scan_input');
  await check(second, 'hello', 'scan_input');
  await check(second, `Use key ${SECRET}`, 'scan_input');
  for (const metrics of [first, second]) await check(metrics, `SSN ${SSN}`, 'guard_output');
  const text = await formatMetrics([await first.snapshot(), await second.snapshot()]);
  assert.match(text, /^service_requests_total\{endpoint="scan_input",decision="allow"\} 2$/m);
  assert.match(text, /^service_requests_total\{endpoint="scan_input",decision="block"\} 1$/m);
  assert.match(text, /^service_violations_total\{type="secret_detected"\} 1$/m);
  assert.match(text, /^service_monitored_total\{rule="watch-ssn",action="block"\} 2$/m);
  assert.match(text, /^service_scan_duration_seconds_bucket\{le="0\.0001"\} 0$/m);
  assert.match(text, /^service_scan_duration_seconds_bucket\{le="0\.00025"\} 5$/m);
  assert.match(text, /^service_scan_duration_seconds_bucket\{le="\+Inf"\} 5$/m);
  assert.match(text, /^service_scan_duration_seconds_count 5$/m);
  assert.match(text, /^service_build_info\{version="1\.2\.3",mode="gateway"\} 1$/m);
});

test('calls to providers are counted by provider, and names that callers choose cannot fill the labels', async () => {
  const about = { version: '0', mode: 'gateway' };
  const [first, second] = [openMetrics(about), openMetrics(about)];
  const usage = { input_tokens: 100, output_tokens: 7, cache_read_tokens: 60, cache_write_tokens: 10 };
  for (const { calls } of [first, second]) {
    calls.tried('main', null, 0.3);
    calls.retried('main');
    calls.tried('main', 429, 0.02);
    calls.tried('main', 200, 0.02);
    calls.finished('main', 1.5);
    calls.spent('main', 'gpt-5', usage, 2_500);
    calls.budget('team', 'warning');
  }
  first.calls.breaker('main', 'open');
  first.calls.breaker('main', 'half_open');
  second.calls.breaker('main', 'closed');
  for (let n = 0; n < 300; n++) first.calls.spent('main', `model-${n}`, usage, 1);
  second.calls.spent('main', 'a model "of\nmine', usage, 1);
  const text = await formatMetrics([await first.snapshot(), await second.snapshot()]);
  for (const line of [
    'service_upstream_requests_total{provider="main",status="none"} 2',
    'service_upstream_requests_total{provider="main",status="429"} 2',
    'service_upstream_requests_total{provider="main",status="2xx"} 2',
    'service_upstream_first_byte_seconds_bucket{le="0.025",provider="main"} 4',
    'service_upstream_first_byte_seconds_count{provider="main"} 4',
    'service_upstream_duration_seconds_bucket{le="1",provider="main"} 0',
    'service_upstream_duration_seconds_sum{provider="main"} 3',
    'service_upstream_retries_total{provider="main"} 2',
    'service_upstream_breaker_state{provider="main"} 1',
    'service_tokens_total{provider="main",model="gpt-5",kind="input"} 60',
    'service_tokens_total{provider="main",model="gpt-5",kind="output"} 14',
    'service_tokens_total{provider="main",model="gpt-5",kind="cache_read"} 120',
    'service_tokens_total{provider="main",model="gpt-5",kind="cache_write"} 20',
    'service_cost_usd_total{provider="main",model="gpt-5"} 0.005',
    'service_budget_events_total{budget="team",event="warning"} 2',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  const models = text.split('\n').filter((line) => line.startsWith('service_cost_usd_total'));
  assert.equal(models.length, 201);
  assert.ok(models.some((line) => line.includes('model="other"')));
  assert.match(text, /^# TYPE service_upstream_breaker_state gauge$/m);
});

test('counters of ended processes are kept, and their gauges are not', async () => {
  const about = { version: '1.2.3', mode: 'gateway' };
  const [first, second] = [openMetrics(about), openMetrics(about)];
  for (const text of ['hello', `Use key ${SECRET}`]) await check(first, text, 'scan_input');
  await check(second, 'hello', 'scan_input');
  const ended = [first, second].map(async (each) => keepCounters(await each.snapshot()));
  const kept = sumSnapshots(sumSnapshots([], await ended[0]!), await ended[1]!);
  assert.deepEqual(sumSnapshots(kept, []), kept);
  const text = await formatMetrics([kept]);
  assert.match(text, /^service_requests_total\{endpoint="scan_input",decision="allow"\} 2$/m);
  assert.match(text, /^service_requests_total\{endpoint="scan_input",decision="block"\} 1$/m);
  assert.match(text, /^service_scan_duration_seconds_bucket\{le="0\.00025"\} 3$/m);
  assert.match(text, /^service_scan_duration_seconds_count 3$/m);
  assert.match(text, /^process_cpu_seconds_total [\d.]+$/m);
  for (const gauge of ['service_build_info', 'process_resident_memory_bytes', 'process_start_time_seconds'])
    assert.ok(!text.includes(gauge), gauge);
});

test('no two lines name the same series, and every value is a number', async () => {
  const text = await formatMetrics([
    await openMetrics({ version: '0', mode: 'sidecar', endpoints }).snapshot(),
  ]);
  const series = listOwnLines(text).map((line) => line.slice(0, line.lastIndexOf(' ')));
  assert.equal(new Set(series).size, series.length);
  for (const line of listOwnLines(text))
    assert.ok(Number.isFinite(Number(line.slice(line.lastIndexOf(' ') + 1))), line);
  assert.ok(series.length > 40);
});

test('agents are listed once, sorted and up to the limit, and `null` is not an agent', () => {
  const agents = openSeenAgents(3);
  for (const agentId of ['b', 'a', 'unknown', 'b', 'c', 'd']) agents.note(agentId);
  assert.deepEqual(agents.list(), ['a', 'b', 'c']);
});

test('event ids are unlike each other, of one shape, and sort as time runs', () => {
  const START_MS = Date.parse('2026-01-31T12:00:00.000Z');
  const ids = Array.from({ length: 2_000 }, () => createEventId(START_MS));
  assert.equal(new Set(ids).size, 2_000);
  const HOUR_MS = 3_600_000;
  const later = [0, 1, START_MS - 1, START_MS + 1, START_MS + HOUR_MS, START_MS * 9].map(createEventId);
  for (const id of [...ids, ...later]) assert.match(id, /^evt_[0-9a-f]{24}$/);
  assert.deepEqual(later, later.toSorted());
  assert.ok(ids.every((id) => later[2]! < id && id < later[3]!));
});
