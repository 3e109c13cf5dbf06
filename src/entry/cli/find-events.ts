import type { Terminal } from '../../operations/cli-kit/terminal.ts';
import type { AuditEvent, AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import { runSelectedOperation } from './run-operation.ts';

/** Finds the events that match, newest first. */
export async function findNewestEvents(
  terminal: Terminal,
  configPath: string | undefined,
  filter: AuditFilter,
): Promise<readonly AuditEvent[]> {
  return (await findEventPage(terminal, configPath, filter)).events;
}

/** Finds the same events, with the number of events searched if none of them matches. */
export async function findEventPage(
  terminal: Terminal,
  configPath: string | undefined,
  filter: AuditFilter,
): Promise<AuditPage> {
  return await runSelectedOperation(terminal, configPath, (of) => of.auditQuery, {
    ...filter,
    newest_first: true,
  });
}
