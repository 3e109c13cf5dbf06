import type { Crossing, Policy } from '../../core/types/index.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { writeSpool } from '../../runtime/audit/spool.ts';
import { buildTextCrossing, buildUnknownActor, NO_TEXT } from '../../runtime/enforcement/crossings.ts';
import { type BlockReason, refuseCrossing } from '../../runtime/enforcement/enforce.ts';
import type { HookLocation, LocalContext } from './hook-location.ts';
import type { HookRequest } from './hook-request.ts';
import { readHookSnapshot } from './hook-snapshot.ts';
import { splitProbeSession } from './probe.ts';

/**
 * A refusal without an evaluation, with the parts of the event that were parsed. It holds none of the agent's content.
 */
export interface HookRefusal {
  /** The rule name of the refusal. */
  readonly rule: HookRefusalRule;
  /** The message for the agent. */
  readonly reason: string;
  readonly dialect: string | null;
  readonly event: string | null;
  readonly agent_id: string;
  readonly tenant_id: string;
  readonly request: HookRequest | null;
}

/** The rule names of refusals without an evaluation. */
export type HookRefusalRule =
  | 'hook.unreadable'
  | 'hook.usage'
  | 'hook.user_token'
  | 'fault.policy'
  | 'fault.store'
  | 'fault.timeout'
  | 'fault.internal';

/**
 * Writes the event of a refusal to the spool, from which the owner of the audit log chains it. Resolves when the event
 * is durable, and also if it cannot be written. Writes nothing if the audit log is disabled or its folder is not known.
 */
export async function recordRefusal(
  refusal: HookRefusal,
  { location, version, caller }: Pick<LocalContext, 'location' | 'version' | 'caller'>,
): Promise<void> {
  const refusalLog = await findRefusalLog(location, version);
  if (refusalLog === null) return;
  const { rule, reason, dialect, event, request } = refusal;
  const blockReason: BlockReason = {
    rule,
    reason,
    fault: rule.startsWith('fault.'),
    coverage: { status: 'partial', reason: 'Nothing was scanned.', bytes: 0 },
  };
  const { session_id, metadata: probe } = splitProbeSession(request?.session_id ?? null);
  const metadata = {
    ...probe,
    ...(dialect !== null && { hook: dialect }),
    ...(event !== null && { hook_event: event }),
    ...(dialect !== null && { hook_version: version }),
    ...(request !== null && request.tool_use_id !== null && { tool_use_id: request.tool_use_id }),
  };
  const crossing = buildRefusedCrossing(refusal, session_id);
  const endpoint = crossing.boundary === 'input' ? 'scan_input' : 'intercept_tool';
  const ports = {
    policy: refusalLog.policy,
    now_ms: Date.now,
    new_event_id: createEventId,
    record: (each: Parameters<typeof writeSpool>[0]['events'][number]) =>
      writeSpool({ dir: `${refusalLog.state_dir}/journal`, events: [each], now_ms: Date.now }),
  };
  await refuseCrossing(blockReason, crossing, caller, endpoint, ports, { buildMetadata: () => metadata });
}

interface RefusalLog {
  readonly state_dir: string;
  /** The active policy; an empty hash if it is not known. */
  readonly policy: Pick<Policy, 'hash' | 'redaction' | 'rules'>;
}

const NO_POLICY: RefusalLog['policy'] = { hash: '', redaction: { typed: false }, rules: [] };

/**
 * Returns the state folder in which refusals are recorded, and the policy; `null` if the audit log is disabled, or its
 * folder is not known.
 */
async function findRefusalLog(location: HookLocation, version: string): Promise<RefusalLog | null> {
  const saved = readHookSnapshot(location, version);
  if (saved !== null) {
    const { snapshot, policy } = saved;
    return snapshot.audit_enabled ? { state_dir: snapshot.state_dir, policy } : null;
  }
  const stateDir =
    location.path === null
      ? location.state_dir
      : await (await import('./full-runtime.ts')).findAuditedStateDir(location);
  return stateDir === null ? null : { state_dir: stateDir, policy: NO_POLICY };
}

function buildRefusedCrossing(
  { request, agent_id, tenant_id }: HookRefusal,
  sessionId: string | null,
): Crossing {
  const actor = { ...buildUnknownActor(Date.now()), agent_id, tenant_id, session_id: sessionId };
  const crossing = buildTextCrossing('input', actor, NO_TEXT);
  return request?.checks[0]?.kind === 'prompt' ? crossing : { ...crossing, boundary: 'action' };
}
