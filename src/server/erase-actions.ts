import type { AuditIndex, IndexAddress } from '../runtime/audit/audit-index.ts';
import { type ActionErasure, eraseFromIdleChains } from '../runtime/audit/erase-actions.ts';
import { AuditFailure } from '../runtime/audit/failure.ts';
import type { Journal } from '../runtime/audit/journal.ts';
import { type LegalHold, readLegalHolds } from '../runtime/audit/legal-holds.ts';
import { openIndex } from '../runtime/audit/open-index.ts';
import { eraseIndexedActions, findActionHold } from '../runtime/audit/shown-actions.ts';
import { type IndexConfig, readIndexAddress } from './index-address.ts';
import { buildStatePaths } from './state-dir.ts';
import type { Workers } from './workers.ts';

interface ErasureParts {
  readonly state_dir: string;
  /** `null` without an index. */
  readonly index_address: IndexAddress | null;
  /** Adds all events that were durable before to the journal and the index. */
  readonly sync: () => Promise<unknown>;
  /** The open journals of this service, by writer. */
  readonly journals: ReadonlyMap<string, Journal['eraseActions']>;
}

/**
 * Erases shown actions from every chain and from the index. The index comes last: after a stop it still knows the events
 * that legal holds protect, and the next call completes the work. Returns the number of actions in the journal.
 *
 * @throws AuditFailure `actions_held` if a legal hold covers an event, or the holds are not known
 */
export async function eraseActions(erasure: ActionErasure, parts: ErasureParts): Promise<number> {
  const { state_dir, index_address, sync, journals } = parts;
  const paths = buildStatePaths(state_dir);
  await sync();
  const index = index_address === null ? null : await openIndex(index_address);
  try {
    await refuseHeld(index, erasure, readLegalHolds(state_dir, Date.now()));
    let erased = 0;
    for (const eraseOwn of journals.values()) erased += await eraseOwn(erasure);
    erased += await eraseFromIdleChains(paths.journal, [...journals.keys()], erasure);
    if (index !== null) await eraseIndexedActions(index, erasure);
    return erased;
  } finally {
    await index?.close();
  }
}

/** Refuses an erasure that a hold may cover. Without an index, any hold may. */
async function refuseHeld(
  index: AuditIndex | null,
  erasure: ActionErasure,
  holds: readonly LegalHold[] | null,
): Promise<void> {
  if (holds === null)
    throw new AuditFailure(
      'actions_held',
      'The legal holds are not known now, so nothing was erased. Try again in a minute.',
    );
  const hold = index === null ? holds[0] : await findActionHold(index, erasure, holds);
  if (hold === undefined || hold === null) return;
  throw new AuditFailure(
    'actions_held',
    index === null
      ? `Without an index of the audit log (\`audit.index: off\`) it is not known whether the legal hold \`${hold.hold_id}\` covers an event, so nothing was erased. Remove the hold, or set \`audit.index\`.`
      : `The legal hold \`${hold.hold_id}\` covers an event, so nothing was erased. Remove the hold, or erase other events.`,
  );
}

/** A worker erases for at most this time. A later call completes what took longer. */
const ERASE_MS = 600_000;

/** Erases in a running service: each process from the journal that it has open. */
export async function eraseFromService(
  erasure: ActionErasure,
  {
    config,
    indexing,
    journal,
    workers,
  }: {
    readonly config: IndexConfig;
    readonly indexing: { readonly sync: () => Promise<void> } | null;
    readonly journal: Journal | null;
    readonly workers: Workers;
  },
): Promise<number> {
  if (indexing === null || journal === null) throw new Error('The service is starting, or has no audit log.');
  const journals = new Map<string, Journal['eraseActions']>([['parent', journal.eraseActions]]);
  for (const worker of workers.serving())
    journals.set(worker.name, (wanted) => worker.call('erase_actions', wanted, ERASE_MS));
  const { state_dir } = config;
  const indexAddress = readIndexAddress(config);
  return eraseActions(erasure, { state_dir, index_address: indexAddress, sync: indexing.sync, journals });
}
