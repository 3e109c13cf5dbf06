import { describeFault, type Log } from '../platform/log.ts';
import { createEventId } from '../runtime/audit/event-id.ts';
import type { Journal } from '../runtime/audit/journal.ts';
import { buildServiceEvent } from '../runtime/audit/service-event.ts';
import { formatEntries, listForeignEntries } from './state-entries.ts';

/** The interval between two inspections of the whole state folder, in milliseconds. */
const INSPECT_MS = 5_000;
/** Entries that are remembered, so that each is reported once. */
const SEEN_MAX = 10_000;
const REPORTED =
  'the state folder has entries that are not of this service; they are skipped; find out who made them, and remove them';

/** Reports each foreign entry of a state folder once: in the log, and as an audit event, from which alerts follow. */
export interface StateWatch {
  /** Inspects the folder, at most every five seconds. `refused` are files that were just refused elsewhere. */
  readonly inspect: (refused: readonly string[]) => Promise<void>;
}

/** Opens the watch of the owner of a state folder. `policyHash` returns the hash of the active policy. */
export function openStateWatch(parts: {
  readonly state_dir: string;
  readonly journal: Journal;
  readonly policyHash: () => string;
  readonly now_ms: () => number;
  readonly log: Log;
}): StateWatch {
  const { state_dir, journal, policyHash, now_ms, log } = parts;
  const seen = new Set<string>();
  let inspectedMs = Number.NEGATIVE_INFINITY;
  return {
    inspect: async (refused) => {
      const isDue = performance.now() - inspectedMs >= INSPECT_MS;
      if (!isDue && refused.length === 0) return;
      inspectedMs = performance.now();
      const found = [...refused, ...listForeignEntries(state_dir)].filter((path) => !seen.has(path));
      if (found.length === 0 || seen.size >= SEEN_MAX) return;
      for (const path of found) seen.add(path);
      const entries = formatEntries(found);
      log.error(REPORTED, { entries, count: found.length });
      const atMs = now_ms();
      const event = buildServiceEvent({
        event_id: createEventId(atMs),
        now_ms: atMs,
        phase: 'state_folder',
        done: false,
        reason: 'Entries of the state folder are not of this service and were skipped.',
        caller_id: 'service:state-watch',
        policy_hash: policyHash(),
        metadata: { entries, entry_count: found.length },
      });
      await journal.append(event).catch((fault) => log.error(REPORTED, describeFault(fault)));
    },
  };
}
