import type { AlertSeverity } from './types.ts';

/** The alerts that a silence matches. An absent member matches all. */
export interface SilenceMatcher {
  readonly rule_id?: string;
  readonly severity?: AlertSeverity;
  readonly group?: Readonly<Record<string, string>>;
}
