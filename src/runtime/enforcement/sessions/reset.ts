import type { Store } from '../../../platform/store/index.ts';
import type { Caller } from '../../access/types.ts';
import type { AuditPorts } from '../../audit/service-event.ts';
import { buildServiceEvent, type ServiceChange } from '../../audit/service-event.ts';
import { deleteSessionValues } from '../values/delete-values.ts';
import type { SessionResetTarget } from './types.ts';

/** The store, the clock and the audit log that a reset uses. */
export interface SessionResetPorts extends AuditPorts {
  readonly store: () => Promise<Store>;
}

/**
 * Clears the taint tags and the values seen, and returns the number of sessions that had tags. A reset that cannot be
 * recorded does not happen.
 *
 * @throws StoreFailure
 */
export async function resetSession(
  target: SessionResetTarget,
  caller: Caller,
  ports: SessionResetPorts,
): Promise<number> {
  const { tenant_id, session_id, agent_id } = target;
  const store = await ports.store();
  return store.transaction(async (trx) => {
    let rows = trx
      .selectFrom('sessions')
      .select(['agent_id', 'tags'])
      .where('tenant_id', '=', tenant_id)
      .where('session_id', '=', session_id ?? '');
    if (agent_id !== null) rows = rows.where('agent_id', '=', agent_id);
    const found = await rows.forUpdate().execute();
    for (const row of found)
      await trx
        .deleteFrom('sessions')
        .where('tenant_id', '=', tenant_id)
        .where('session_id', '=', session_id ?? '')
        .where('agent_id', '=', row.agent_id)
        .execute();
    await deleteSessionValues(trx, { tenant_id, session_id: session_id ?? '', agent_id });
    const count = found.filter(({ tags }) => tags !== '[]').length;
    await ports.record(buildServiceEvent(getChange(target, count, caller, ports)));
    return count;
  });
}

function getChange(
  target: SessionResetTarget,
  count: number,
  caller: Caller,
  ports: SessionResetPorts,
): ServiceChange {
  const nowMs = ports.now_ms();
  const { tenant_id, session_id, agent_id } = target;
  return {
    event_id: ports.new_event_id(nowMs),
    now_ms: nowMs,
    phase: 'session_reset',
    done: true,
    reason: 'An operator cleared the taint tags of the session.',
    caller_id: caller.id,
    policy_hash: ports.policy.hash,
    metadata: { sessions: count },
    about: { tenant_id, session_id, agent_id: agent_id ?? 'unknown' },
  };
}
