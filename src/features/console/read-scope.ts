import { createHash } from 'node:crypto';
import { type Context, Refusal } from '../../operations/operation.ts';
import { dropBlankName, resolveTenants } from '../../operations/subject.ts';
import { SHORT_PERIOD_MS } from '../../runtime/audit/count-types.ts';
import { parseDuration } from '../../runtime/audit/filter.ts';
import { PAGE_LIMIT_DEFAULT } from './schemas.ts';

/** The tenants and agents whose events a caller sees; `*` for all. */
export interface ReadScope {
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
}

/** A period that begins on a multiple of five minutes and ends now. Milliseconds since 1970. */
export interface ReadWindow {
  /** As the caller wrote it: `24h`. */
  readonly last: string;
  readonly since_ms: number;
  /** Exclusive. */
  readonly until_ms: number;
}

const LAST_DEFAULT = '24h';
/** The longest period that a page shows. */
const LAST_MS_MAX = 366 * 86_400_000;

/** Returns the tenants and agents that the caller may read, narrowed to the tenant that the input names. */
export function resolveReadScope(
  input: { readonly tenant_id?: string | null | undefined },
  context: Context,
): ReadScope {
  return { tenants: resolveTenants(input, context), agents: context.caller.agents };
}

/** Parses a period before now. Refuses one that is not a duration, or longer than a year. */
export function parseWindow(last: string | undefined, now_ms: number): ReadWindow {
  const written = dropBlankName(last) ?? LAST_DEFAULT;
  const ms = parseDuration(written);
  if (ms === null || ms === 0 || ms > LAST_MS_MAX)
    throw new Refusal('invalid_request', '`last` is a duration of at most 366 days: `15m`, `24h`, `7d`.', [
      { path: 'last', message: 'is a duration of at most 366 days: `15m`, `24h`, `7d`' },
    ]);
  const since_ms = Math.floor((now_ms - ms) / SHORT_PERIOD_MS) * SHORT_PERIOD_MS;
  return { last: written.trim(), since_ms, until_ms: now_ms + 1 };
}

/**
 * Formats a cursor. It contains a digest of the list, the scope and the filters, so that it is refused for another
 * caller's scope or another query. It grants nothing: every page applies the scope again.
 */
export function formatPageCursor(query: readonly unknown[], position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([digestQuery(query), ...position])).toString('base64url');
}

/** Parses a cursor of the same query; `null` for the first page. Refuses one of another query. */
export function parsePageCursor(
  query: readonly unknown[],
  cursor: string | null | undefined,
): readonly (string | number)[] | null {
  const written = dropBlankName(cursor);
  if (written === null) return null;
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(Buffer.from(written, 'base64url').toString('utf8'));
  } catch {
    // Refused below.
  }
  const is_list =
    Array.isArray(parsed) && parsed.every((one) => typeof one === 'string' || Number.isFinite(one));
  if (is_list && (parsed as unknown[])[0] === digestQuery(query))
    return (parsed as (string | number)[]).slice(1);
  throw buildCursorRefusal();
}

/** Builds the refusal of a cursor. */
export function buildCursorRefusal(): Refusal {
  const message = 'is the `next_cursor` of a page with the same filters and the same tenants';
  return new Refusal('invalid_request', `\`cursor\` ${message}. Leave it out for the first page.`, [
    { path: 'cursor', message },
  ]);
}

function digestQuery(query: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 16);
}

/** Cuts a page out of a list that is complete in memory. The position of the cursor is an offset. */
export function cutPage<Item>(
  items: readonly Item[],
  query: readonly unknown[],
  { limit = PAGE_LIMIT_DEFAULT, cursor }: { readonly limit?: number; readonly cursor?: string | null },
): { readonly items: readonly Item[]; readonly next_cursor: string | null } {
  const from = Number(parsePageCursor(query, cursor)?.[0] ?? 0);
  const end = from + limit;
  return {
    items: items.slice(from, end),
    next_cursor: end < items.length ? formatPageCursor(query, [end]) : null,
  };
}
