import { Type } from '../core/schema.ts';
import { runCheck } from './check.ts';
import { checkBody } from './check-body.ts';
import { defineOperation } from './operation.ts';
import { buildTextReply } from './reply.ts';
import { aboutText, readTextCrossing } from './scan.ts';
import { verdictProperties } from './shapes.ts';

export const guardOutput = defineOperation({
  name: 'guard_output',
  summary: 'Guard agent output',
  description:
    'Scans a text that an agent is about to send and decides by the `output` rules. On `modify`, use `modified_text` instead of the text.',
  http: { method: 'POST', path: '/v1/guard/output' },
  mcp: { tool: 'guard_output', read_only: true },
  permission: 'check',
  counts_checks: true,
  needs: 'policy',
  check_body: {},
  input: checkBody(Type.Object({ text: Type.String(), ...aboutText })),
  output: Type.Object({
    ...verdictProperties,
    modified_text: Type.Optional(
      Type.String({ description: 'The text to use instead; only when it was changed.' }),
    ),
  }),
  example: {
    text: 'Here is the config: DATABASE_URL=postgresql://admin:p4ssw0rd@db.internal:5432/prod',
    agent_id: 'support-bot',
  },
  answer: {
    decision: 'modify',
    action: 'redact',
    rule: 'builtin.secret.output',
    reason: 'A secret was found in output.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [
      {
        type: 'secret_detected',
        detector: 'connection_string',
        severity: 'critical',
        rule_id: 'url.credentials',
        tag: 'secret.credential.connection_string',
        tags: ['secret.credential.connection_string'],
        start: 33,
        end: 82,
      },
    ],
    scan_duration_ms: 1,
    coverage: 'full',
    modified_text: 'Here is the config: DATABASE_URL=[REDACTED]',
  },
  async run(input, context) {
    const crossing = readTextCrossing('output', { kind: 'text', text: input.text }, input, context);
    const ruling = await runCheck(
      { crossing, endpoint: 'guard_output', approval_request_id: input.approval_request_id },
      context,
    );
    return buildTextReply(ruling, false);
  },
});
