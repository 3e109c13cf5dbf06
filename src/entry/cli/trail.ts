import type { AuditEvent, AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import { ask } from './ask.ts';
import type { Terminal } from './terminal.ts';

/** Finds the events that match, newest first. */
export async function findTrailEvents(
  terminal: Terminal,
  config_path: string | undefined,
  filter: AuditFilter,
): Promise<readonly AuditEvent[]> {
  return (await findPage(terminal, config_path, filter)).events;
}

/** Finds the same events, with the number of events searched if none of them matches. */
export async function findPage(
  terminal: Terminal,
  config_path: string | undefined,
  filter: AuditFilter,
): Promise<AuditPage> {
  return (await ask(terminal, config_path, (of) => of.auditQuery, {
    ...filter,
    newest_first: true,
  })) as AuditPage;
}
