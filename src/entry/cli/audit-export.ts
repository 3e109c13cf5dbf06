import { once } from 'node:events';
import { escapeLineEnds } from '../../core/json/line-json.ts';
import { formatCsvField } from '../../operations/cli-kit/format-csv.ts';
import { printNotice, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { dropAction } from '../../runtime/audit/journal-record.ts';
import type { AuditEvent, AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import { openOperationSession } from './run-operation.ts';

/** The filter, format and start of an export. */
export interface ExportOptions {
  readonly format: 'jsonl' | 'csv';
  readonly filter: AuditFilter;
  /** Continues after a cursor that an earlier export printed. */
  readonly cursor: string | null;
  readonly config: string | undefined;
  /** Keeps the shown actions of events: `audit.export_actions`. */
  readonly exports_actions: boolean;
}

const PAGE_EVENTS = 1_000;
const PROGRESS_EVENTS = 10_000;

/** The columns of a table, in order. The last one is there only with `audit.export_actions`. */
const COLUMNS = [
  'event_id',
  'timestamp',
  'boundary',
  'decision',
  'action',
  'policy_name',
  'reason',
  'data_tags',
  'tenant_id',
  'agent_id',
  'tool_name',
  'session_id',
  'source_agent_id',
  'destination_agent_id',
  'caller_id',
  'context_hash',
  'policy_hash',
  'coverage',
  'metadata',
  'user_id',
  'user_email',
  'groups',
  'claimed_user',
  'chain',
  'agent_tier',
  'trace_id',
  'action_shown',
] as const satisfies readonly (keyof AuditEvent)[];

/**
 * Writes all matching events to standard output, oldest first, one page at a time, and reports progress on standard
 * error. Returns the number of events.
 */
export async function exportEvents(options: ExportOptions, terminal: Terminal): Promise<number> {
  const { format, filter, config, exports_actions } = options;
  const columns = exports_actions ? COLUMNS : COLUMNS.slice(0, -1);
  const asker = await openOperationSession(terminal, config, 'audit_query');
  let cursor: string | null = options.cursor ?? '';
  let count = 0;
  try {
    if (format === 'csv') await writeText(terminal, `${columns.join(',')}\r\n`);
    while (cursor !== null) {
      const request = { ...filter, newest_first: false, limit: PAGE_EVENTS, cursor };
      const page = (await asker.run(request)) as AuditPage;
      const before = count;
      count += page.count;
      const events = exports_actions ? page.events : page.events.map(dropAction);
      const lines = events.map((event) =>
        format === 'csv' ? formatCsvLine(event, columns) : formatJsonLine(event),
      );
      await writeText(terminal, lines.join(''));
      cursor = page.next_cursor ?? null;
      const isMark = Math.floor(before / PROGRESS_EVENTS) < Math.floor(count / PROGRESS_EVENTS);
      if (isMark)
        printNotice(
          terminal,
          `${count} events, up to ${page.events.at(-1)?.timestamp}; cursor ${cursor ?? 'none'}`,
        );
    }
    return count;
  } finally {
    await asker.close();
  }
}

function formatJsonLine(event: AuditEvent): string {
  return `${escapeLineEnds(JSON.stringify(event))}\n`;
}

/** Formats a CSV line. */
function formatCsvLine(event: AuditEvent, columns: readonly (keyof AuditEvent)[]): string {
  const cells = columns.map((column) => formatCsvCell(event[column]));
  return `${cells.join(',')}\r\n`;
}

function formatCsvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = Array.isArray(value)
    ? value.join(' ')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
  return formatCsvField(text);
}

/** Writes text and waits for a slow reader, so that at most one page is in memory. */
async function writeText({ stdout }: Terminal, text: string): Promise<void> {
  if (text !== '' && stdout.write(text) === false) await once(stdout, 'drain');
}
