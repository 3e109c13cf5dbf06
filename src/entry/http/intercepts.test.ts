import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { KEY, post, runScenarios, type Scenario } from './testing/scenarios.ts';
import { serve } from './testing/serve.ts';

const tool = (body: unknown) => post('/v1/intercept/tool', body);
const message = (body: unknown) => post('/v1/intercept/agent-message', body);

const scenarios: readonly Scenario[] = [
  {
    name: 'a harmless call is allowed',
    ask: tool({ tool: 'send_mail', input: { subject: 'Report' }, agent_id: 'a1', session_id: 's1' }),
    has: { decision: 'allow', tool: 'send_mail', agent_id: 'a1', phase: 'request', violations: [] },
    lacks: ['modified_input', 'modified_output', 'stripped_fields'],
  },
  {
    name: 'arguments are always looked at',
    ask: tool({ tool: 'send_mail', input: { body: `Use ${KEY}` }, data_tags: [] }),
    has: {
      decision: 'block',
      agent_id: 'unknown',
      violations: [{ type: 'secret_detected', detector: 'api_key', path: '$.body' }],
    },
    forbidden: ['"match"', KEY],
  },
  {
    name: 'a call without arguments',
    ask: tool({ tool: 'ping' }),
    has: { decision: 'allow', phase: 'request' },
  },
  {
    name: 'a secret in a result is masked',
    ask: tool({ tool: 'read_file', phase: 'response', output: { text: `Use ${KEY}` } }),
    has: { decision: 'modify', phase: 'response', modified_output: { text: 'Use [REDACTED]' } },
    lacks: ['modified_input'],
    forbidden: [KEY],
  },
  {
    name: 'a result may be a text',
    ask: tool({ tool: 'read_file', phase: 'response', output: `Use ${KEY}` }),
    has: { decision: 'modify', modified_output: 'Use [REDACTED]' },
  },
  {
    name: 'a contract takes away what it does not know',
    ask: tool({ tool: 'lookup', input: { id: 7, debug: true } }),
    has: { decision: 'modify', modified_input: { id: 7 }, stripped_fields: ['debug'] },
  },
  {
    name: 'a contract takes away what a result should not have',
    ask: tool({ tool: 'lookup', phase: 'response', output: { name: 'Jane', salary: 1 } }),
    has: { decision: 'modify', modified_output: { name: 'Jane' }, stripped_fields: ['salary'] },
  },
  {
    name: 'a contract refuses data that it does not accept',
    ask: tool({ tool: 'lookup', input: { id: 7 }, data_tags: ['secret.credential'] }),
    has: { decision: 'block' },
  },
  {
    name: 'declared tags are compared in lower case',
    ask: tool({ tool: 'x', input: {}, data_tags: ['Secret.Credential'] }),
    has: { decision: 'block' },
  },
  {
    name: 'a result without a result',
    ask: tool({ tool: 'x', phase: 'response' }),
    status: 400,
    has: { details: [{ path: 'output' }] },
  },
  {
    name: 'a result beside the arguments of its call, which were judged with the call',
    ask: tool({ tool: 'x', phase: 'response', input: { key: KEY }, output: 'done' }),
    has: { decision: 'allow' },
  },
  {
    name: 'a result with empty arguments',
    ask: tool({ tool: 'x', phase: 'response', args: {}, output: 'done' }),
    has: { decision: 'allow' },
  },
  {
    name: 'a result that is null',
    ask: tool({ tool: 'x', phase: 'response', output: null }),
    has: { decision: 'allow' },
  },
  {
    name: 'a message between agents',
    ask: message({ message: 'The order has shipped.', source_agent_id: 'a', destination_agent_id: 'b' }),
    has: { decision: 'allow', source_agent_id: 'a', destination_agent_id: 'b', data_tags: [] },
    lacks: ['modified_message'],
  },
  {
    name: 'a message with a key in it',
    ask: message({
      message: `Use ${KEY}`,
      source_agent_id: 'a',
      destination_agent_id: 'b',
      data_tags: ['Internal'],
    }),
    has: { decision: 'block' },
    forbidden: [KEY],
  },
  ...[
    {},
    { source_agent_id: 'a' },
    { destination_agent_id: 'b' },
    { source_agent_id: ' ', destination_agent_id: 'b' },
  ].map(
    (names): Scenario => ({
      name: `a message must name both agents: ${Object.keys(names)}`,
      ask: message({ message: 'hi', ...names }),
      status: 400,
      has: { code: 'agent_context_required' },
    }),
  ),
];

test('tool calls, their results, and messages between agents', () =>
  runScenarios({
    options: {
      documents: [
        {
          version: 'v1alpha1',
          contract: {
            tool_name: 'lookup',
            description: 'Looks a customer up.',
            accepts: { tags: ['personal'], fields: ['id'] },
            emits: { tags: ['personal'], fields: ['name'] },
            side_effects: { reversible: true, requires_approval: false, description: 'None.' },
          },
        },
      ],
    },
    scenarios,
  }));

const routed: readonly Scenario[] = [
  {
    name: 'a call by nobody',
    ask: tool({ tool: 'send_mail' }),
    status: 400,
    has: { code: 'agent_context_required' },
  },
  {
    name: 'a call by a blank agent',
    ask: tool({ tool: 'send_mail', agent_id: '  ' }),
    status: 400,
    has: { code: 'agent_context_required' },
  },
  {
    name: 'a call by an agent',
    ask: tool({ tool: 'send_mail', agent_id: 'support' }),
    has: { decision: 'allow', agent_id: 'support' },
  },
  {
    name: 'a call by a source',
    ask: tool({ tool: 'send_mail', source_agent_id: 'billing' }),
    has: { decision: 'block', rule: 'no-mail-for-billing', agent_id: 'billing' },
  },
];

test('in gateway mode it must be known who acts', () =>
  runScenarios({
    options: {
      mode: 'gateway',
      rules: [
        {
          name: 'no-mail-for-billing',
          boundary: 'action',
          action: 'block',
          condition: { agents: ['billing'], tools: ['send_mail'] },
        },
      ],
    },
    scenarios: routed,
  }));

test('who is meant reaches the audit log', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'routed-'));
  const service = await serve({ state_dir: stateDir, mode: 'gateway' });
  try {
    await service.ask(
      tool({ tool: 't', agent_id: 'a', session_id: 's', destination_agent_id: 'd', tenant_id: 'acme' }),
    );
    await service.ask(tool({ tool: 't', source_agent_id: 'src', context: { session_id: 's2' } }));
    await service.ask(
      post('/v1/scan/input', { text: 'x', agent_id: 'a', context: { tool: 'u', session_id: 's3' } }),
    );
  } finally {
    await service.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
  const common = { caller_id: 'loopback' };
  assert.partialDeepStrictEqual(service.events, [
    {
      ...common,
      boundary: 'action',
      tenant_id: 'acme',
      agent_id: 'a',
      source_agent_id: 'a',
      destination_agent_id: 'd',
      session_id: 's',
      tool_name: 't',
    },
    {
      ...common,
      tenant_id: 'default',
      agent_id: 'src',
      source_agent_id: 'src',
      destination_agent_id: 't',
      session_id: 's2',
    },
    { ...common, boundary: 'input', agent_id: 'a', session_id: 's3', tool_name: 'u', source_agent_id: null },
  ]);
});
