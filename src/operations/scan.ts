import { type ObjectValue, Type } from '../core/schema.ts';
import type { Content, Crossing } from '../core/types/index.ts';
import { buildTextCrossing, buildUnknownActor } from '../runtime/enforcement/crossings.ts';
import { readContentMember, readContentValue, runCheck } from './check.ts';
import { checkBody } from './check-body.ts';
import { contentOrigin, resolveContentLabel } from './content-label.ts';
import { type Context, defineOperation } from './operation.ts';
import { buildTextReply, buildVerdictReply, findChangedContent } from './reply.ts';
import {
  agentId,
  approvalRequestId,
  checkContext,
  sessionId,
  tenantId,
  verdictProperties,
} from './shapes.ts';
import { dropBlankName, readSessionId, resolveSubject } from './subject.ts';

/** Members of every scan and of the guard that describe whom the text concerns. */
export const aboutText = {
  agent_id: Type.Optional(agentId),
  tenant_id: Type.Optional(tenantId),
  session_id: Type.Optional(sessionId),
  context: Type.Optional(checkContext),
  approval_request_id: Type.Optional(approvalRequestId),
} as const;

/** Members of every scan of a text that enters an agent. */
const aboutInput = {
  ...aboutText,
  context: Type.Optional(Type.Object({ ...checkContext.properties, origin: Type.Optional(contentOrigin) })),
} as const;

type AboutText = ObjectValue<typeof aboutText>;

/** Builds the crossing for a text that enters an agent, with the label that the caller may state. */
function readInputCrossing(
  content: Content,
  input: ObjectValue<typeof aboutInput>,
  context: Context,
): Crossing {
  const crossing = readTextCrossing('input', content, input, context);
  return { ...crossing, ...resolveContentLabel(input.context?.origin, crossing, context) };
}

/** Builds an `input` or `output` crossing from a text. */
export function readTextCrossing(
  boundary: 'input' | 'output',
  content: Content,
  input: AboutText,
  context: Context,
): Crossing {
  // Copied one by one, because other members of the body may have any type.
  const { agent_id: agent, tenant_id: tenant, session_id, context: about } = input;
  const who = { agent_id: agent, tenant_id: tenant, session_id, context: about };
  const { tenant_id, agent_id, principal } = resolveSubject(who, context);
  const acting = {
    ...buildUnknownActor(context.runtime.now_ms()),
    tenant_id,
    agent_id,
    session_id: readSessionId(who),
    ...(principal !== undefined && { principal }),
  };
  return buildTextCrossing(boundary, acting, content, { tool: dropBlankName(input.context?.tool) });
}

export const scanInput = defineOperation({
  name: 'scan_input',
  summary: 'Scan agent input',
  description:
    'Scans a text that is about to enter an agent and decides by the `input` rules. The status is 200 also for a blocked text: read `decision`.',
  http: { method: 'POST', path: '/v1/scan/input' },
  mcp: { tool: 'scan_input', read_only: true },
  permission: 'check',
  counts_checks: true,
  needs: 'policy',
  check_body: {},
  input: checkBody(Type.Object({ text: Type.String(), ...aboutInput })),
  output: Type.Object({
    ...verdictProperties,
    modified_text: Type.Optional(
      Type.String({ description: 'The text to use instead; only when it was changed.' }),
    ),
  }),
  example: { text: 'Use key sk-ABCDEF1234567890', agent_id: 'support-bot' },
  answer: {
    decision: 'block',
    action: 'block',
    rule: 'builtin.secret.input',
    reason: 'A secret was found in input.',
    help: 'The content has a secret (`generic.sk_key`). Instead, name an environment variable or a secret reference. An operator can allow this value with `customshouse fingerprint add`.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [
      {
        type: 'secret_detected',
        detector: 'api_key',
        severity: 'critical',
        match: 'sk-ABCDEF1234567890',
        rule_id: 'generic.sk_key',
        tag: 'secret.credential.api_key',
        tags: ['secret.credential.api_key'],
        start: 8,
        end: 27,
      },
    ],
    scan_duration_ms: 1,
    coverage: 'full',
  },
  async run(input, context) {
    const crossing = readInputCrossing({ kind: 'text', text: input.text }, input, context);
    const ruling = await runCheck(
      { crossing, endpoint: 'scan_input', approval_request_id: input.approval_request_id },
      context,
    );
    return buildTextReply(ruling, true);
  },
});

export const scanStructured = defineOperation({
  name: 'scan_structured',
  summary: 'Scan a JSON value',
  description:
    'Scans every string, key and number of a JSON value, and JSON inside its strings, and decides by the `input` rules. Each violation has its location as a JSON path.',
  http: { method: 'POST', path: '/v1/scan/structured' },
  permission: 'check',
  counts_checks: true,
  needs: 'policy',
  check_body: {},
  input: checkBody(Type.Object({ payload: Type.Unknown({ description: 'Any JSON value.' }), ...aboutInput })),
  output: Type.Object({
    ...verdictProperties,
    modified_payload: Type.Optional(
      Type.Unknown({ description: 'The value to use instead; only when it was changed.' }),
    ),
  }),
  example: { payload: { user: { email: 'jane.doe@corp-mail.io' } }, agent_id: 'support-bot' },
  answer: {
    decision: 'modify',
    action: 'redact',
    rule: 'builtin.personal.input',
    reason: 'Personal data was found in input.',
    event_id: 'evt_0123456789abcdef01234567',
    violations: [
      {
        type: 'pii_detected',
        detector: 'email',
        severity: 'medium',
        match: 'jane.doe@corp-mail.io',
        rule_id: 'email.address',
        tag: 'personal.pii.email',
        tags: ['personal.pii.email'],
        start: 0,
        end: 21,
        path: '$.user.email',
      },
    ],
    scan_duration_ms: 1,
    coverage: 'full',
    modified_payload: { user: { email: '[REDACTED]' } },
  },
  async run(input, context) {
    const content = readContentMember(input, 'payload', context);
    const crossing = readInputCrossing(content, input, context);
    const ruling = await runCheck(
      { crossing, endpoint: 'scan_structured', approval_request_id: input.approval_request_id },
      context,
    );
    const reply = buildVerdictReply(ruling, true);
    const changed = findChangedContent(ruling.verdict);
    return changed === null ? reply : { ...reply, modified_payload: readContentValue(changed) };
  },
});
