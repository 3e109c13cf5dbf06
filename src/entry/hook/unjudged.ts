import type { Crossing, Policy } from '../../core/types/index.ts';
import { newEventId } from '../../runtime/audit/event-id.ts';
import { writeSpool } from '../../runtime/audit/spool.ts';
import { buildTextCrossing, buildUnknownActor, NO_TEXT } from '../../runtime/enforcement/crossings.ts';
import { type BlockReason, refuseCrossing } from '../../runtime/enforcement/enforce.ts';
import type { Alone, Place } from './place.ts';
import { withoutProbe } from './probe.ts';
import type { HookQuestion } from './question.ts';
import { readStand } from './stand.ts';

/**
 * A refusal without an evaluation, with the parts of the event that were parsed. It holds none of the agent's content.
 */
export interface Unjudged {
  /** The rule name of the refusal. */
  readonly rule: UnjudgedRule;
  /** The message for the agent. */
  readonly reason: string;
  readonly dialect: string | null;
  readonly event: string | null;
  readonly agent_id: string;
  readonly tenant_id: string;
  readonly question: HookQuestion | null;
}

/** The rule names of refusals without an evaluation. */
export type UnjudgedRule =
  | 'hook.unreadable'
  | 'hook.usage'
  | 'fault.policy'
  | 'fault.store'
  | 'fault.timeout'
  | 'fault.internal';

/**
 * Writes the event of a refusal to the spool, from which the owner of the audit log chains it. Resolves when the event
 * is durable, and also if it cannot be written. Writes nothing if the audit log is disabled or its folder is not known.
 */
export async function recordRefusal(unjudged: Unjudged, { place, version, caller }: Alone): Promise<void> {
  const ledger = await ledgerOf(place, version);
  if (ledger === null) return;
  const { rule, reason, dialect, event, question } = unjudged;
  const objected: BlockReason = {
    rule,
    reason,
    fault: rule.startsWith('fault.'),
    coverage: { status: 'partial', reason: 'Nothing was scanned.', bytes: 0 },
  };
  const { session_id, about: probe } = withoutProbe(question?.session_id ?? null);
  const about = {
    ...probe,
    ...(dialect !== null && { hook: dialect }),
    ...(event !== null && { hook_event: event }),
    ...(question !== null && question.tool_use_id !== null && { tool_use_id: question.tool_use_id }),
  };
  const crossing = crossingOf(unjudged, session_id);
  const endpoint = crossing.boundary === 'input' ? 'scan_input' : 'intercept_tool';
  const ports = {
    policy: ledger.policy,
    now_ms: Date.now,
    new_event_id: newEventId,
    record: (each: Parameters<typeof writeSpool>[0]['events'][number]) =>
      writeSpool({ dir: `${ledger.state_dir}/journal`, events: [each], now_ms: Date.now }),
  };
  await refuseCrossing(objected, crossing, caller, endpoint, ports, { buildMetadata: () => about });
}

interface Ledger {
  readonly state_dir: string;
  /** The active policy; an empty hash if it is not known. */
  readonly policy: Pick<Policy, 'hash' | 'redaction'>;
}

const NO_POLICY: Ledger['policy'] = { hash: '', redaction: { typed: false } };

/**
 * Returns the state folder in which refusals are recorded, and the policy; `null` if the audit log is disabled, or its
 * folder is not known.
 */
async function ledgerOf(place: Place, version: string): Promise<Ledger | null> {
  const saved = readStand(place, version);
  if (saved !== null) {
    const { stand, policy } = saved;
    return stand.audited ? { state_dir: stand.state_dir, policy } : null;
  }
  const state_dir =
    place.path === null ? place.state_dir : await (await import('./whole.ts')).auditedState(place);
  return state_dir === null ? null : { state_dir, policy: NO_POLICY };
}

function crossingOf({ question, agent_id, tenant_id }: Unjudged, session_id: string | null): Crossing {
  const acting = { ...buildUnknownActor(Date.now()), agent_id, tenant_id, session_id };
  const crossing = buildTextCrossing('input', acting, NO_TEXT);
  return question?.checks[0]?.kind === 'prompt' ? crossing : { ...crossing, boundary: 'action' };
}
