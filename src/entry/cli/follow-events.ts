import { setMaxListeners } from 'node:events';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { findNewestEvents } from '../../operations/cli-kit/find-events.ts';
import type { Terminal } from '../../operations/cli-kit/terminal.ts';
import type { AuditEvent, AuditFilter } from '../../runtime/audit/types.ts';

/**
 * Shows the newest matching events, oldest first, and then new ones until Ctrl-C. They come from the running service,
 * otherwise from the journal. Each event is shown once, even if the service restarts.
 */
export async function followEvents(
  terminal: Terminal,
  configPath: string | undefined,
  filter: AuditFilter,
  tail: number,
  ports: CommandPorts,
  show: (event: AuditEvent) => void,
): Promise<void> {
  if (filter.until !== undefined) {
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      '`--follow` and `--until` exclude each other: use one of them.',
    );
  }
  const [{ matchesFilter, parseFilter }, { followAuditLog }, { readLocalAuditEnd }] = await Promise.all([
    import('../../runtime/audit/filter.ts'),
    import('../../server/follow-audit-log.ts'),
    import('../../server/local.ts'),
  ]);
  const parsed = parseFilter(filter, Date.now());
  const config = await ports.loadConfig(terminal, configPath, 'leave');
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  // The end is read before the query, so that no event is missed between the two. Events in both are shown once.
  const place = await readLocalAuditEnd(config);
  const before = await findNewestEvents(terminal, configPath, { ...filter, limit: tail }, ports);
  const shownBefore = new Set(before.map(({ event_id }) => event_id));
  for (const event of before.toReversed()) show(event);
  const { since, last, ...request } = filter;
  const { state_dir } = config;
  for await (const { event } of followAuditLog({ state_dir, filter: request, place, signal: stop.signal }))
    if (!shownBefore.has(event.event_id) && matchesFilter(event, parsed)) show(event);
}
