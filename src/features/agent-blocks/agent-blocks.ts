import type { Transaction } from 'kysely';
import type { Store } from '../../platform/store/index.ts';
import type { StoreTables } from '../../platform/store/tables.ts';
import type { AuditPorts } from '../../runtime/audit/service-event.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import { buildAgentKey, writeAgentList } from '../../runtime/enforcement/agent-list.ts';
import { countRevision } from '../../runtime/managed-policy/revisions.ts';
import { blockedAgents } from './tables.ts';
import type { AgentBlocks } from './types.ts';

/** The dependencies of the kill switch: the state folder, the store, and the audit log. */
export interface AgentBlockParts {
  readonly state_dir: string;
  readonly store: () => Promise<Store>;
  readonly ports: () => AuditPorts;
}

/** Opens the kill switch of one process. A change that cannot be written to the audit log does not happen. */
export function openAgentBlocks(parts: AgentBlockParts): AgentBlocks {
  const change = async (work: (trx: Transaction<StoreTables>) => Promise<boolean>): Promise<boolean> => {
    const store = await parts.store();
    const isChanged = await store.transaction(work);
    await mirrorAgentBlocks(parts.state_dir, store);
    return isChanged;
  };
  return {
    block: (agentId, reason, blockedBy) => {
      const blockedMs = parts.ports().now_ms();
      const row = {
        agent_key: buildAgentKey(agentId),
        agent_id: agentId,
        reason,
        blocked_by: blockedBy,
        blocked_ms: blockedMs,
      };
      return change(async (trx) => {
        const { numInsertedOrUpdatedRows: count = 0n } = await trx
          .insertInto('blocked_agents')
          .values(row)
          .onConflict((conflict) => conflict.column('agent_key').doNothing())
          .executeTakeFirst();
        if (count > 0n) await countRevision(trx, 'agent_blocks');
        if (count > 0n) await recordBlockChange(parts, 'agent_block', agentId, blockedBy);
        return count > 0n;
      });
    },
    unblock: (agentId, callerId) =>
      change(async (trx) => {
        const { numDeletedRows: count } = await trx
          .deleteFrom('blocked_agents')
          .where('agent_key', '=', buildAgentKey(agentId))
          .executeTakeFirst();
        if (count > 0n) await countRevision(trx, 'agent_blocks');
        if (count > 0n) await recordBlockChange(parts, 'agent_unblock', agentId, callerId);
        return count > 0n;
      }),
    list: async () => {
      const { db } = await parts.store();
      const rows = await db.selectFrom('blocked_agents').selectAll().orderBy('agent_key').execute();
      return rows.map(blockedAgents.show);
    },
  };
}

/** Writes a change to the audit log. If that fails, the surrounding transaction is rolled back. */
function recordBlockChange(
  { ports }: AgentBlockParts,
  phase: 'agent_block' | 'agent_unblock',
  agentId: string,
  callerId: string,
): Promise<void> {
  const { policy, now_ms, new_event_id, record } = ports();
  const atMs = now_ms();
  const change = {
    event_id: new_event_id(atMs),
    now_ms: atMs,
    phase,
    done: true,
    reason: `An operator ${phase === 'agent_block' ? 'blocked' : 'unblocked'} the agent.`,
    caller_id: callerId,
    policy_hash: policy.hash,
    metadata: {},
    about: { agent_id: agentId },
  };
  return record(buildServiceEvent(change));
}

/** Copies the list from the store into the state folder, where every process reads it. */
export async function mirrorAgentBlocks(stateDir: string, { db }: Pick<Store, 'db'>): Promise<void> {
  const rows = await db.selectFrom('blocked_agents').select('agent_key').execute();
  writeAgentList(
    stateDir,
    rows.map(({ agent_key }) => agent_key),
  );
}

/** The delay until a block by another replica on a shared store is active here. */
const MIRROR_MS = 500;

/**
 * Copies the list, and keeps the copy equal to the store until it is closed. `onFault` receives each failure.
 */
export async function followAgentBlocks(
  { state_dir, store }: Pick<AgentBlockParts, 'state_dir' | 'store'>,
  onFault: (fault: unknown) => void,
): Promise<{ readonly close: () => Promise<void> }> {
  const mirror = async (): Promise<void> => {
    await store()
      .then((opened) => mirrorAgentBlocks(state_dir, opened))
      .catch(onFault);
  };
  let isClosed = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  const plan = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => {
      running = mirror().finally(plan);
    }, MIRROR_MS).unref();
  };
  await mirror();
  plan();
  return {
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}
