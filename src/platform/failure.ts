/** The stable error codes of a failed start. */
export type StartFailureCode =
  | 'config_invalid'
  | 'state_in_use'
  | 'state_unusable'
  | 'store_unusable'
  | 'address_in_use'
  | 'address_unusable'
  | 'cluster_keys_differ'
  | 'cluster_keys_missing'
  | 'node_id_in_use'
  | 'start_too_slow'
  | 'worker_failed';

/** The failure of a start: a code for programs, a message that says what to do, and the problems by file and path. */
export class StartFailure extends Error {
  readonly code: StartFailureCode;
  readonly problems: readonly { readonly file: string; readonly path: string; readonly message: string }[];
  constructor(code: StartFailureCode, message: string, problems: StartFailure['problems'] = []) {
    super(message);
    this.name = 'StartFailure';
    this.code = code;
    this.problems = problems;
  }
}
