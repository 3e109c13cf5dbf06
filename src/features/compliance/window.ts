import { type Context, Refusal } from '../../operations/operation.ts';
import { dropBlankName, resolveTenants } from '../../operations/subject.ts';
import { AuditFilterError, parseDuration, parseFilter } from '../../runtime/audit/filter.ts';
import type { EventWindow } from '../../runtime/audit/window-types.ts';

/** The longest window of a report. */
const WINDOW_MS_MAX = 366 * 86_400_000;
const LAST_DEFAULT = '24h';

interface WindowInput {
  readonly since?: string | null | undefined;
  readonly until?: string | null | undefined;
  readonly last?: string | null | undefined;
  readonly tenant_id?: string | null | undefined;
}

/**
 * Resolves the window of a report and the events that the caller may read. `since` is a time or a duration before
 * `until`; `until` is a time or a duration before now, and now by default. `last` is a duration before now and overrides
 * both.
 */
export function resolveReportWindow(
  input: WindowInput,
  context: Context,
): EventWindow & { readonly last: string | null } {
  const nowMs = context.runtime.now_ms();
  const scope = { tenants: resolveTenants(input, context), agents: context.caller.agents };
  const since = dropBlankName(input.since);
  const last = dropBlankName(input.last) ?? (since === null ? LAST_DEFAULT : null);
  const untilMs =
    last === null || dropBlankName(input.last) === null ? parseTime('until', input.until, nowMs) : nowMs;
  const sinceMs =
    last === null
      ? parseTime('since', since, untilMs)
      : untilMs - (parseDuration(last) ?? throwInvalidField('last', DURATION));
  if (sinceMs >= untilMs) throw throwInvalidField('since', 'must be before `until`');
  if (untilMs - sinceMs > WINDOW_MS_MAX)
    throw throwInvalidField('since', 'must be at most 366 days before `until`');
  const written = last ?? (parseDuration(since ?? '') === null ? null : since);
  return { ...scope, since_ms: sinceMs, until_ms: untilMs, last: written };
}

const DURATION = 'is a duration, a whole number and one of s, m, h, d, w: `24h`, `90d`';

function parseTime(field: 'since' | 'until', value: string | null | undefined, baseMs: number): number {
  const written = dropBlankName(value);
  if (written === null) return baseMs;
  try {
    return parseFilter({ [field]: written }, baseMs)[`${field}_ms`] ?? baseMs;
  } catch (error) {
    if (error instanceof AuditFilterError) throw new Refusal('invalid_request', error.message, error.details);
    throw error;
  }
}

function throwInvalidField(path: string, message: string): never {
  throw new Refusal('invalid_request', `\`${path}\` ${message}.`, [{ path, message }]);
}
