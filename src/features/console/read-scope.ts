import { type Context, Refusal } from '../../operations/operation.ts';
import { dropBlankName, resolveTenants } from '../../operations/subject.ts';
import { SHORT_PERIOD_MS } from '../../runtime/audit/count-types.ts';
import { parseDuration } from '../../runtime/audit/filter.ts';

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
export function parseWindow(last: string | undefined, nowMs: number): ReadWindow {
  const written = dropBlankName(last) ?? LAST_DEFAULT;
  const ms = parseDuration(written);
  if (ms === null || ms === 0 || ms > LAST_MS_MAX)
    throw new Refusal('invalid_request', '`last` is a duration of at most 366 days: `15m`, `24h`, `7d`.', [
      { path: 'last', message: 'is a duration of at most 366 days: `15m`, `24h`, `7d`' },
    ]);
  const sinceMs = Math.floor((nowMs - ms) / SHORT_PERIOD_MS) * SHORT_PERIOD_MS;
  return { last: written.trim(), since_ms: sinceMs, until_ms: nowMs + 1 };
}
