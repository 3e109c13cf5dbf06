import type { ApprovalLinks } from '../approvals/link.ts';
import type { AlertRuleSettings } from './rule-schema.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** The part of the configuration that alerts use, and the recent alerts. Loaded on first use. */
    readonly alerts: () => Promise<AlertService>;
  }
}

export const ALERT_STATUSES = ['firing', 'acknowledged', 'resolved', 'silenced'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];
export type AlertSeverity = AlertRuleSettings['severity'];

/** A channel, without its settings. */
export interface AlertChannelName {
  readonly name: string;
  readonly type: string;
}

/** An alert without the details that only its own page shows. */
export interface RecentAlert {
  readonly alert_id: string;
  readonly rule_id: string;
  readonly rule_name: string;
  readonly severity: AlertSeverity;
  readonly status: AlertStatus;
  readonly count: number;
  readonly fired_at: string;
  readonly last_at: string;
  readonly group: Readonly<Record<string, string>>;
}

/** Alerts, as operations use them. */
export interface AlertService {
  /** The rules of the configuration. */
  readonly rules: readonly AlertRuleSettings[];
  /** All channels, including the default one. */
  readonly channels: readonly AlertChannelName[];
  /** The name of this service in messages. */
  readonly source: string;
  /** The origin of the console, without a path. */
  readonly console_url: string;
  readonly links: Pick<ApprovalLinks, 'build'>;
  /** Lists the newest alerts whose tenants are all among these. */
  readonly listRecent: (tenants: '*' | readonly string[], limit: number) => Promise<readonly RecentAlert[]>;
}
