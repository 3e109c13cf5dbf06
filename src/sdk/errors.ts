import type { GuardVerdict } from './types.ts';

/** Base of all errors of the SDK. */
export class CustomshouseError extends Error {
  override name = 'CustomshouseError';
}

/** A check blocked. Nothing of the content may be used, and a blocked tool call did not run. */
export class BlockedError extends CustomshouseError {
  override name = 'BlockedError';
  /** The verdict, without matched text. */
  readonly verdict: GuardVerdict;
  readonly rule: string;
  /** One sentence, without matched text. The message of the error is the same. */
  readonly reason: string;
  readonly violations: GuardVerdict['violations'];
  /** The audit event; `null` if the service did not give an answer. */
  readonly event_id: string | null;

  constructor(verdict: GuardVerdict) {
    super(verdict.reason);
    // Errors are logged, so they never hold the matched text.
    const violations = verdict.violations.map(({ match: _, ...violation }) => violation);
    this.verdict = { ...verdict, violations };
    this.rule = verdict.rule;
    this.reason = verdict.reason;
    this.violations = violations;
    this.event_id = verdict.event_id;
  }
}

/** A rule requires that an approver agrees first. */
export class ApprovalRequiredError extends BlockedError {
  override name = 'ApprovalRequiredError';
  /** The request for approval, `apr_…`. */
  readonly request_id: string;
  readonly #wait: (timeoutSeconds?: number) => Promise<string>;

  constructor(verdict: GuardVerdict, requestId: string, wait: (timeoutSeconds?: number) => Promise<string>) {
    super(verdict);
    this.request_id = requestId;
    this.#wait = wait;
  }

  /**
   * Waits until an approver has agreed and returns the id to pass as `approval_request_id` when the same call is
   * checked again. Rejects with `BlockedError` if the request is denied, expires, or is not decided in time.
   *
   * @param options.timeout_seconds - by default that of the guard
   */
  wait(options: { readonly timeout_seconds?: number } = {}): Promise<string> {
    return this.#wait(options.timeout_seconds);
  }
}

/** A tool failed, and a rule masks its error. The message is the masked text. */
export class ToolError extends CustomshouseError {
  override name = 'ToolError';
}

/** The advisory layer has no model back end. The message says how to configure one. */
export class AIBackendNotConfiguredError extends CustomshouseError {
  override name = 'AIBackendNotConfiguredError';
}

/** The service could not be reached in time, or its answer cannot be used. Checks block instead of raising this. */
export class ServiceUnavailableError extends CustomshouseError {
  override name = 'ServiceUnavailableError';
}

/** The service refused a request: a wrong key, a missing permission, a malformed request. */
export class ServiceRefusedError extends CustomshouseError {
  override name = 'ServiceRefusedError';
  /** The HTTP status. */
  readonly status: number;
  /** The stable code of the refusal: `unauthenticated`, `forbidden`, `invalid_request` ... */
  readonly code: string;

  constructor(message: string, status: number, code: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A policy that cannot be used. `problems` has one sentence for each mistake. */
export class PolicyLoadError extends CustomshouseError {
  override name = 'PolicyLoadError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const [first = 'The policy cannot be used.'] = problems;
    super(problems.length > 1 ? `${first} (and ${problems.length - 1} more)` : first);
    this.problems = problems;
  }
}

/** A feature that needs the state of a service was used on a local guard. */
export class ServiceRequiredError extends CustomshouseError {
  override name = 'ServiceRequiredError';
}
