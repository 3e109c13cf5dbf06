/** The advisors. Each reads metadata, asks a model, and proposes. None of them changes anything. */

export type AdvisorId = 'auto-config' | 'recommender' | 'incident' | 'compliance' | 'integration';

/** The text that is sent to a model. */
export interface AdvisorPrompt {
  /** The task and the format of the answer. It holds no data of the service. */
  readonly system: string;
  /** The metadata, marked as untrusted. */
  readonly user: string;
}

/** A file that a model proposes. */
export interface ArtifactFile {
  /** The path relative to the folder of the project, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** The parsed answer of a model. */
export interface AdvisorReading {
  /** The text for people, at most `SUMMARY_UNITS_MAX` UTF-16 units. */
  readonly summary: string;
  readonly artifacts: readonly ArtifactFile[];
  /** Reasons why the answer cannot be used, as sentences; empty if it can. */
  readonly problems: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** An advisor: two pure functions around the call of a model. */
export interface Advisor<Input> {
  readonly name: AdvisorId;
  readonly brief: (input: Input) => AdvisorPrompt;
  readonly read: (answer: string, input: Input) => AdvisorReading;
  /** Returns a text with the names of callers replaced by the aliases of the prompt; absent if files hold no such name. */
  readonly hideNames?: (text: string, input: Input) => string;
}

/** The result of an advisor, as HTTP, the command line and the SDKs show it. */
export interface AdvisorResult {
  readonly advisor_name: AdvisorId;
  readonly status: 'success' | 'error' | 'no_backend';
  readonly summary: string;
  /** The proposed files: content by path. */
  readonly artifacts: Readonly<Record<string, string>>;
  /** The whole answer of the model; never logged. */
  readonly raw_response: string;
  readonly model_used: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}
