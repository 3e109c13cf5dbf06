import { openIndex } from '../runtime/audit/audit-index.ts';
import { type ActionErasure, eraseFromIdleChains } from '../runtime/audit/erase-actions.ts';
import { AuditFailure } from '../runtime/audit/failure.ts';
import type { Journal } from '../runtime/audit/journal.ts';
import { readLegalHolds } from '../runtime/audit/legal-holds.ts';
import { eraseIndexedActions, findActionHold } from '../runtime/audit/shown-actions.ts';
import { buildStatePaths } from './state-dir.ts';
import type { Workers } from './workers.ts';

interface ErasureParts {
  readonly state_dir: string;
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
  const { state_dir, sync, journals } = parts;
  const paths = buildStatePaths(state_dir);
  await sync();
  const index = await openIndex({ path: paths.index });
  try {
    const holds = readLegalHolds(state_dir, Date.now());
    const hold = holds === null ? null : await findActionHold(index, erasure, holds);
    if (holds === null || hold !== null)
      throw new AuditFailure(
        'actions_held',
        hold === null
          ? 'The legal holds are not known now, so nothing was erased. Try again in a minute.'
          : `The legal hold \`${hold.hold_id}\` covers an event, so nothing was erased. Remove the hold, or erase other events.`,
      );
    let erased = 0;
    for (const eraseOwn of journals.values()) erased += await eraseOwn(erasure);
    erased += await eraseFromIdleChains(paths.journal, [...journals.keys()], erasure);
    await eraseIndexedActions(index, erasure);
    return erased;
  } finally {
    await index.close();
  }
}

/** A worker erases for at most this time. A later call completes what took longer. */
const ERASE_MS = 600_000;

/** Erases in a running service: each process from the journal that it has open. */
export async function eraseFromService(
  erasure: ActionErasure,
  {
    config: { state_dir },
    indexing,
    journal,
    workers,
  }: {
    readonly config: { readonly state_dir: string };
    readonly indexing: { readonly sync: () => Promise<void> } | null;
    readonly journal: Journal | null;
    readonly workers: Workers;
  },
): Promise<number> {
  if (indexing === null || journal === null) throw new Error('The service is starting, or has no audit log.');
  const journals = new Map<string, Journal['eraseActions']>([['parent', journal.eraseActions]]);
  for (const worker of workers.serving())
    journals.set(worker.name, (wanted) => worker.call('erase_actions', wanted, ERASE_MS));
  return eraseActions(erasure, { state_dir, sync: indexing.sync, journals });
}
