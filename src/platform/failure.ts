/** The stable codes of a start that did not come about. */
export type StartFailureCode =
  | 'config_invalid'
  | 'state_in_use'
  | 'state_unusable'
  | 'store_unusable'
  | 'address_in_use'
  | 'address_unusable'
  | 'start_too_slow'
  | 'worker_failed';

/** Why the service did not start: a code for programs, a sentence that says what to do, and what is wrong where. */
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
