import { createHmac } from 'node:crypto';
import type { Attributes } from '@opentelemetry/api';
import { canonicalizeJson } from '../../../core/policy/compile/canonical-json.ts';
import type { Crossing, Verdict, ViolationType } from '../../../core/types/index.ts';
import type { CheckRecord } from './types.ts';

/** `gen_ai.guardrail.verdict.type` and `.action.type`: the verdict of the rules, and the enforced action. */
export interface GuardrailOutcome {
  readonly verdict: 'allow' | 'deny' | 'modify' | 'warn' | 'escalate';
  readonly action: 'allow' | 'block' | 'modify' | 'escalate';
}

/**
 * Classifies a verdict. In monitor mode, the verdict is what the rules would have done; the action is what happened.
 */
export function classifyOutcome({ decision, action, enforced_result }: Verdict): GuardrailOutcome {
  return {
    verdict: getVerdictType(enforced_result ?? { decision, action }),
    action: getActionType({ decision, action }),
  };
}

type DecisionOutcome = Pick<Verdict, 'decision' | 'action'>;

function getVerdictType({ decision, action }: DecisionOutcome): GuardrailOutcome['verdict'] {
  if (action === 'require_approval') return 'escalate';
  if (decision !== 'allow') return decision === 'block' ? 'deny' : 'modify';
  return action === 'flag' ? 'warn' : 'allow';
}

function getActionType({ decision, action }: DecisionOutcome): GuardrailOutcome['action'] {
  return action === 'require_approval' && decision === 'block' ? 'escalate' : decision;
}

/**
 * Builds the span attributes of a check by OpenTelemetry's guardrail conventions: names, kinds and numbers. Of the
 * content, they contain at most a keyed hash.
 *
 * @param hashKey - `null` for no hash
 */
export function buildGuardrailAttributes(
  { event_id, verdict: judged, crossing, action_shown, component, scan_duration_ms }: CheckRecord,
  { verdict, action }: GuardrailOutcome,
  hashKey: string | null,
): Attributes {
  return {
    'gen_ai.operation.name': 'run_guardrail',
    'gen_ai.guardrail.component.name': component,
    ...getTarget(crossing),
    'gen_ai.guardrail.verdict.type': verdict,
    'gen_ai.guardrail.verdict.reason': judged.reason,
    'gen_ai.guardrail.verdict.code': judged.enforced_result?.rule ?? judged.rule,
    'gen_ai.guardrail.action.type': action,
    'gen_ai.guardrail.security.policy.id': judged.policy_hash,
    'gen_ai.guardrail.security.policy.rule.id': judged.rule,
    'gen_ai.guardrail.security.risk.category': getMainRisk(judged),
    'gen_ai.guardrail.security.content.modified': judged.decision === 'modify',
    'gen_ai.guardrail.security.content.input.hash':
      hashKey === null || judged.coverage.status !== 'full'
        ? undefined
        : computeContentHash(crossing, hashKey),
    ...buildIdentityAttributes(crossing),
    'gen_ai.tool.name': truncateName(crossing.tool),
    'customshouse.event.id': event_id,
    'customshouse.action.shown': action_shown,
    'customshouse.coverage': judged.coverage.status,
    'customshouse.scan.duration_ms': scan_duration_ms,
  };
}

/** Builds the attributes for the agent, session and tenant of a check or call. */
export function buildIdentityAttributes(
  subject: Pick<Crossing, 'agent_id' | 'session_id' | 'tenant_id'>,
): Attributes {
  return {
    'gen_ai.agent.id': truncateName(subject.agent_id),
    'gen_ai.conversation.id': truncateName(subject.session_id),
    'customshouse.tenant.id': truncateName(subject.tenant_id),
  };
}

function getTarget({ boundary, phase, memory }: Crossing): Attributes {
  const isOutput = boundary === 'output' || phase === 'response';
  return {
    'gen_ai.guardrail.target.type': isOutput ? 'output' : 'input',
    'gen_ai.guardrail.target.subtype': getSubtype(boundary, phase, memory !== undefined),
  };
}

function getSubtype(
  boundary: Crossing['boundary'],
  phase: Crossing['phase'],
  isMemory: boolean,
): string | undefined {
  if (isMemory) return 'memory';
  if (boundary !== 'action') return 'llm';
  // The conventions define no value for messages between agents.
  return phase === 'message' ? undefined : 'tool_call';
}

/** Returns the type of the finding that decided, or else of the first violation or finding. */
function getMainRisk({ rule, findings, violations }: Verdict): ViolationType | undefined {
  return (findings.find((one) => one.rule === rule) ?? violations[0] ?? findings[0])?.type;
}

/** A span event for one type, rule and severity of finding, with its count. */
export interface FindingEvent {
  readonly attributes: Attributes;
}

const FOUND_EVENTS_MAX = 32;

/** Builds span events for the findings of a check: rule, type, severity and count; never their place or content. */
export function buildFindingEvents({ findings, violations, policy_hash }: Verdict): FindingEvent[] {
  const counts = new Map<string, { count: number; attributes: Attributes }>();
  const found = [
    ...findings.map(({ type, rule, severity, rule_id }) => ({ type, rule, severity, detector: rule_id })),
    ...violations.map(({ type, rule, severity }) => ({ type, rule, severity, detector: undefined })),
  ];
  for (const { type, rule, severity, detector } of found) {
    const key = JSON.stringify([type, rule, severity, detector]);
    const known = counts.get(key);
    if (known !== undefined) known.count += 1;
    else if (counts.size < FOUND_EVENTS_MAX) {
      const attributes = {
        'gen_ai.guardrail.security.policy.id': policy_hash,
        'gen_ai.guardrail.security.policy.rule.id': rule,
        'gen_ai.guardrail.security.risk.category': type,
        'customshouse.finding.severity': severity,
        'customshouse.finding.detector': detector,
      };
      counts.set(key, { count: 1, attributes });
    }
  }
  return [...counts.values()].map(({ count, attributes }) => ({
    attributes: { ...attributes, 'customshouse.finding.count': count },
  }));
}

/** Hashes the canonical JSON (RFC 8785), so that a holder of the key can reproduce the hash for the same content. */
function computeContentHash({ content }: Crossing, key: string): string {
  const json = canonicalizeJson(content.kind === 'text' ? content.text : content.value);
  return `hmac-sha256:${createHmac('sha256', key).update(json, 'utf8').digest('hex')}`;
}

const NAME_UNITS_MAX = 256;

/** Truncates a name that a caller chose. An attribute that is `undefined` is omitted. */
function truncateName(name: string | null): string | undefined {
  return name === null ? undefined : name.slice(0, NAME_UNITS_MAX);
}
