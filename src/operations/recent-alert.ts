import type { Static } from 'typebox';
import { Type } from '../core/schema.ts';
import { SEVERITIES } from '../core/types/index.ts';

export const ALERT_STATUSES = ['firing', 'acknowledged', 'resolved', 'silenced'] as const;

/** An alert without the details that only its own page shows. */
export const recentAlertSchema = Type.Object({
  alert_id: Type.String(),
  rule_id: Type.String(),
  rule_name: Type.String(),
  severity: Type.Enum(SEVERITIES),
  status: Type.Enum(ALERT_STATUSES),
  count: Type.Integer(),
  fired_at: Type.String(),
  last_at: Type.String(),
  group: Type.Record(Type.String(), Type.String()),
});
export type RecentAlert = Static<typeof recentAlertSchema>;

/** Lists the newest alerts whose tenants are all among these, at most `limit`. */
export type ListRecentAlerts = (
  tenants: '*' | readonly string[],
  limit: number,
) => Promise<readonly RecentAlert[]>;
