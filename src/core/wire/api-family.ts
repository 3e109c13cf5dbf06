/** A family of APIs: those of one provider, and of servers that are compatible with it. */
export interface ApiFamily {
  /** The value of `family` in the configuration, and the first part of the names of its formats. */
  readonly name: string;
  /** The name in messages and documents. */
  readonly label: string;
  /** `gen_ai.provider.name` of the OpenTelemetry conventions. */
  readonly telemetry_name: string;
  /** The base URL of the provider's public API. */
  readonly public_base_url: string;
  /** The header of a configured key, in lower case, and the text before the key. */
  readonly key_header: readonly [name: string, prefix: string];
  /** The header in which its clients look for the request ID, in addition to `x-request-id`. */
  readonly request_id_header?: string;
  /** Returns whether its official clients retry after an error of this status. */
  readonly isRetryableStatus: (status: number) => boolean;
  /** Matches the paths of its API, whether they are served or not. */
  readonly known_paths: RegExp;
  /** Matches the paths, at any base URL, that run a model and that no format here reads. */
  readonly unserved_paths: RegExp;
}

/** Returns whether the official clients of OpenAI and Anthropic retry after an error of this status. */
export function isUsualRetryStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status <= 599);
}
