/** The files by which a service decides: an agent that it guards may not change them. All paths are absolute. */
export interface GuardedPaths {
  /** The home folder of the user; `null` where there is none. */
  readonly home: string | null;
  /** The folder of the configuration. */
  readonly base_dir: string;
  /** Folders with tokens, keys and records: not read either. */
  readonly state_dirs: readonly string[];
  /** The configuration and its documents, as globs. */
  readonly files: readonly string[];
}

/** The call of a tool that a content is the arguments of. */
export interface ToolCall {
  readonly tool: string | null;
  readonly working_dir?: string | undefined;
}
