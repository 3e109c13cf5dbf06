export type EvidenceFailureCode =
  | 'journal_broken'
  | 'journal_missing'
  | 'key_missing'
  | 'pack_too_large'
  | 'canceled'
  | 'window_invalid';

/** An expected failure of building or verifying evidence. The message names no content of an event. */
export class EvidenceFailure extends Error {
  readonly code: EvidenceFailureCode;
  constructor(code: EvidenceFailureCode, message: string) {
    super(message);
    this.name = 'EvidenceFailure';
    this.code = code;
  }
}

/** @throws EvidenceFailure `canceled` if the signal is aborted */
export function throwIfCanceled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new EvidenceFailure('canceled', 'The work was canceled.');
}
