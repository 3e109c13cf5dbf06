import type { AuditEvent, AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import { auditQuery } from '../audit.ts';
import type { CommandPorts } from './command.ts';
import { escapeControls, type Terminal } from './terminal.ts';

/** Finds the events that match, newest first. */
export async function findNewestEvents(
  terminal: Terminal,
  configPath: string | undefined,
  filter: AuditFilter,
  ports: CommandPorts,
): Promise<readonly AuditEvent[]> {
  return (await findEventPage(terminal, configPath, filter, ports)).events;
}

/** Finds the same events, with the number of events searched if none of them matches. */
export async function findEventPage(
  terminal: Terminal,
  configPath: string | undefined,
  filter: AuditFilter,
  { runOperation }: CommandPorts,
): Promise<AuditPage> {
  return await runOperation(terminal, configPath, auditQuery, { ...filter, newest_first: true });
}

/** The part of the audit log that was searched. */
export interface SearchedPart {
  readonly config?: string;
  readonly last?: string;
  readonly since?: string;
  readonly until?: string;
}

/**
 * Reports an empty result with the folder, the time range and the number of events searched, because an empty answer
 * from the wrong folder would look like a quiet day.
 */
export async function explainNoEvents(
  { config, last, since, until }: SearchedPart,
  terminal: Terminal,
  { loadConfig }: CommandPorts,
  eventsSearched?: number,
): Promise<string> {
  const { state_dir } = await loadConfig(terminal, config, 'leave');
  const range = [
    since === undefined ? null : `since ${since}`,
    until === undefined ? null : `until ${until}`,
  ];
  const when =
    last === undefined
      ? range.filter((part) => part !== null).join(' ')
      : `last ${last.replace(/^(\d+)([a-z])$/, '$1 $2')}`;
  const searched =
    eventsSearched === undefined
      ? ''
      : `, ${eventsSearched.toLocaleString('en')} ${eventsSearched === 1 ? 'event' : 'events'} searched`;
  return `No matching events in ${escapeControls(state_dir)} (${when === '' ? 'all time' : escapeControls(when)}${searched}).`;
}
