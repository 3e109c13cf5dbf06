import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../core/decision/judge.ts';
import { buildTestCrossing, buildTestPolicy } from '../../core/testing/policies.ts';
import type { Json } from '../../core/types/index.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { buildAuditEvent } from '../../runtime/enforcement/audit-event.ts';
import { caller } from '../../server/testing/examples.ts';
import { readSignal } from './signal.ts';

const policy = buildTestPolicy({
  rules: [
    {
      name: 'no-refunds',
      boundary: 'action',
      action: 'block',
      condition: { tools: ['refund'] },
      severity: 'critical',
    },
    {
      name: 'watch-exports',
      boundary: 'action',
      action: 'flag',
      condition: { tools: ['export'] },
      severity: 'high',
    },
    {
      name: 'let-go',
      boundary: 'action',
      action: 'allow',
      condition: { tools: ['ping'] },
      severity: 'critical',
    },
    {
      name: 'mask-mail',
      boundary: 'output',
      action: 'redact',
      data_tags: ['personal.pii.email'],
      severity: 'low',
    },
  ],
  documents: [
    {
      contract: {
        tool_name: 'send',
        accepts: {},
        emits: {},
        side_effects: { reversible: true, requires_approval: false },
        arguments: {
          type: 'object',
          properties: { n: { type: 'integer' }, to: {}, key: {} },
          required: ['n'],
        },
      },
    },
  ],
});
const EXAMPLE_KEY = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
const MAIL = 'jane.doe@corp-mail.io';

function buildEvent(tool: string, value: Json): AuditEvent {
  const crossing = buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    tool,
    content: { kind: 'json', value },
  });
  return record(crossing);
}

function record(crossing: ReturnType<typeof buildTestCrossing>): AuditEvent {
  return buildAuditEvent({
    ...{ event_id: 'evt_000000000000000000000001', crossing, verdict: judge(crossing, policy), caller },
    ...{ endpoint: 'intercept_tool', logged: { inputs: false, outputs: false }, typed_redaction: false },
  });
}

test('a harmless finding lowers no severity', () => {
  const alone = buildEvent('send', { n: 'x' });
  assert.deepEqual([alone.action, alone.metadata.violations], ['block', ['contract_violation:arguments']]);
  const cases = [
    alone,
    buildEvent('send', { n: 'x', to: MAIL }),
    buildEvent('send', { n: 'x', key: EXAMPLE_KEY }),
  ];
  for (const event of cases) {
    assert.equal(event.action, 'block');
    assert.deepEqual([event.metadata.severity, readSignal(event).severity], ['high', 'high']);
  }
  assert.deepEqual(
    cases.map(({ metadata }) => metadata.found_tags),
    [undefined, ['personal.pii.email medium 1'], cases[2]!.metadata.found_tags],
  );
  assert.match(String(cases[2]!.metadata.found_tags), / low example 1$/);
});

test("a rule's own severity counts, and an allowed call has none", () => {
  const severityOf = (tool: string, value: Json = {}) => buildEvent(tool, value).metadata.severity;
  assert.deepEqual(
    [severityOf('refund'), severityOf('refund', { to: MAIL }), severityOf('export'), severityOf('ping')],
    ['critical', 'critical', 'high', undefined],
  );
  assert.equal(readSignal(buildEvent('ping', {})).severity, 'low');
  const masked = record(buildTestCrossing({ boundary: 'output', content: { kind: 'text', text: MAIL } }));
  assert.deepEqual([masked.action, masked.metadata.severity], ['redact', 'medium']);
});

test('events without the field keep the severity that they had', () => {
  const old = ({ action, ...fields }: { action: AuditEvent['action']; found_tags?: string[] }) => {
    const event = buildEvent('send', { n: 1 });
    return readSignal({ ...event, action, metadata: { phase: 'request', ...fields } }).severity;
  };
  assert.equal(old({ action: 'block' }), 'high');
  assert.equal(old({ action: 'redact' }), 'medium');
  assert.equal(old({ action: 'flag' }), 'low');
  assert.equal(
    old({ action: 'block', found_tags: ['personal.pii.email medium 1', 'a.b+c.d low example 2'] }),
    'medium',
  );
  assert.equal(old({ action: 'flag', found_tags: ['secret.credential critical 1'] }), 'critical');
});
