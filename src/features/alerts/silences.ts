import type { Kysely } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import type { AlertSeverity } from './types.ts';

/** The alerts that a silence matches. An absent member matches all. */
export interface SilenceMatcher {
  readonly rule_id?: string;
  readonly severity?: AlertSeverity;
  readonly group?: Readonly<Record<string, string>>;
}

/** A silence that has not expired. */
export interface ActiveSilence {
  readonly silence_id: string;
  /** Empty for all tenants. */
  readonly tenant_id: string;
  readonly matcher: SilenceMatcher;
}

/** Lists the silences that have not expired. One that cannot be read matches nothing. */
export async function listActiveSilences(
  db: Kysely<StoreTables>,
  nowMs: number,
): Promise<readonly ActiveSilence[]> {
  const rows = await db.selectFrom('alert_silences').selectAll().where('expires_ms', '>', nowMs).execute();
  return rows.flatMap(({ silence_id, tenant_id, matcher }) => {
    try {
      return [{ silence_id, tenant_id, matcher: JSON.parse(matcher) as SilenceMatcher }];
    } catch {
      return [];
    }
  });
}

/** Returns the first silence that matches an alert. A silence of a tenant matches alerts of this tenant alone. */
export function findSilence(
  silences: readonly ActiveSilence[],
  alert: {
    readonly rule_id: string;
    readonly severity: AlertSeverity;
    readonly group: Readonly<Record<string, string>>;
    readonly tenant_ids: readonly string[];
  },
): ActiveSilence | null {
  const found = silences.find(
    ({ tenant_id, matcher: { rule_id, severity, group = {} } }) =>
      (rule_id === undefined || rule_id === alert.rule_id) &&
      (severity === undefined || severity === alert.severity) &&
      Object.entries(group).every(([field, value]) => alert.group[field] === value) &&
      (tenant_id === '' ||
        (alert.tenant_ids.length > 0 && alert.tenant_ids.every((each) => each === tenant_id))),
  );
  return found ?? null;
}
