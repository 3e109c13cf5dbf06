import { setMaxListeners } from 'node:events';

import { type ParsedFilter, wasMonitored } from '../../runtime/audit/filter.ts';
import type { AuditEvent, AuditFilter } from '../../runtime/types.ts';
import { configOf } from './configuration.ts';
import { CommandFailure, EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';
import { findEvents } from './trail.ts';

/**
 * Shows the newest events that fit, oldest first, and then those that are written, until Ctrl-C. Reads the
 * journal itself, so that it works with a service that runs, with one that does not, and across its restart.
 */
export async function followEvents(
  terminal: Terminal,
  config_path: string | undefined,
  filter: AuditFilter,
  tail: number,
  show: (event: AuditEvent) => void,
): Promise<void> {
  if (filter.until !== undefined) {
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      '--follow shows what comes, and --until ends in the past: leave one away.',
    );
  }
  const { followJournal, parseFilter } = await import('../../runtime/audit/index.ts');
  const parsed = parseFilter(filter, Date.now());
  const { statePaths } = await import('../../runtime/serve/state-dir.ts');
  const dir = statePaths((await configOf(terminal, config_path, 'leave')).state_dir).journal;
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const coming = followJournal({ dir, from: 'end', signal: stop.signal });
  // The end is noted before the query, so that nothing falls between the two; what both see is shown once.
  const first = coming.next();
  const before = await findEvents(terminal, config_path, { ...filter, limit: tail });
  const shown_before = new Set(before.map(({ event_id }) => event_id));
  for (const event of before.toReversed()) show(event);
  for (let next = await first; !next.done; next = await coming.next()) {
    const { event } = next.value;
    if (!shown_before.has(event.event_id) && fits(event, parsed)) show(event);
  }
}

/** The audit query's filters for one event that is new: times are no matter, it comes after them all. */
function fits(event: AuditEvent, { equal, data_tag, metadata, monitored }: ParsedFilter): boolean {
  const fields: Readonly<Record<string, unknown>> = { ...event, phase: event.metadata.phase };
  return (
    Object.entries(equal).every(([field, value]) => fields[field] === value) &&
    (data_tag === null ||
      event.data_tags.some((tag) => tag === data_tag || tag.startsWith(`${data_tag}.`))) &&
    wasMonitored(event, { monitored }) &&
    (metadata === null || Object.hasOwn(event.metadata, metadata.key)) &&
    (metadata === null || metadata.value === null || String(event.metadata[metadata.key]) === metadata.value)
  );
}
