import { newEventId } from '../../runtime/event-id.ts';
import { type ServiceChange, serviceEvent } from '../../runtime/record.ts';
import type { Caller } from '../../runtime/types.ts';
import type { HookAnswer } from './dialects/dialect.ts';
import type { HookQuestion, HookRuntime } from './question.ts';

/**
 * What `service doctor` sends through a hook to see whether it blocks: words that name no program, for the host, which
 * would have to run them, is never asked. The first is refused whatever the policy says; the second is judged as
 * anything else.
 */
export const CANARY_TEXTS = {
  block: 'service-doctor-canary block',
  pass: 'service-doctor-canary pass',
} as const;

/** The session of a canary. Hosts choose the names of sessions, agents do not, so that no agent can say it is one. */
const CANARY_SESSION = /^service-doctor-[0-9a-f]{16}$/;

/** Which canary a question is; `null`: none. Both its session and one of its texts have to say so. */
export function canaryOf({ session_id, checks }: HookQuestion): keyof typeof CANARY_TEXTS | null {
  if (session_id === null || !CANARY_SESSION.test(session_id)) return null;
  const texts = checks.flatMap((check) => {
    if (check.kind === 'prompt') return [check.text];
    const value = check.kind === 'call' ? check.input : check.output;
    return typeof value === 'object' && value !== null ? Object.values(value) : [value];
  });
  if (texts.includes(CANARY_TEXTS.block)) return 'block';
  return texts.includes(CANARY_TEXTS.pass) ? 'pass' : null;
}

/** The session of something that a hook was asked, for what is written down: a canary is of none, and says so. */
export function withoutCanary(session_id: string | null): {
  readonly session_id: string | null;
  readonly about: { readonly canary?: string };
} {
  return session_id === null || !CANARY_SESSION.test(session_id)
    ? { session_id, about: {} }
    : { session_id: null, about: { canary: session_id } };
}

/**
 * Refuses a canary without asking the policy, and leaves an event that says what it was: no decision on an agent, so that
 * nobody counts it as one.
 */
export async function refuseCanary(
  question: HookQuestion,
  { note, now_ms, policy }: HookRuntime,
  caller: Caller,
): Promise<readonly HookAnswer[]> {
  const now = now_ms();
  const event_id = newEventId(now);
  const change: ServiceChange = {
    event_id,
    now_ms: now,
    phase: 'hook_canary',
    done: true,
    reason: '`service doctor` tried a hook: it answered no, as it must, and there was nothing to run.',
    caller_id: caller.id,
    policy_hash: policy().hash,
    about: { tenant_id: question.tenant_id },
    metadata: { canary: question.session_id, hook: question.dialect, hook_event: question.event },
  };
  await note(serviceEvent(change));
  const answer: HookAnswer = {
    decision: 'block',
    action: 'block',
    rule: 'service.hook_canary',
    reason: 'This is a canary of `service doctor`. It is refused whatever the policy says.',
    event_id,
    violations: [],
    coverage: 'full',
    approval: null,
    one_may_agree: false,
    changed: null,
  };
  return question.checks.map(() => answer);
}
