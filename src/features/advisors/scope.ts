import { type Context, Refusal } from '../../operations/operation.ts';
import { dropBlankName, resolveTenants } from '../../operations/subject.ts';
import { parseDuration } from '../../runtime/audit/filter.ts';

/** The tenants and agents whose events a caller sees; `*` for all. */
export interface AdvisorScope {
  readonly tenants: '*' | readonly string[];
  readonly agents: '*' | readonly string[];
}

/** A period before now. */
export interface AdvisorPeriod {
  /** As the caller wrote it: `7d`. */
  readonly since: string;
  readonly since_ms: number;
}

/** Returns the tenants and agents of the caller, narrowed to the tenant that the transport names. */
export function resolveAdvisorScope(context: Context): AdvisorScope {
  return { tenants: resolveTenants({}, context), agents: context.caller.agents };
}

export const SINCE_DEFAULT = '7d';
const SINCE_MS_MAX = 366 * 86_400_000;

/** Parses `since`. @throws Refusal unless it is a duration of at most 366 days */
export function parseSince(since: string | undefined, nowMs: number): AdvisorPeriod {
  const written = (dropBlankName(since) ?? SINCE_DEFAULT).trim();
  const ms = parseDuration(written);
  if (ms !== null && ms > 0 && ms <= SINCE_MS_MAX) return { since: written, since_ms: nowMs - ms };
  const message = 'is a duration of at most 366 days: `24h`, `7d`';
  throw new Refusal('invalid_request', `\`since\` ${message}.`, [{ path: 'since', message }]);
}
