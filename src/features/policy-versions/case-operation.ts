import type { PolicyTestCase } from '../../core/review/case.ts';
import { Type } from '../../core/schema.ts';
import { escapeUnprintable } from '../../core/text/unprintable.ts';
import { PHASES } from '../../core/types/index.ts';
import { findOwnEvent } from '../../operations/audit.ts';
import { defineOperation, Refusal } from '../../operations/operation.ts';
import { isEventId } from '../../runtime/audit/event-id.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import { readConfig } from './draft.ts';

/** The decisions that a collected case may expect. */
export const EXPECTED_DECISIONS = ['allow', 'block'] as const;
type ExpectedDecision = (typeof EXPECTED_DECISIONS)[number];

export const policyCase = defineOperation({
  name: 'policy_case',
  summary: 'Draft a test case from a wrong decision',
  description:
    'Returns the call of an event, with secrets, personal data and injections masked, and the right decision as a file of test cases, and says whether the active policy passes it. Nothing is written or recorded.',
  http: { method: 'POST', path: '/v1/dashboard/policies/case' },
  permission: 'policies:edit',
  caller: 'person',
  needs: 'journal',
  input: Type.Object({
    event_id: Type.String({ minLength: 1, maxLength: 64, description: 'The audit event of a call.' }),
    expect: Type.Optional(
      Type.Enum(EXPECTED_DECISIONS, {
        description: 'The right decision (default: the opposite of the event’s).',
      }),
    ),
    note: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'Why it is wrong; secrets and personal data in it are masked.',
      }),
    ),
  }),
  output: Type.Object({
    event_id: Type.String(),
    expect: Type.Enum(EXPECTED_DECISIONS),
    file: Type.String({ description: 'The path of the file, relative to the configuration.' }),
    text: Type.String({ description: 'The file, as YAML.' }),
    passes: Type.Boolean({
      description: 'The active policy passes it: masked content decided, or the policy has changed since.',
    }),
  }),
  example: { event_id: 'evt_0123456789abcdef01234567', note: 'My own branch' },
  answer: null,
  refusals: ['not_found', 'conflict', 'policy_invalid'],
  async run(input, context) {
    const event = await findOwnEvent(input.event_id, context);
    // The ID becomes a part of a file name, and an imported event may have any.
    if (!isEventId(event.event_id)) throw new Refusal('conflict', 'The event was imported.');
    const expect = input.expect ?? (event.decision === 'allow' ? 'block' : 'allow');
    const [{ stringify }, { maskComment }, { testPolicy }] = await Promise.all([
      import('yaml'),
      import('../../runtime/enforcement/mask-comment.ts'),
      import('../../runtime/policies/test-policy.ts'),
    ]);
    const policy = context.runtime.policy();
    const note = maskComment(input.note ?? null, policy);
    const text = stringify({ version: 'v1alpha1', tests: [buildCase(event, expect, note)] });
    const config = await readConfig(context);
    const { results } = await testPolicy(policy, config, { text }, config.origin.base_dir);
    const passes = results.length > 0 && results.every(({ differences }) => differences.length === 0);
    const file = `policies/tests/wrong-${event.event_id}.yaml`;
    return { event_id: event.event_id, expect, file, text, passes };
  },
});

function buildCase(event: AuditEvent, decision: ExpectedDecision, note: string | null): PolicyTestCase {
  const { event_id, tool_name, agent_id, tenant_id, source_agent_id, destination_agent_id, metadata } = event;
  const phase = PHASES.find((each) => each === metadata.phase);
  return {
    name: `${event_id} should ${decision}`,
    boundary: 'action',
    ...(phase !== undefined && { phase }),
    ...(tool_name !== null && { tool: tool_name }),
    agent_id,
    ...(source_agent_id !== null && { source_agent_id }),
    ...(destination_agent_id !== null && { destination_agent_id }),
    tenant_id,
    payload: readArguments(event),
    expect: { decision },
    ...(note !== null && { 'x-note': note }),
  };
}

/** Returns the masked arguments that an event holds. @throws Refusal if it holds none, or not all of them */
function readArguments({ action_shown, tool_name }: AuditEvent): unknown {
  if (action_shown === undefined || tool_name === null)
    throw new Refusal(
      'conflict',
      'The event holds no call, so there is nothing to collect. Events hold blocked and held calls; all of them with `audit.log_actions: all`.',
    );
  try {
    return JSON.parse(action_shown.slice(escapeUnprintable(tool_name).length));
  } catch {
    throw new Refusal(
      'conflict',
      'The event holds only a part of the call, which is too long. Write the case by hand, as docs/how-to/test-policies.md shows.',
    );
  }
}
