/** The stable error codes of a store. */
export type StoreFailureCode =
  /** The store cannot be reached, opened, read or written now. The next query tries again. */
  | 'store_unavailable'
  /** Other transactions held the store longer than a caller waits. */
  | 'store_busy'
  /** The disk of the store is full. */
  | 'store_full'
  /** Concurrent transactions changed the same rows. Nothing was changed, and the work can be repeated. */
  | 'store_conflict'
  /** A later version of the program has changed its tables. */
  | 'store_newer'
  /** A development version has made its tables, with migrations of other names. */
  | 'store_unreleased'
  /** The tables were not migrated to this version. */
  | 'store_older'
  /** The file is damaged, or is not a database. */
  | 'store_damaged'
  /** The driver package is not installed. */
  | 'store_driver_missing'
  | 'store_closed';

/**
 * An expected failure of a store: a code for programs and a message that says what to do. Never contains a value, a
 * statement or a credential, nor the database's own message, which repeats values.
 */
export class StoreFailure extends Error {
  readonly code: StoreFailureCode;
  /** The database's own code (`ENOSPC`, `57P01`, `errcode 13`), for the log. */
  readonly system_code: string | null;
  constructor(code: StoreFailureCode, message: string, systemCode: string | null = null) {
    super(message);
    this.name = 'StoreFailure';
    this.code = code;
    this.system_code = systemCode;
  }
}
