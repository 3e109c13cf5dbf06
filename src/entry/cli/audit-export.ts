import { once } from 'node:events';
import { escapeLineEnds } from '../../core/json/line-json.ts';
import { formatCsvField } from '../../operations/cli-kit/format-csv.ts';
import { printNotice, type Terminal } from '../../operations/cli-kit/terminal.ts';
import type { LocalRuntime } from '../../operations/runtime.ts';
import { parseFilter } from '../../runtime/audit/filter.ts';
import { pageJournal } from '../../runtime/audit/journal-pages.ts';
import { dropAction } from '../../runtime/audit/journal-record.ts';
import type { AuditEvent, AuditFilter, AuditPage } from '../../runtime/audit/types.ts';
import { openOperationSession } from './run-operation.ts';

/** The filter, format and start of an export. */
export interface ExportOptions {
  readonly format: 'jsonl' | 'csv';
  readonly filter: AuditFilter;
  /** Continues after a cursor that an earlier export printed. */
  readonly cursor: string | null;
  readonly readPages: ReadPages;
  /** Keeps the shown actions of events: `audit.export_actions`. */
  readonly exports_actions: boolean;
}

/** Reads the matching events, oldest first, from the one after a cursor; an empty cursor begins at the first. */
type ReadPages = (filter: AuditFilter, cursor: string) => AsyncIterable<AuditPage>;

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
  const { format, filter, cursor, readPages, exports_actions } = options;
  const columns = exports_actions ? COLUMNS : COLUMNS.slice(0, -1);
  let count = 0;
  if (format === 'csv') await writeText(terminal, `${columns.join(',')}\r\n`);
  for await (const page of readPages(filter, cursor ?? '')) {
    const before = count;
    count += page.count;
    const events = exports_actions ? page.events : page.events.map(dropAction);
    const lines = events.map((event) =>
      format === 'csv' ? formatCsvLine(event, columns) : formatJsonLine(event),
    );
    await writeText(terminal, lines.join(''));
    const isMark = Math.floor(before / PROGRESS_EVENTS) < Math.floor(count / PROGRESS_EVENTS);
    if (isMark)
      printNotice(
        terminal,
        `${count} events, up to ${page.events.at(-1)?.timestamp}; cursor ${page.next_cursor ?? 'none'}`,
      );
  }
  return count;
}

/** Reads pages through the query that every caller uses. */
export function readQueryPages(terminal: Terminal, config: string | undefined): ReadPages {
  return async function* (filter, from) {
    const asker = await openOperationSession(terminal, config, 'audit_query');
    try {
      for (let cursor: string | null = from; cursor !== null; ) {
        const request = { ...filter, newest_first: false, limit: PAGE_EVENTS, cursor };
        const page = (await asker.run(request)) as AuditPage;
        yield page;
        cursor = page.next_cursor ?? null;
      }
    } finally {
      await asker.close();
    }
  };
}

/** Reads pages from the journal itself, for a service without an index. Closes the runtime at the end. */
export function readJournalPages(runtime: LocalRuntime): ReadPages {
  return async function* (filter, cursor) {
    try {
      const dir = await runtime.settleJournal();
      const parsed = parseFilter({ ...filter, cursor }, runtime.now_ms());
      yield* pageJournal(dir, parsed, PAGE_EVENTS);
    } finally {
      await runtime.close();
    }
  };
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
