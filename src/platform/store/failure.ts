/** The stable codes of what a store can fail with. */
export type StoreFailureCode =
  /** It cannot be reached, opened, read or written now. It is tried again with the next question. */
  | 'store_unavailable'
  /** Others held it for longer than a caller waits. */
  | 'store_busy'
  /** There is no room where it is. */
  | 'store_full'
  /** Others changed the same rows at the same time; nothing was changed, and the work can be done again. */
  | 'store_conflict'
  /** A later version of the program has changed its tables. */
  | 'store_newer'
  /** Its tables are not those of this version yet. */
  | 'store_older'
  /** The file is no database, or a damaged one. */
  | 'store_damaged'
  /** The package that speaks to it is not installed. */
  | 'store_driver_missing'
  | 'store_closed';

/**
 * An expected failure of a store: a code for programs and a sentence that says what to do. It never holds a
 * value, a statement or a credential; what the database said is no part of it either, for that repeats values.
 */
export class StoreFailure extends Error {
  readonly code: StoreFailureCode;
  /** The database's own code (`ENOSPC`, `57P01`, `errcode 13`), for the log. */
  readonly system_code: string | null;
  constructor(code: StoreFailureCode, message: string, system_code: string | null = null) {
    super(message);
    this.name = 'StoreFailure';
    this.code = code;
    this.system_code = system_code;
  }
}
