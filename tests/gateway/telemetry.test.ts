/**
 * A call through the LLM proxy is one trace: the caller, the call, its checks, the provider; and Prometheus counts it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Collector,
  type ReceivedSpan,
  startCollector,
} from '../../src/runtime/observability/telemetry/testing/collector.ts';
import { startProvider } from '../support/provider/provider.ts';
import type { TestService } from '../support/service.ts';
import { startGateway } from './gateway.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const secret = ['sk-', 'Zq7MarkerABCDEF1234567890'].join('');

const provider = await startProvider();
let collector: Collector;
let service: TestService;
before(async () => {
  collector = await startCollector();
  const telemetry = { enabled: true, endpoint: collector.url, interval_ms: 60_000 };
  service = await startGateway(provider, { workers: 1, config: { telemetry } });
});
after(async () => {
  // A failed test leaves it running.
  await service.stop().catch(() => {});
  await provider.close();
  await collector.close();
});

async function ask(mark: string, recording: string, body: object, trace = TRACE): Promise<number> {
  provider.plan(mark, [{ recording }]);
  const answer = await fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer of-the-tests',
      'x-case': mark,
      'x-service-agent': 'coder',
      traceparent: `00-${trace}-${PARENT}-01`,
      tracestate: 'vendor=1',
    },
    body: JSON.stringify({ model: 'gpt-5.4-mini', messages: [{ role: 'user', content: mark }], ...body }),
  });
  await answer.text();
  return answer.status;
}

test('caller, call, checks and provider are one trace, streamed or not', async () => {
  const traces = ['1', '2', '3', '4'].map((digit) => digit.repeat(32));
  assert.equal(await ask('case whole', 'openai/chat/plain', {}, traces[0]), 200);
  assert.equal(await ask('case stream', 'openai/chat/plain.stream', { stream: true }, traces[1]), 200);
  const messages = [{ role: 'user', content: secret }];
  assert.equal(await ask('case block', 'openai/chat/plain', { messages }, traces[2]), 400);
  assert.equal(await ask('case wrong', 'openai/errors/429', {}, traces[3]), 429);
  const metrics = await (await fetch(`${service.url}/v1/metrics`)).text();
  assert.equal((await service.stop()).code, 0, service.logs());

  const spansOf = (trace: string): readonly ReceivedSpan[] =>
    collector.spans().filter(({ trace_id }) => trace_id === trace);
  const checks = [
    ['llm_request', 'llm_response'],
    ['llm_request', 'llm_response'],
    ['llm_request'],
    ['llm_request'],
  ];
  traces.forEach((trace, at) => {
    const spans = spansOf(trace);
    const call = spans.find(({ kind }) => kind === 3);
    assert.ok(call !== undefined, `trace ${at}`);
    assert.deepEqual([call.name, call.parent_id], ['chat gpt-5.4-mini', PARENT]);
    const below = spans.filter(({ parent_id }) => parent_id === call.span_id);
    assert.deepEqual(
      below.map(({ attributes }) => attributes['gen_ai.guardrail.component.name']).sort(),
      checks[at],
    );
    assert.equal(spans.length, below.length + 1);
    assert.equal(call.attributes['error.type'], [undefined, undefined, 'policy_violation', '429'][at]);
  });
  const whole = spansOf(traces[0]!).find(({ kind }) => kind === 3)!;
  assert.equal(whole.attributes['gen_ai.response.finish_reasons']?.toString(), 'stop');
  assert.ok(Number(whole.attributes['gen_ai.usage.output_tokens']) > 0);
  const streamed = spansOf(traces[1]!).find(({ kind }) => kind === 3)!;
  assert.ok(Number(streamed.attributes['gen_ai.response.time_to_first_chunk']) > 0);

  const [received] = provider.received('case whole');
  assert.equal(received!.headers.traceparent, `00-${traces[0]}-${whole.span_id}-01`);
  assert.equal(received!.headers.tracestate, 'vendor=1');
  assert.equal(provider.received('case block').length, 0);
  assert.ok(!collector.requests.some(({ body }) => body.includes(secret)));

  assert.match(metrics, /^service_upstream_requests_total\{provider="openai",status="2xx"\} 2$/m);
  assert.match(metrics, /^service_upstream_requests_total\{provider="openai",status="429"\} 1$/m);
  assert.match(metrics, /^service_upstream_duration_seconds_count\{provider="openai"\} 3$/m);
  assert.match(metrics, /^service_upstream_breaker_state\{provider="openai"\} 0$/m);
  assert.match(
    metrics,
    /^service_tokens_total\{provider="openai",model="gpt-5.4-mini",kind="output"\} [1-9]/m,
  );
});

test('with telemetry off the headers of a trace pass through as they are', async () => {
  service = await startGateway(provider, { workers: 1 });
  assert.equal(await ask('case off', 'openai/chat/plain', {}), 200);
  await service.stop();
  const [received] = provider.received('case off');
  assert.equal(received!.headers.traceparent, `00-${TRACE}-${PARENT}-01`);
  assert.equal(received!.headers.tracestate, 'vendor=1');
});
