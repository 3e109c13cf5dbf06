/** The stable error codes of the journal and its index. */
export type AuditFailureCode =
  | 'journal_closed'
  | 'journal_busy'
  | 'journal_hangs'
  | 'journal_in_use'
  | 'journal_write_failed'
  | 'journal_broken'
  | 'event_too_large'
  | 'signing_key_unusable'
  | 'spool_unusable'
  | 'index_newer'
  | 'index_busy'
  | 'index_damaged'
  | 'index_foreign'
  | 'index_missing'
  | 'index_off'
  | 'actions_held'
  | 'query_too_slow'
  | 'audit_disabled';

/** An expected failure: a code for programs and a message that says what to do. Never contains an event. */
export class AuditFailure extends Error {
  readonly code: AuditFailureCode;
  constructor(code: AuditFailureCode, message: string) {
    super(message);
    this.name = 'AuditFailure';
    this.code = code;
  }
}

/** Returns the system's code of an error (`ENOSPC`), which contains no path and no content; `UNKNOWN` without one. */
export function getSystemCode(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === 'string' ? code : 'UNKNOWN';
}
