import assert from 'node:assert/strict';
import test from 'node:test';
import { ACTIONS } from '../../core/types/index.ts';
import { sampleEvent } from '../../runtime/audit/testing/audit-log.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { buildOcsfEvent, type EventRecord } from './ocsf.ts';
import { encodeLogs } from './otlp.ts';

const HASH = 'a'.repeat(64);
const SOURCE = { version: '0.1.0', log_id: 'f'.repeat(32), exports_actions: false };

function build(fields: Partial<AuditEvent>, source = SOURCE): string {
  const record: EventRecord = {
    ...{ seq: 7, writer: 'worker-1', kind: 'event', prev_hash: HASH, record_hash: HASH },
    event: sampleEvent(1, fields),
  };
  return JSON.stringify(buildOcsfEvent(record, source));
}

test('the address of a person and shown actions stay here', () => {
  const event = { user_id: 'ada', user_email: 'ada@corp.example', action_shown: 'bash rm -rf build' };
  const body = build(event);
  assert.match(body, /"uid":"ada"/);
  assert.doesNotMatch(body, /corp\.example|rm -rf/);
  assert.match(build(event, { ...SOURCE, exports_actions: true }), /rm -rf/);
});

test('each action has a different outcome', () => {
  const outcomes = ACTIONS.map((action) => {
    const { action_id, disposition_id } = JSON.parse(build({ action }));
    return `${action_id} ${disposition_id}`;
  });
  assert.equal(new Set(outcomes).size, ACTIONS.length);
  assert.deepEqual([outcomes[0], outcomes.at(-1)], ['1 1', '2 2']);
});

test('the chain of agents names who invoked the last one', () => {
  assert.match(build({ chain: ['planner', 'coder'] }), /"invoked_by":"planner"/);
  assert.doesNotMatch(build({ chain: ['coder'] }), /invoked_by/);
});

test('OTLP records have nanoseconds and valid traces only', () => {
  const record = {
    ...{ time_ms: 1_767_225_600_123, observed_ms: 0, severity_id: 4, attributes: {} },
    body: { list: ['a', 1, true, 0.5], none: null },
  };
  const encode = (traceId: string) => encodeLogs([{ ...record, trace_id: traceId }], { a: 'b' }, '1');
  const valid = encode('4bf92f3577b34da6a3ce929d0e0e4736');
  assert.match(valid, /"timeUnixNano":"1767225600123000000"/);
  assert.match(valid, /"traceId":"4bf92f3577b34da6a3ce929d0e0e4736"/);
  assert.match(valid, /"severityNumber":17/);
  assert.ok(
    valid.includes(
      '"kvlistValue":{"values":[{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{"intValue":"1"},{"boolValue":true},{"doubleValue":0.5}]}}}]}',
    ),
  );
  assert.doesNotMatch(encode('not a trace'), /traceId/);
});
