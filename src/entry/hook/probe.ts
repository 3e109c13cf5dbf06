import { PROBE_TEXTS } from '../../coding-agents/hook-probe.ts';
import type { HookAnswer } from '../../coding-agents/record/dialect.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { buildServiceEvent, type ServiceChange } from '../../runtime/audit/service-event.ts';
import type { HookRequest, HookRuntime } from './hook-request.ts';

/** The session ID of a probe. Coding agents choose session IDs and models do not, so a model cannot pose as a probe. */
const PROBE_SESSION = /^service-doctor-[0-9a-f]{16}$/;

/**
 * Returns the kind of a probe; `null` if it is not a probe. Both the session ID and one of the texts must identify it.
 */
export function getProbeKind({ session_id, checks }: HookRequest): keyof typeof PROBE_TEXTS | null {
  if (session_id === null || !PROBE_SESSION.test(session_id)) return null;
  const texts = checks.flatMap((check) => {
    if (check.kind === 'prompt') return [check.text];
    const value = check.kind === 'call' ? check.input : check.output;
    return typeof value === 'object' && value !== null ? Object.values(value) : [value];
  });
  if (texts.includes(PROBE_TEXTS.block)) return 'block';
  return texts.includes(PROBE_TEXTS.pass) ? 'pass' : null;
}

/** Returns the session for an audit event. A probe belongs to no session; its ID is recorded as `probe`. */
export function splitProbeSession(sessionId: string | null): {
  readonly session_id: string | null;
  readonly metadata: { readonly probe?: string };
} {
  return sessionId === null || !PROBE_SESSION.test(sessionId)
    ? { session_id: sessionId, metadata: {} }
    : { session_id: null, metadata: { probe: sessionId } };
}

/**
 * Refuses a probe without evaluating the policy, and records a service event. It is not a decision event, so it does
 * not count as one.
 */
export async function refuseProbe(
  request: HookRequest,
  { note, now_ms, policy }: HookRuntime,
  caller: Caller,
): Promise<readonly HookAnswer[]> {
  const now = now_ms();
  const eventId = createEventId(now);
  const change: ServiceChange = {
    event_id: eventId,
    now_ms: now,
    phase: 'hook_probe',
    done: true,
    reason: '`customshouse doctor` tried a hook: it answered no, as it must, and there was nothing to run.',
    caller_id: caller.id,
    policy_hash: policy().hash,
    about: { tenant_id: request.tenant_id },
    metadata: { probe: request.session_id, hook: request.dialect, hook_event: request.event },
  };
  await note(buildServiceEvent(change));
  const answer: HookAnswer = {
    decision: 'block',
    action: 'block',
    rule: 'service.hook_probe',
    reason: 'This is a probe of `customshouse doctor`. It is refused by every policy.',
    event_id: eventId,
    violations: [],
    coverage: 'full',
    approval: null,
    one_approval_suffices: false,
    changed: null,
  };
  return request.checks.map(() => answer);
}
