import { Type } from '../../core/schema.ts';
import type { Crossing } from '../../core/types/index.ts';
import { getArguments } from '../../operations/intercept.ts';
import { type Context, defineOperation } from '../../operations/operation.ts';
import { buildTextReply, buildVerdictReply } from '../../operations/reply.ts';
import { readTextCrossing } from '../../operations/scan.ts';
import { agentId, PRINTABLE_TEXT, tenantId, verdictProperties } from '../../operations/shapes.ts';
import { buildActor, resolveSubject } from '../../operations/subject.ts';
import { buildToolCrossing } from '../../runtime/enforcement/crossings.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import { effectsSchema } from './schemas.ts';

const AGENT_ID = 'console-try-it';
const TEXT_CHARS_MAX = 20_000;

export const detectionTry = defineOperation({
  name: 'detection_try',
  summary: 'Try a text',
  description:
    'Scans a text by the `input` rules as `scan_input` does, to see what detectors find. The event has no text, whatever `audit.log_inputs` says, and is marked as a self-test: counts, metrics, alerts and reports leave it out, and no approval is requested.',
  http: { method: 'POST', path: '/v1/dashboard/detection/try' },
  permission: 'policies:edit',
  caller: 'person',
  needs: 'policy',
  input: Type.Object({
    text: Type.String({ maxLength: TEXT_CHARS_MAX }),
    tenant_id: Type.Optional(tenantId),
  }),
  output: Type.Object({
    ...verdictProperties,
    modified_text: Type.Optional(
      Type.String({ description: 'The text as rules change it; only when it was changed.' }),
    ),
  }),
  example: { text: 'Use key sk-ABCDEF1234567890' },
  answer: null,
  refusals: ['invalid_request'],
  async run({ text, tenant_id }, context) {
    const acting = { agent_id: AGENT_ID, ...(tenant_id != null && { tenant_id }) };
    const crossing = readTextCrossing('input', { kind: 'text', text }, acting, context);
    return buildTextReply(await tryCrossing(crossing, 'scan_input', context), true);
  },
});

export const actionTry = defineOperation({
  name: 'action_try',
  summary: 'Try a tool call',
  description:
    'Judges a tool call as `intercept_tool` does, without an effect: no approval is requested, no budget or session is charged, and the event, which has no arguments, is marked as a self-test that counts, metrics, alerts and reports leave out.',
  http: { method: 'POST', path: '/v1/dashboard/action/try' },
  permission: 'policies:edit',
  caller: 'person',
  needs: 'policy',
  input: Type.Object({
    tool: Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT }),
    input: Type.Optional(Type.Unsafe<object>({ type: 'object', description: 'The arguments of the call.' })),
    agent_id: Type.Optional(agentId),
    tenant_id: Type.Optional(tenantId),
  }),
  output: Type.Object({ ...verdictProperties, effects: effectsSchema }),
  example: { tool: 'Bash', input: { command: 'git push --force' } },
  answer: null,
  refusals: ['invalid_request'],
  async run(input, context) {
    const about = { ...input, agent_id: input.agent_id ?? AGENT_ID };
    const acting = buildActor(about, resolveSubject(about, context), context.runtime);
    const crossing = buildToolCrossing(acting, {
      phase: 'request',
      tool: input.tool,
      content: getArguments(input, context),
      destination_agent_id: null,
      capability: null,
    });
    const reply = buildVerdictReply(await tryCrossing(crossing, 'intercept_tool', context));
    const { describeEffects } = await import('../../core/detect/commands/explain-rule.ts');
    return { ...reply, effects: describeEffects(reply.violations.map(({ rule_id }) => rule_id ?? '')) };
  },
});

function tryCrossing(
  crossing: Crossing,
  endpoint: 'scan_input' | 'intercept_tool',
  { runtime, caller }: Context,
): Promise<Ruling> {
  return runtime.enforce(crossing, caller, endpoint, null, { self_test: true });
}
