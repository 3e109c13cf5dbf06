/** An error or warning in a document, for its author. */
export interface DocumentProblem {
  /** File name as the author gave it, or `service.yaml`. */
  readonly file: string;
  /** Path inside the document: `policies[2].action`. */
  readonly path: string;
  /** Line in the file, from 1, if known. */
  readonly line?: number;
  /** One sentence that says what to do. */
  readonly message: string;
  /** A `warning` does not prevent the use of the policy. */
  readonly level: 'error' | 'warning';
}
