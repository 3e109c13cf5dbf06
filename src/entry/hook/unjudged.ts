import type { Crossing, Policy } from '../../core/types/index.ts';
import { newEventId } from '../../runtime/audit/event-id.ts';
import { writeSpool } from '../../runtime/audit/spool.ts';
import { type BlockReason, refuseCrossing } from '../../runtime/enforcement/enforce.ts';
import type { Alone, Place } from './place.ts';
import { withoutProbe } from './probe.ts';
import type { HookQuestion } from './question.ts';
import { readStand } from './stand.ts';

/** Something that a hook refused and nobody judged, as far as it was read. Nothing of what the host sent is in it. */
export interface Unjudged {
  /** Why, as a name. */
  readonly rule: UnjudgedRule;
  /** What the host is told. */
  readonly reason: string;
  readonly dialect: string | null;
  readonly event: string | null;
  readonly agent_id: string;
  readonly tenant_id: string;
  readonly question: HookQuestion | null;
}

/** The rules of such refusals. */
export type UnjudgedRule =
  | 'hook.unreadable'
  | 'hook.usage'
  | 'fault.policy'
  | 'fault.store'
  | 'fault.timeout'
  | 'fault.internal';

/**
 * Leaves the event of a refusal for the owner of the journal to chain; resolves when it is durable, and where it cannot
 * be written, too.
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
  /** The policy in force, as far as it is known. */
  readonly policy: Pick<Policy, 'hash' | 'redaction'>;
}

const NO_POLICY: Ledger['policy'] = { hash: '', redaction: { typed: false } };

/** `null` where nothing is written down: it is not wanted, or nobody can tell where. */
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
  return {
    boundary: question?.checks[0]?.kind === 'prompt' ? 'input' : 'action',
    phase: null,
    content: { kind: 'text', text: '' },
    declared_tags: [],
    agent_id,
    tenant_id,
    session_id,
    source_agent_id: null,
    destination_agent_id: null,
    tool: null,
    now_ms: Date.now(),
  };
}
