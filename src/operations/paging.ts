import { createHash } from 'node:crypto';
import { Type } from '../core/schema.ts';
import { Refusal } from './operation.ts';
import { dropBlankName } from './subject.ts';

/** The number of entries of a page whose caller names none. */
export const PAGE_LIMIT_DEFAULT = 100;
/** The longest page. */
export const PAGE_LIMIT_MAX = 1_000;
const CURSOR_CHARS_MAX = 1_024;

/** The members of an input that select a page. */
export const pageInput = {
  cursor: Type.Optional(
    Type.Nullable(
      Type.String({
        maxLength: CURSOR_CHARS_MAX,
        description: '`next_cursor` of the page before, with the same filters. Absent for the first page.',
      }),
    ),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_LIMIT_MAX,
      description: `Entries at most; default ${PAGE_LIMIT_DEFAULT}.`,
    }),
  ),
} as const;

/** The member of an answer that leads to the next page. */
export const pageOutput = {
  next_cursor: Type.Nullable(Type.String({ description: '`null` after the last page.' })),
} as const;

/** The cursor for a console page. */
export const nextCursorSchema = Type.Nullable(
  Type.String({ description: 'The cursor of the next page; `null` if there is none.' }),
);

/** The length of a whole list. */
export const totalSchema = Type.Nullable(
  Type.Integer({ description: 'The number of entries on all pages; `null` if counting them is expensive.' }),
);

/** The members of a request that select a page. */
export interface PageRequest {
  readonly cursor?: string | null | undefined;
  readonly limit?: number | undefined;
}

/** The name of a list, the scope of the caller and the filters. A cursor is valid for one such query. */
export type PagedQuery = readonly unknown[];
/** The place of the last entry of a page, in the order of the list. */
export type PagePosition = readonly (string | number)[];

/** One page of a list. */
export interface ListPage<Entry> {
  readonly entries: readonly Entry[];
  readonly next_cursor: string | null;
}

/**
 * Formats a cursor. It contains a digest of the query, so that it is refused for another caller's scope or another
 * query. It grants nothing: every page applies the scope again.
 */
export function formatPageCursor(query: PagedQuery, position: PagePosition): string {
  return Buffer.from(JSON.stringify([digestQuery(query), ...position])).toString('base64url');
}

/** Parses a cursor of the same query; `null` for the first page. @throws Refusal for a cursor of another query */
export function parsePageCursor(query: PagedQuery, cursor: string | null | undefined): PagePosition | null {
  const written = dropBlankName(cursor);
  if (written === null) return null;
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(Buffer.from(written, 'base64url').toString('utf8'));
  } catch {
    // Refused below.
  }
  const isList =
    Array.isArray(parsed) && parsed.every((one) => typeof one === 'string' || Number.isFinite(one));
  if (isList && (parsed as unknown[])[0] === digestQuery(query))
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

function digestQuery(query: PagedQuery): string {
  return createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 16);
}

/** Returns the name after which a page begins, and its length. @throws Refusal if the cursor is not valid */
export function readNamePage(
  query: PagedQuery,
  { cursor, limit = PAGE_LIMIT_DEFAULT }: PageRequest,
): { readonly after: string | null; readonly limit: number } {
  const [after = null] = parsePageCursor(query, cursor) ?? [];
  if (typeof after === 'number') throw buildCursorRefusal();
  return { after, limit };
}

/** Returns the number after which a page begins, and its length. @throws Refusal if the cursor is not valid */
export function readNumberPage(
  query: PagedQuery,
  { cursor, limit = PAGE_LIMIT_DEFAULT }: PageRequest,
): { readonly after: number | null; readonly limit: number } {
  const [after = null] = parsePageCursor(query, cursor) ?? [];
  if (after !== null && !Number.isSafeInteger(after)) throw buildCursorRefusal();
  return { after: after as number | null, limit };
}

/** Cuts a page from entries in the order of a key, of which there may be one more than the limit. */
export function buildListPage<Entry>(
  query: PagedQuery,
  entries: readonly Entry[],
  limit: number,
  keyOf: (entry: Entry) => string | number,
): ListPage<Entry> {
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  const hasMore = entries.length > limit && last !== undefined;
  return { entries: page, next_cursor: hasMore ? formatPageCursor(query, [keyOf(last)]) : null };
}

/** Cuts a page out of a list that is complete in memory. The position of the cursor is an offset. */
export function cutPage<Item>(
  items: readonly Item[],
  query: PagedQuery,
  request: PageRequest,
): { readonly items: readonly Item[]; readonly next_cursor: string | null } {
  const { after, limit } = readNumberPage(query, request);
  const end = (after ?? 0) + limit;
  return {
    items: items.slice(after ?? 0, end),
    next_cursor: end < items.length ? formatPageCursor(query, [end]) : null,
  };
}
