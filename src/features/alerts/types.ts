import type { ALERT_STATUSES } from '../../operations/recent-alert.ts';
import type { ApprovalLinks } from '../approvals/link.ts';
import type { AlertRuleSettings } from './rule-schema.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** The part of the configuration that alerts use. Loaded on first use. */
    readonly alerts: () => Promise<AlertService>;
  }
}

export type AlertStatus = (typeof ALERT_STATUSES)[number];
export type AlertSeverity = AlertRuleSettings['severity'];

/** A channel, without its settings. */
export interface AlertChannelName {
  readonly name: string;
  readonly type: string;
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
}
