import { Type } from '../core/schema.ts';
import type { Content, Json } from '../core/types/index.ts';
import { buildMessageCrossing, buildToolCrossing, presentForCall } from '../runtime/enforcement/crossings.ts';
import { readContentMember, readContentValue, runCheck } from './check.ts';
import { checkBody } from './check-body.ts';
import { type Context, defineOperation, Refusal } from './operation.ts';
import { buildVerdictReply, findChangedContent } from './reply.ts';
import {
  agentId,
  approvalRequestId,
  capabilityAction,
  capabilityToken,
  dataTags,
  name,
  PRINTABLE_TEXT,
  sessionId,
  tenantId,
  verdictProperties,
  whoContext,
} from './shapes.ts';
import { buildActor, buildContextRefusal, dropBlankName, resolveSubject } from './subject.ts';

/** The aliases that the earlier system, coding agents and frameworks use. */
const TOOL_ALIASES = {
  tool: ['tool_name'],
  input: ['arguments', 'args', 'parameters', 'params', 'tool_input'],
} as const;

const routing = {
  agent_id: Type.Optional(agentId),
  tenant_id: Type.Optional(tenantId),
  session_id: Type.Optional(sessionId),
  context: Type.Optional(whoContext),
  source_agent_id: Type.Optional({ ...name, description: 'The agent that acts (default: `agent_id`).' }),
  destination_agent_id: Type.Optional({
    ...name,
    description: 'The target of the action (default: the tool).',
  }),
  data_tags: Type.Optional(dataTags),
  approval_request_id: Type.Optional(approvalRequestId),
} as const;

export const interceptTool = defineOperation({
  name: 'intercept_tool',
  summary: 'Intercept a tool call or its result',
  description:
    'Judges a tool call before it runs (`phase: request`) by contract, identity, `action` rules and what is found in its arguments, or a tool result before the agent sees it (`phase: response`). On `modify` use `modified_input` or `modified_output`.',
  http: { method: 'POST', path: '/v1/intercept/tool' },
  mcp: { tool: 'intercept_tool', read_only: false },
  permission: 'check',
  counts_checks: true,
  needs: 'policy',
  check_body: TOOL_ALIASES,
  input: checkBody(
    Type.Object({
      tool: Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT }),
      phase: Type.Optional(Type.Enum(['request', 'response'], { description: 'Without it `request`.' })),
      input: Type.Optional(
        Type.Unsafe<object>({
          type: 'object',
          description:
            'The arguments of the call, also taken as `arguments`, `args`, `parameters`, `params` or `tool_input`. Ignored with `phase: response`.',
        }),
      ),
      output: Type.Optional(
        Type.Unknown({ description: 'The result, any JSON value; needed when `phase` is `response`.' }),
      ),
      ...routing,
      capability_token_id: Type.Optional(
        Type.Nullable(capabilityToken, {
          description:
            'A capability token, `svc_cap_…`, that must allow the call; one that does not blocks it. Only a call is checked, not its result.',
        }),
      ),
      capability_action: Type.Optional(capabilityAction),
      reuse_approval: Type.Optional(
        Type.Nullable(
          Type.Boolean({
            description:
              'Uses the answered approval request for exactly this call if `approval_request_id` names none.',
          }),
        ),
      ),
    }),
  ),
  output: Type.Object({
    ...verdictProperties,
    tool: Type.String(),
    agent_id: Type.String(),
    phase: Type.Enum(['request', 'response']),
    modified_input: Type.Optional(
      Type.Unsafe<Json>({ description: 'The arguments to use instead; only when they were changed.' }),
    ),
    modified_output: Type.Optional(
      Type.Unsafe<Json>({ description: 'The result to use instead; only when it was changed.' }),
    ),
    stripped_fields: Type.Optional(
      Type.Array(Type.String(), { description: 'Content that a contract removed.' }),
    ),
  }),
  example: {
    tool: 'send_email',
    input: { to: 'team', subject: 'Weekly report' },
    agent_id: 'support-bot',
    session_id: 'sess-1',
  },
  answer: {
    decision: 'allow',
    action: 'allow',
    rule: 'default.allow',
    reason: 'Nothing was found that a rule acts on.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [],
    scan_duration_ms: 1,
    coverage: 'full',
    tool: 'send_email',
    agent_id: 'support-bot',
    phase: 'request',
  },
  refusals: ['agent_context_required'],
  async run(input, context) {
    const phase = input.phase ?? 'request';
    const isWrong = phase === 'response' ? input.output === undefined : (input.output ?? null) !== null;
    if (isWrong) throw buildPhaseRefusal(phase);
    const subject = resolveSubject(input, context);
    const acting = buildActor(input, subject, context.runtime);
    // An empty string still counts as a presented token, so it is checked and not skipped.
    const token = phase === 'request' ? (input.capability_token_id ?? null) : null;
    const use = { tool: input.tool, action: dropBlankName(input.capability_action) ?? 'invoke' };
    const { caller, runtime } = context;
    const capability =
      token === null ? null : await presentForCall(token, use, acting, caller, runtime.presentCapability);
    const crossing = buildToolCrossing(acting, {
      phase,
      tool: input.tool,
      content:
        phase === 'response' ? readContentMember(input, 'output', context) : getArguments(input, context),
      destination_agent_id: dropBlankName(input.destination_agent_id),
      capability,
    });
    const ruling = await runCheck(
      {
        crossing,
        endpoint: 'intercept_tool',
        approval_request_id: input.approval_request_id,
        reuse_approval: input.reuse_approval === true,
      },
      context,
    );
    const changed = findChangedContent(ruling.verdict);
    const { stripped_fields } = ruling.verdict;
    return {
      ...buildVerdictReply(ruling),
      tool: input.tool,
      agent_id: subject.agent_id,
      phase,
      ...(changed !== null && buildChangedMember(phase, readContentValue(changed))),
      ...(stripped_fields.length > 0 && { stripped_fields: [...stripped_fields] }),
    };
  },
});

export const interceptAgentMessage = defineOperation({
  name: 'intercept_agent_message',
  summary: 'Intercept a message between agents',
  description:
    'Judges a message that one agent sends to another by the `action` rules for the phase `message`. Both agents must be named, in every mode.',
  http: { method: 'POST', path: '/v1/intercept/agent-message' },
  permission: 'check',
  counts_checks: true,
  needs: 'policy',
  check_body: {},
  input: checkBody(Type.Object({ message: Type.String(), ...routing })),
  output: Type.Object({
    ...verdictProperties,
    source_agent_id: Type.String(),
    destination_agent_id: Type.String(),
    data_tags: Type.Array(Type.String(), { description: 'Declared and found, sorted.' }),
    modified_message: Type.Optional(
      Type.String({ description: 'The message to deliver instead; only when changed.' }),
    ),
  }),
  example: {
    message: 'The order has shipped.',
    source_agent_id: 'orders',
    destination_agent_id: 'support-bot',
  },
  answer: {
    decision: 'allow',
    action: 'allow',
    rule: 'default.allow',
    reason: 'Nothing was found that a rule acts on.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [],
    scan_duration_ms: 1,
    coverage: 'full',
    source_agent_id: 'orders',
    destination_agent_id: 'support-bot',
    data_tags: [],
  },
  refusals: ['agent_context_required'],
  async run(input, context) {
    const sourceAgentId = dropBlankName(input.source_agent_id);
    const destinationAgentId = dropBlankName(input.destination_agent_id);
    if (sourceAgentId === null || destinationAgentId === null) throw buildContextRefusal();
    const content: Content = { kind: 'text', text: input.message };
    const acting = buildActor(input, resolveSubject(input, context), context.runtime);
    const crossing = buildMessageCrossing(acting, content, destinationAgentId);
    const ruling = await runCheck(
      {
        crossing,
        endpoint: 'intercept_agent_message',
        approval_request_id: input.approval_request_id,
      },
      context,
    );
    const changed = findChangedContent(ruling.verdict);
    return {
      ...buildVerdictReply(ruling),
      source_agent_id: sourceAgentId,
      destination_agent_id: destinationAgentId,
      data_tags: [...ruling.verdict.data_tags],
      ...(changed?.kind === 'text' && { modified_message: changed.text }),
    };
  },
});

/** Returns the arguments of a call; `{}` if it has none. */
export function getArguments(input: { readonly input?: unknown }, context: Context): Content {
  return (input.input ?? null) === null
    ? { kind: 'json', value: {} }
    : readContentMember(input, 'input', context);
}

/** Builds the refusal for a body with the content of the wrong phase, because only one of the two is judged. */
function buildPhaseRefusal(phase: 'request' | 'response'): Refusal {
  const message =
    phase === 'response'
      ? 'is required when `phase` is `response`'
      : 'is judged only when `phase` is `response`';
  return new Refusal('invalid_request', `\`output\` ${message}.`, [{ path: 'output', message }]);
}

function buildChangedMember(phase: 'request' | 'response', value: Json) {
  return phase === 'request' ? { modified_input: value } : { modified_output: value };
}
