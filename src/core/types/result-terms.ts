/** What a contract says about the result of its tool. */
export interface ResultTerms {
  /** Tags that the result may carry; `null` does not restrict. */
  readonly tags: readonly string[] | null;
  /** Dotted paths of the fields that are kept; empty keeps all. */
  readonly fields: readonly string[];
  /** Data that the agent may not get is masked; without it the result is blocked. */
  readonly on_violation?: 'redact';
}
