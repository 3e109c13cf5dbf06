import type { SettingsScope } from './settings.ts';

export type CheckStatus = 'ok' | 'warn' | 'fail';

/** The agent, scope, file and event that a check is about. */
export interface CheckSubject {
  readonly coding_agent: string | null;
  readonly scope: SettingsScope | null;
  readonly file: string | null;
  readonly event: string | null;
}

/** The result of one check of `customshouse doctor`. */
export interface DoctorCheck extends CheckSubject {
  readonly status: CheckStatus;
  /** A stable name for programs, for example `hook.blocks`. */
  readonly name: string;
  /** One sentence. */
  readonly message: string;
  /** The next step for the user; `null` if there is nothing to do. */
  readonly next: string | null;
}

/** The subject of checks that concern no agent, file or event. */
export const NO_SUBJECT: CheckSubject = { coding_agent: null, scope: null, file: null, event: null };

/** Returns a check that passed. */
export function buildPassedCheck(name: string, subject: CheckSubject, message: string): DoctorCheck {
  return { status: 'ok', name, ...subject, message, next: null };
}

/** Returns a check for something that a user should know and may have intended. */
export function buildWarningCheck(
  name: string,
  subject: CheckSubject,
  message: string,
  next: string | null,
): DoctorCheck {
  return { status: 'warn', name, ...subject, message, next };
}

/** Returns a check for something that lets tools run unchecked or prevents work. */
export function buildFailedCheck(
  name: string,
  subject: CheckSubject,
  message: string,
  next: string,
): DoctorCheck {
  return { status: 'fail', name, ...subject, message, next };
}

/** Returns the worst status of several checks. */
export function findWorstStatus(checks: readonly DoctorCheck[]): CheckStatus {
  if (checks.some(({ status }) => status === 'fail')) return 'fail';
  return checks.some(({ status }) => status === 'warn') ? 'warn' : 'ok';
}
