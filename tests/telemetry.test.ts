/** The real program sends spans and metrics to a collector from both workers, without any byte of checked content. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Collector, startCollector } from '../src/runtime/observability/telemetry/testing/collector.ts';
import { startTestService, type TestService } from './support/service.ts';

const marker = 'Zq7Marker';
const secret = ['sk-', `${marker}ABCDEF1234567890`].join('');
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const CALLS = 12;

let collector: Collector;
let service: TestService;
before(async () => {
  collector = await startCollector();
  service = await startTestService({
    workers: 2,
    keep: false,
    config: {
      telemetry: {
        enabled: true,
        endpoint: collector.url,
        headers: { authorization: ['$', '{OTLP_TOKEN}'].join('') },
        content_hash_key: ['$', '{HASH_KEY}'].join(''),
        interval_ms: 500,
      },
    },
    env: {
      OTLP_TOKEN: 'Bearer of-the-tests',
      HASH_KEY: 'k'.repeat(32),
      OTEL_SERVICE_NAME: 'guard',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  });
});
after(async () => {
  // A failed test leaves it running.
  await service.stop().catch(() => {});
  await collector.close();
});

test('what was checked by either worker is with the collector when the service has stopped', async () => {
  for (let n = 0; n < CALLS; n++) {
    const [path, body] =
      n % 2 === 0
        ? ['/v1/scan/input', { text: `${n} ${secret}`, agent_id: 'coder' }]
        : ['/v1/intercept/tool', { tool: 'send', input: { [marker]: `${n} ${secret}` }, agent_id: 'coder' }];
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        connection: 'close',
        traceparent: `00-${TRACE}-${PARENT}-01`,
      },
      body: JSON.stringify(body),
    });
    assert.equal(((await answer.json()) as { decision: string }).decision, 'block');
  }
  await collector.until(() => collector.points().length > 0);
  const { code } = await service.stop();
  assert.equal(code, 0, service.logs());

  const spans = collector.spans();
  assert.equal(spans.length, CALLS);
  for (const { trace_id, parent_id, name, attributes, resource } of spans) {
    assert.deepEqual([trace_id, parent_id], [TRACE, PARENT]);
    assert.match(name, /^run_guardrail (scan_input|intercept_tool)$/);
    assert.equal(attributes['gen_ai.guardrail.action.type'], 'block');
    assert.match(String(attributes['gen_ai.guardrail.security.content.input.hash']), /^hmac-sha256:/);
    assert.equal(resource['service.name'], 'guard');
    assert.equal(resource['deployment.environment.name'], 'test');
  }
  const workers = new Set(spans.map(({ resource }) => resource['customshouse.process']));
  assert.ok(workers.size >= 1 && [...workers].every((name) => /^worker-[12]$/.test(String(name))));
  for (const { headers, body } of collector.requests) {
    assert.equal(headers.authorization, 'Bearer of-the-tests');
    assert.ok(!body.includes(marker) && !body.includes('of-the-tests'));
  }
});

test('a credential for the collector that is written out is refused', async () => {
  const config = { telemetry: { enabled: true, headers: { authorization: 'Bearer x' } } };
  await assert.rejects(startTestService({ config }), /telemetry\.headers\.authorization.*is a credential/s);
});
