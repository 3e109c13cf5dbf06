/**
 * The files, programs and variables by which an agent is recognized. `npm run generate` collects them into
 * `src/core/detect/agent-traces.ts`, because `core` must not import this folder.
 */
export interface AgentTraces {
  /** Names of its program. A `*` at the end matches any ending. */
  readonly programs: readonly string[];
  /** Packages of npm that contain the program. */
  readonly packages: readonly string[];
  /** Folders of a desktop application, in lower case. */
  readonly app_folders: readonly string[];
  /** Environment variables that it sets for commands. A `*` at the end matches any ending. */
  readonly variables: readonly string[];
  /** Environment variables that move its settings elsewhere. */
  readonly home_variables: readonly string[];
  /**
   * Files that hold hooks or switch them off, in lower case: the end of a path, `/**` for everything below a folder, a
   * path from the root, or with `./` a file in the project's own folder.
   */
  readonly guarded_files: readonly string[];
  /** Folders whose removal or renaming has the same effect. */
  readonly guarded_folders: readonly string[];
  /** Files with its own credentials, in the form of `guarded_files`. */
  readonly credential_files: readonly string[];
}
