import { Refusal } from './operation.ts';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;
const CURSOR_CHARS_MAX = 1_024;

/** The members of an input that select a page. */
export const pageInput = {
  cursor: {
    type: ['string', 'null'],
    maxLength: CURSOR_CHARS_MAX,
    description: '`next_cursor` of the previous page.',
  },
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: LIMIT_MAX,
    description: `Entries at most; default ${LIMIT_DEFAULT}.`,
  },
} as const;

/** The member of an answer that leads to the next page. */
export const pageOutput = {
  next_cursor: { type: ['string', 'null'], description: '`null` after the last page.' },
} as const;

/** One page of a list. */
export interface ListPage<Entry> {
  readonly entries: readonly Entry[];
  readonly next_cursor: string | null;
}

/** Returns the key after which a page begins, and the number of entries. @throws Refusal if the cursor is not valid */
export function readPageInput({
  cursor,
  limit = LIMIT_DEFAULT,
}: {
  readonly cursor?: string | null | undefined;
  readonly limit?: number | undefined;
}): { readonly after: string | null; readonly limit: number } {
  if (cursor === undefined || cursor === null || cursor === '') return { after: null, limit };
  const after = Buffer.from(cursor, 'base64url').toString('utf8');
  if (writeCursor(after) === cursor) return { after, limit };
  throw new Refusal('invalid_request', '`cursor` is not one that this route has returned.', [
    { path: 'cursor', message: 'is not one that this route has returned' },
  ]);
}

/** Cuts a page from entries that are sorted by a key, of which there may be one more than the limit. */
export function buildListPage<Entry>(
  entries: readonly Entry[],
  limit: number,
  keyOf: (entry: Entry) => string,
): ListPage<Entry> {
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  const next_cursor = entries.length > limit && last !== undefined ? writeCursor(keyOf(last)) : null;
  return { entries: page, next_cursor };
}

function writeCursor(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64url');
}
