import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { buildPresentedToken } from '../../operations/presented-token.ts';
import {
  agentId,
  capabilityAction,
  capabilityToken,
  PRINTABLE_TEXT,
  sessionId,
  tenantId,
} from '../../operations/shapes.ts';
import { dropBlankName, resolveTenant } from '../../operations/subject.ts';
import { coversName, listScopeNames, narrowScope } from '../../runtime/access/scope.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import type { CapabilityPresentation } from '../../runtime/enforcement/capability.ts';
import { CAUSE_MESSAGES } from './misfit.ts';
import { capabilityTokens } from './tables.ts';
import type { CapabilityRecord } from './types.ts';

const tokenId = Type.String({
  pattern: '^cap_[0-9a-f]{24}$',
  description: 'The ID of the token, `cap_…`, which is not the token itself.',
});

const patterns = (what: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT }), {
    maxItems: 64,
    description: `${what} \`*\` matches any run of characters.`,
  });

const scope = Type.Object({
  tool_name: Type.String({
    minLength: 1,
    maxLength: 256,
    pattern: PRINTABLE_TEXT,
    description: 'The tool; `*` matches any run of characters.',
  }),
  actions: Type.Optional(patterns('Allowed actions on the tool (default: `invoke`).')),
  secret_keys: Type.Optional(patterns('Secrets that may be resolved for the tool (default: none).')),
});

const record = Type.Object({
  ...capabilityTokens.schema.properties,
  status: Type.Enum(['active', 'expired', 'revoked']),
  scope: Type.Object({
    tool_name: Type.String(),
    actions: Type.Array(Type.String()),
    secret_keys: Type.Array(Type.String()),
  }),
});

/** The token in the examples, as it was just issued. */
const issued = {
  ...capabilityTokens.example,
  status: 'active' as const,
  scope: { tool_name: 'send_email', actions: ['invoke'], secret_keys: ['MAIL_*'] },
};

export const capabilitiesIssue = defineOperation({
  name: 'capabilities_issue',
  summary: 'Issue a capability token',
  description:
    'Makes a token that lets one agent use one tool, and have secrets resolved for it, for a while. The token is shown in this answer and never again.',
  http: { method: 'POST', path: '/v1/capabilities' },
  permission: 'capabilities:issue',
  needs: 'store',
  input: Type.Object({
    agent_id: Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT }),
    scope,
    session_id: Type.Optional({
      ...sessionId,
      description: 'The only session in which it is taken; without it any.',
    }),
    tenant_id: Type.Optional(tenantId),
    ttl: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,4}[smhdw]$',
        maxLength: 6,
        description: 'Lifetime, such as `10m` (default: `capability_tokens.default_ttl`).',
      }),
    ),
  }),
  output: Type.Object({
    token: Type.String({ description: 'The token for the agent. It is not stored.' }),
    ...record.properties,
  }),
  example: {
    agent_id: 'support-bot',
    scope: { tool_name: 'send_email', secret_keys: ['MAIL_*'] },
    session_id: 'sess-1',
  },
  answer: { token: 'svc_cap_…', ...issued },
  refusals: ['conflict'],
  async run(input, context) {
    const { runtime, caller } = context;
    const agent = dropBlankName(input.agent_id);
    if (agent === null) throw new Refusal('invalid_request', '`agent_id` must not be empty.');
    const capabilities = await runtime.capabilities();
    const made = await capabilities.issue({
      tenant_id: resolveTenant({ tenant_id: input.tenant_id }, context),
      agent_id: agent,
      session_id: dropBlankName(input.session_id),
      scope: {
        tool_name: input.scope.tool_name,
        actions: getActions(input.scope.actions),
        secret_keys: [...new Set(input.scope.secret_keys ?? [])],
      },
      ttl_ms: getTtl(input.ttl, capabilities.ttl_max_ms),
      issued_by: caller.id,
    });
    if (made === null)
      throw new Refusal('conflict', 'As many tokens are live as may be: see `capability_tokens.active_max`.');
    return { token: made.token, ...made.record };
  },
});

function getActions(actions: readonly string[] = []): string[] {
  return actions.length === 0 ? ['invoke'] : [...new Set(actions.map((action) => action.toLowerCase()))];
}

function getTtl(written: string | undefined, maxMs: number): number | null {
  if (written === undefined) return null;
  const ttlMs = parseDurationMs(written);
  if (ttlMs <= maxMs) return ttlMs;
  const message = `must be at most ${maxMs / 1_000} seconds, which is \`capability_tokens.max_ttl\``;
  throw new Refusal('invalid_request', `\`ttl\` ${message}.`, [{ path: 'ttl', message }]);
}

export const capabilitiesList = defineOperation({
  name: 'capabilities_list',
  summary: 'List capability tokens',
  description: 'Lists the issued tokens, newest first; never the tokens themselves.',
  http: { method: 'GET', path: '/v1/capabilities' },
  permission: 'capabilities:read',
  needs: 'store',
  input: Type.Object({
    agent_id: Type.Optional(agentId),
    tenant_id: Type.Optional(tenantId),
    status: Type.Optional(Type.Enum(['active', 'expired', 'revoked'])),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 100.' })),
  }),
  output: Type.Object({
    capabilities: Type.Array(record),
    count: Type.Integer({ description: 'How many this answer holds.' }),
  }),
  example: { agent_id: 'support-bot', status: 'active' },
  answer: { capabilities: [issued], count: 1 },
  async run(input, { runtime, caller, tenant_id }) {
    const found = await (await runtime.capabilities()).list({
      agent_ids: listScopeNames(narrowScope(caller.agents, dropBlankName(input.agent_id))),
      tenant_ids: listScopeNames(
        narrowScope(caller.tenants, dropBlankName(input.tenant_id) ?? dropBlankName(tenant_id)),
      ),
      status: input.status,
      limit: input.limit ?? 100,
    });
    return { capabilities: found, count: found.length };
  },
});

export const capabilitiesShow = defineOperation({
  name: 'capabilities_show',
  summary: 'Show a capability token',
  description:
    'Returns what one token allows, whether it is live, and how often it was used; never the token itself.',
  http: { method: 'GET', path: '/v1/capabilities/{token_id}' },
  cli: {
    verb: 'capabilities show',
    arguments: ['token_id'],
    examples: [['customshouse capabilities show cap_0123456789abcdef01234567', '']],
  },
  permission: 'capabilities:read',
  needs: 'store',
  input: Type.Object({ token_id: tokenId }),
  output: record,
  example: { token_id: 'cap_0123456789abcdef01234567' },
  answer: issued,
  refusals: ['invalid_request', 'not_found'],
  async run({ token_id }, context) {
    const found = await (await context.runtime.capabilities()).find(token_id);
    if (found === null || !isVisible(found, context)) throw buildNotFoundRefusal();
    return found;
  },
});

export const capabilitiesRevoke = defineOperation({
  name: 'capabilities_revoke',
  summary: 'Revoke a capability token',
  description:
    'Revokes a token permanently. After the response, every worker refuses it. A token that was revoked before stays as it is.',
  http: { method: 'POST', path: '/v1/capabilities/{token_id}/revoke' },
  cli: {
    verb: 'capabilities revoke',
    arguments: ['token_id'],
    examples: [['customshouse capabilities revoke cap_0123456789abcdef01234567', '']],
  },
  permission: 'capabilities:issue',
  needs: 'store',
  input: Type.Object({ token_id: tokenId }),
  output: record,
  example: { token_id: 'cap_0123456789abcdef01234567' },
  answer: {
    ...issued,
    status: 'revoked',
    revoked_by: 'operator',
    revoked_at: '2026-01-31T12:01:00.000Z',
  },
  refusals: ['not_found'],
  async run({ token_id }, context) {
    const { runtime, caller } = context;
    const may = (found: CapabilityRecord) => isVisible(found, context);
    const revoked = await (await runtime.capabilities()).revoke(token_id, caller.id, may);
    if (revoked === null) throw buildNotFoundRefusal();
    return revoked.record;
  },
});

export const capabilitiesValidate = defineOperation({
  name: 'capabilities_validate',
  summary: 'Validate a capability token',
  description:
    'For a tool that was given a token: whether it allows this. Counts as a use, and is recorded in the audit log.',
  http: { method: 'POST', path: '/v1/capabilities/validate' },
  permission: 'check',
  needs: 'store',
  input: Type.Object({
    capability_token_id: capabilityToken,
    tool: Type.String({ minLength: 1, maxLength: 256, pattern: PRINTABLE_TEXT }),
    capability_action: Type.Optional(capabilityAction),
    agent_id: Type.Optional(agentId),
    session_id: Type.Optional(sessionId),
    tenant_id: Type.Optional(tenantId),
  }),
  output: Type.Object({
    valid: Type.Boolean(),
    cause: Type.Nullable(
      Type.String({ description: 'The cause, such as `expired` or `tool`; `null` if the token is valid.' }),
    ),
    reason: Type.String(),
    token_id: Type.Optional(Type.String({ description: 'The ID of the token, if it is known.' })),
    expires_at: Type.Optional(Type.String({ description: 'Only where it is valid.' })),
    event_id: Type.String({ description: 'The audit event.' }),
  }),
  example: {
    capability_token_id: 'svc_cap_0123456789abcdef01234567_…',
    tool: 'send_email',
    agent_id: 'support-bot',
    session_id: 'sess-1',
  },
  answer: {
    valid: false,
    cause: 'unknown',
    reason: 'The capability token is not known.',
    event_id: 'evt_0123456789abcdef01234567',
  },
  async run(input, context) {
    const { runtime } = context;
    const presented = buildPresentedToken(input, input.tool, context);
    const used = await (await runtime.capabilities()).use(presented);
    const reason = used.taken ? 'The capability token allows this.' : CAUSE_MESSAGES[used.cause];
    const event = useEvent(presented, { ...used, reason }, context);
    await runtime.note(event);
    return {
      valid: used.taken,
      cause: used.taken ? null : used.cause,
      reason,
      ...(used.token_id !== null && { token_id: used.token_id }),
      ...(used.taken && { expires_at: new Date(used.expires_ms).toISOString() }),
      event_id: event.event_id,
    };
  },
});

function useEvent(
  presented: CapabilityPresentation,
  used: {
    readonly taken: boolean;
    readonly token_id: string | null;
    readonly reason: string;
    readonly cause?: string;
  },
  { runtime }: Context,
) {
  const nowMs = runtime.now_ms();
  return buildServiceEvent({
    event_id: createEventId(nowMs),
    now_ms: nowMs,
    phase: 'capability_use',
    done: used.taken,
    reason: used.reason,
    caller_id: presented.caller_id,
    policy_hash: runtime.policy().hash,
    about: { ...presented, tool_name: presented.tool },
    metadata: {
      capability_action: presented.action,
      ...(used.token_id !== null && { capability_token_id: used.token_id }),
      result: used.cause ?? 'allow',
    },
  });
}

function buildNotFoundRefusal(): Refusal {
  return new Refusal('not_found', 'There is no such capability token.');
}

function isVisible({ agent_id, tenant_id }: CapabilityRecord, { caller }: Context): boolean {
  return coversName(caller.agents, agent_id) && coversName(caller.tenants, tenant_id);
}
