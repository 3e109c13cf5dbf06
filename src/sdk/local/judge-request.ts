import { listContentMarks } from '../../core/decision/content-marks.ts';
import { buildViolationReplies } from '../../core/decision/violation-reply.ts';
import { createContent } from '../../core/json/source.ts';
import { getContentValue } from '../../core/json/value-source.ts';
import {
  CHAIN_LINKS_MAX,
  type Content,
  type Crossing,
  type CrossingContext,
  type Json,
  NO_PRINCIPAL,
  type Principal,
  type Verdict,
} from '../../core/types/index.ts';
import type { CheckBody } from '../backend.ts';
import type { GuardOperation, GuardVerdict } from '../types.ts';

/** A request that can be judged, or the reason why it cannot. */
export type RequestCrossing =
  | { readonly ok: true; readonly crossing: Crossing }
  | { readonly ok: false; readonly reason: string };

const NAME_UNITS_MAX = 256;
const CONTROL = /[\p{Cc}\p{Cs}]/u;
const TAG = /^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/;
const TAG_UNITS_MAX = 128;
const TAGS_MAX = 64;
/** The tool name by which rules match messages between agents. */
const AGENT_MESSAGE = 'agent_to_agent';

/** Builds the crossing of a request, as the service does for the same body. */
export function buildRequestCrossing(
  operation: GuardOperation,
  body: CheckBody,
  nowMs: number,
): RequestCrossing {
  const problem = findNameProblem(body) ?? findMissingMember(operation, body);
  if (problem !== null) return { ok: false, reason: problem };
  const content = buildContent(operation, body);
  return { ok: true, crossing: { ...buildRequestContext(operation, body, nowMs), content } };
}

/** Builds everything of a crossing but its content. */
export function buildRequestContext(
  operation: GuardOperation,
  body: CheckBody,
  nowMs: number,
): CrossingContext {
  const { source_agent_id = null, destination_agent_id = null, tool = null } = body;
  const aboutTool = operation === 'intercept_tool' ? tool : (body.context?.tool ?? null);
  const isMessage = operation === 'intercept_agent_message';
  const isAction = isMessage || operation === 'intercept_tool';
  const agentId = body.agent_id ?? source_agent_id ?? body.context?.chain?.at(-1) ?? 'unknown';
  return {
    boundary: isAction ? 'action' : operation === 'guard_output' ? 'output' : 'input',
    phase: !isAction ? null : isMessage ? 'message' : (body.phase ?? 'request'),
    tenant_id: body.tenant_id ?? 'default',
    agent_id: agentId,
    session_id: body.session_id ?? null,
    source_agent_id: isAction ? (source_agent_id ?? (agentId === 'unknown' ? null : agentId)) : null,
    destination_agent_id: isAction ? (destination_agent_id ?? (isMessage ? null : tool)) : null,
    tool: isMessage ? AGENT_MESSAGE : aboutTool,
    ...buildPrincipal(body.context),
    declared_tags: isAction ? (body.data_tags ?? []).map((tag) => tag.toLowerCase()) : [],
    now_ms: nowMs,
    ...(!isAction && body.context?.origin === 'user' && { content_label: 'user' }),
  };
}

/** A guard in process checks no credential, so that it proves no person and no tier. */
function buildPrincipal({ user_id, chain = [], agent_tier, task_id, trace_id }: CheckBody['context'] = {}): {
  readonly principal?: Principal;
} {
  const names = [user_id, agent_tier, task_id, trace_id];
  if (chain.length === 0 && names.every((each) => each === undefined)) return {};
  return {
    principal: {
      ...NO_PRINCIPAL,
      claimed_user: user_id ?? null,
      chain,
      claimed_tier: agent_tier ?? null,
      task_id: task_id ?? null,
      trace_id: trace_id ?? null,
    },
  };
}

function buildContent(operation: GuardOperation, body: CheckBody): Content {
  if (operation === 'scan_structured') return createContent(body.payload as Json);
  if (operation === 'intercept_agent_message') return { kind: 'text', text: body.message as string };
  if (operation !== 'intercept_tool') return { kind: 'text', text: body.text as string };
  const value = (body.phase === 'response' ? body.output : (body.input ?? {})) as Json;
  return typeof value === 'string' ? { kind: 'text', text: value } : { kind: 'json', value };
}

function findMissingMember(operation: GuardOperation, body: CheckBody): string | null {
  if (operation === 'scan_input' || operation === 'guard_output')
    return typeof body.text === 'string' ? null : 'The text of a check must be a string.';
  if (operation === 'intercept_agent_message') {
    if (typeof body.message !== 'string') return 'The message of a check must be a string.';
    const hasAgents = Boolean(body.source_agent_id) && Boolean(body.destination_agent_id);
    return hasAgents ? null : 'Name the agents of a message: `source_agent_id` and `destination_agent_id`.';
  }
  if (operation === 'intercept_tool' && (typeof body.tool !== 'string' || body.tool === ''))
    return 'The tool of a check must have a name.';
  return null;
}

/** Names are written to the audit log, so they have a maximum length and no control characters. */
function findNameProblem(body: CheckBody): string | null {
  const {
    agent_id,
    session_id,
    tenant_id,
    source_agent_id,
    destination_agent_id,
    tool,
    data_tags = [],
  } = body;
  const names = { agent_id, session_id, tenant_id, source_agent_id, destination_agent_id, tool };
  for (const [field, name] of Object.entries(names)) {
    if (name === undefined || name === null) continue;
    if (typeof name !== 'string' || name.length > NAME_UNITS_MAX || CONTROL.test(name))
      return `\`${field}\` must be a name of at most ${NAME_UNITS_MAX} characters, without control characters.`;
  }
  const chain = body.context?.chain ?? [];
  if (chain.length > CHAIN_LINKS_MAX || new Set(chain).size < chain.length)
    return `\`chain\` must have at most ${CHAIN_LINKS_MAX} agents, each once.`;
  const last = chain.at(-1);
  // The service refuses such a call, and would refuse its decision too.
  if (last !== undefined && (agent_id ?? source_agent_id ?? last) !== last)
    return '`agent_id` must be the last agent of `chain`.';
  const isWrong =
    data_tags.length > TAGS_MAX || data_tags.some((tag) => tag.length > TAG_UNITS_MAX || !TAG.test(tag));
  return isWrong ? `\`data_tags\` must be at most ${TAGS_MAX} tags, such as \`personal.health\`.` : null;
}

/** The names under which each operation answers with changed content. */
const CHANGED = {
  scan_input: 'modified_text',
  scan_structured: 'modified_payload',
  guard_output: 'modified_text',
  intercept_agent_message: 'modified_message',
} as const;

/** Returns the verdict in the form in which a guard answers, which is that of the service. */
export function buildGuardVerdict(
  operation: GuardOperation,
  verdict: Verdict,
  crossing: Crossing,
  eventId: string,
): GuardVerdict {
  const { decision, action, rule, reason, coverage, stripped_fields, fallback_used, fault } = verdict;
  const changed = decision === 'modify' || fallback_used ? verdict.content : null;
  const marks = listContentMarks(crossing, verdict);
  return {
    decision,
    action,
    rule,
    reason,
    violations: buildViolationReplies(verdict, crossing.content, crossing.boundary === 'input'),
    event_id: eventId,
    coverage: coverage.status,
    approval: null,
    fault,
    ...(changed !== null && { [getChangedName(operation, crossing)]: getContentValue(changed) }),
    ...(stripped_fields.length > 0 && { stripped_fields }),
    ...(fallback_used && { fallback_used }),
    ...(marks.length > 0 && { marks }),
  };
}

function getChangedName(operation: GuardOperation, { phase }: Crossing): string {
  if (operation !== 'intercept_tool') return CHANGED[operation];
  return phase === 'response' ? 'modified_output' : 'modified_input';
}
