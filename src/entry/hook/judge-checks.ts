import type { HookAnswer, HookCheck } from '../../coding-agents/record/dialect.ts';
import { createContent } from '../../core/json/source.ts';
import { findValueSource, getContentValue, SOURCE_LIMITS } from '../../core/json/value-source.ts';
import type { Content, Crossing, Json } from '../../core/types/index.ts';
import { buildVerdictReply, findChangedContent } from '../../operations/reply.ts';
import { type RequestSubject, resolveSubject } from '../../operations/subject.ts';
import { coversName } from '../../runtime/access/scope.ts';
import type { Caller } from '../../runtime/access/types.ts';
import {
  type ActorContext,
  buildTextCrossing,
  buildToolCrossing,
} from '../../runtime/enforcement/crossings.ts';
import type { EnforcementExtras, Ruling } from '../../runtime/enforcement/types.ts';
import type { Endpoint } from '../../runtime/observability/endpoint.ts';
import type { HookRequest, HookRuntime } from './hook-request.ts';
import { getProbeKind, refuseProbe, splitProbeSession } from './probe.ts';

/**
 * Evaluates the checks of a hook event with the same enforcement as every other transport. Returns one answer for each
 * check. Rejects with a `Refusal` if the agent, its chain or the tenant is outside the caller's scope.
 */
export async function judgeChecks(
  received: HookRequest,
  runtime: HookRuntime,
  caller: Caller,
): Promise<readonly HookAnswer[]> {
  const probe = getProbeKind(received);
  if (probe === 'block') return refuseProbe(received, runtime, caller);
  const { session_id, metadata: probeMetadata } = splitProbeSession(
    probe === null ? null : received.session_id,
  );
  const { agent_id, tenant_id, principal } = resolveHookSubject(received, caller);
  const known = principal === undefined ? {} : { principal };
  const request = { ...received, agent_id, tenant_id, ...(probe !== null && { session_id }) };
  const { enforce, now_ms } = runtime;
  const answers: HookAnswer[] = [];
  if (request.opens_session === true)
    await runtime.openSession({ ...buildActor(request, now_ms()), ...known }, caller);
  for (const check of request.checks) {
    const crossing = { ...buildHookCrossing(check, request, now_ms()), ...known };
    const endpoint: Endpoint = check.kind === 'prompt' ? 'scan_input' : 'intercept_tool';
    const { approval_request_id, dialect, event, hook_version, tool_use_id } = request;
    const metadata = {
      ...probeMetadata,
      ...(crossing.is_unchangeable === true && { unchangeable: true }),
      hook: dialect,
      hook_event: event,
      ...(isVersion(hook_version) && { hook_version }),
      ...(tool_use_id !== null && { tool_use_id }),
    };
    const extras: EnforcementExtras = {
      buildMetadata: () => metadata,
      reuse_approval: true,
      // A prompt without an opened session may come from any program that runs the hook.
      requires_opened_session: true,
    };
    const ruling = await enforce(crossing, caller, endpoint, approval_request_id, extras);
    answers.push(buildHookAnswer(ruling));
  }
  return answers;
}

/**
 * Resolves for whom the agent acts, as at every other transport. An agent that has only its default name takes the one
 * of the credential.
 */
function resolveHookSubject(
  { agent_id, tenant_id, has_default_agent, has_default_tenant, ...work }: HookRequest,
  caller: Caller,
): RequestSubject {
  const isNamedByCaller = caller.chain !== undefined || !coversName(caller.agents, agent_id);
  const fields = {
    agent_id: has_default_agent === true && isNamedByCaller ? null : agent_id,
    tenant_id: has_default_tenant === true ? null : tenant_id,
  };
  const { task_id, trace_id } = work;
  const named = { ...(task_id !== undefined && { task_id }), ...(trace_id !== undefined && { trace_id }) };
  return resolveSubject(fields, { caller, ...named });
}

const VERSION_CHARS_MAX = 128;

/** Returns whether a version from another process can be recorded. */
function isVersion(version: unknown): version is string {
  return typeof version === 'string' && version.length <= VERSION_CHARS_MAX;
}

/** Builds the crossing of a check. */
export function buildHookCrossing(check: HookCheck, request: HookRequest, nowMs: number): Crossing {
  const actor = buildActor(request, nowMs);
  if (check.kind === 'prompt') {
    const content: Content = { kind: 'text', text: check.text };
    const fixed = request.has_fixed_prompt === true ? { is_unchangeable: true } : {};
    const label = check.is_typed === true ? { content_label: 'user' } : {};
    return { ...buildTextCrossing('input', actor, content), ...fixed, ...label };
  }
  const phase = check.kind === 'call' ? 'request' : 'response';
  const content = buildContent(check.kind === 'call' ? check.input : check.output);
  return buildToolCrossing(actor, { phase, tool: check.tool, content });
}

function buildActor(request: HookRequest, nowMs: number): ActorContext {
  const { agent_id, tenant_id, session_id, working_dir } = request;
  return {
    agent_id,
    tenant_id,
    session_id,
    source_agent_id: agent_id === 'unknown' ? null : agent_id,
    declared_tags: [],
    now_ms: nowMs,
    ...(working_dir !== undefined && { working_dir }),
  };
}

function buildContent(value: Json): Content {
  return createContent(value, findValueSource(value, SOURCE_LIMITS));
}

function buildHookAnswer(ruling: Ruling): HookAnswer {
  const { verdict, help } = ruling;
  const { decision, action, rule, reason, event_id, violations, coverage, approval, marks } =
    buildVerdictReply(ruling);
  const changed = findChangedContent(verdict);
  return {
    decision,
    action,
    rule,
    reason: [reason, help].filter((part) => part !== null).join(' '),
    event_id,
    violations,
    coverage,
    approval: approval ?? null,
    ...(marks !== undefined && { marks }),
    one_approval_suffices:
      (verdict.approval?.min_approvals ?? 2) <= 1 && verdict.approval?.require_second_factor !== true,
    changed: changed === null ? null : getContentValue(changed),
  };
}
