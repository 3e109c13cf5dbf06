import type { AuditEvent, AuditFilter, AuditPage } from '../../runtime/types.ts';
import { ask } from './ask.ts';
import type { Terminal } from './terminal.ts';

/** The events that fit, newest first. */
export async function findEvents(
  terminal: Terminal,
  config_path: string | undefined,
  filter: AuditFilter,
): Promise<readonly AuditEvent[]> {
  const page = (await ask(terminal, config_path, (of) => of.auditQuery, {
    ...filter,
    newest_first: true,
  })) as AuditPage;
  return page.events;
}
