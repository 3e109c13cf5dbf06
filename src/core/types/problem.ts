/** What is wrong with a document, for the person who wrote it. */
export interface DocumentProblem {
  /** The file as the person named it, or `service.yaml`. */
  readonly file: string;
  /** Where in it, `policies[2].action`. */
  readonly path: string;
  /** The line in the file, from 1, where it is known. */
  readonly line?: number;
  /** A sentence that says what to do. */
  readonly message: string;
  /** A `warning` does not stop the policy from being used. */
  readonly level: 'error' | 'warning';
}
