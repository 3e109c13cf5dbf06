import type { Json } from '../../core/types/index.ts';

/**
 * For whom a file counts: all who use a project (`project`), one person in it (`local`), one person everywhere (`user`), or
 * everybody on the machine (`managed`, which an administrator writes).
 */
export type Scope = 'project' | 'local' | 'user' | 'managed';

/** How a host's file is written: JSON as it stands in the standard, JSON with comments, or TOML. */
export type SettingsFormat = 'json' | 'jsonc' | 'toml';

/** The machine that a host runs on: absolute folders, and the variables that move them. */
export interface Machine {
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where a host looks for settings. */
export interface SettingsPlace {
  readonly scope: Scope;
  /** An absolute path of a file, or of a folder whose `*.json` are all read. */
  readonly path: string;
  readonly is_folder: boolean;
  readonly format: SettingsFormat;
}

/** An event of a host at which the service wants to be asked; `matcher` in the host's words, `null` where it has none. */
export interface WantedHook {
  readonly event: string;
  readonly matcher: string | null;
}

/** A hook that stands in a settings file. */
export interface InstalledHook {
  readonly event: string;
  /** `null`: none is given, which hosts take for all. */
  readonly matcher: string | null;
  /** A line for a shell, or a program where `args` are given. */
  readonly command: string;
  readonly args: readonly string[] | null;
  /** `null`: none is given, and the host's own holds. */
  readonly timeout_ms: number | null;
  /** Whether the entry itself asks the host to take a fault for a no. */
  readonly fails_closed: boolean;
  /** Whether it is a hook of this program, in whatever version and with whatever arguments. */
  readonly is_ours: boolean;
  /** The configuration that one of ours names. */
  readonly config_path: string | null;
  /** Where the entry stands in its document: keys and positions. */
  readonly path: readonly (string | number)[];
}

/** How a host lists its hooks in a document. */
export interface HookShape {
  /** Every hook that runs a command, in the order of the document; what has another form is passed over. */
  readonly list: (document: unknown) => readonly InstalledHook[];
  /** What is entered for an event. */
  readonly entry: (wanted: WantedHook, command: string) => Json;
}

/** Where and how a host lists MCP servers that it starts itself. */
export interface McpList {
  readonly key: 'mcpServers' | 'mcp_servers';
  readonly places: (machine: Machine) => readonly SettingsPlace[];
  readonly entry: (words: readonly string[]) => Json;
  /** What to do in a scope without a file that can be written; `command` is quoted for a shell. */
  readonly otherwise: (scope: Scope, command: string) => string;
}

/** Where a host writes down what it did: files below `folder` that fit a glob pattern. */
export interface TranscriptPlace {
  readonly folder: string;
  readonly pattern: string;
}

/** One coding agent: where it keeps its settings, and how hooks are entered there. */
export interface Host {
  /** Its name here, and that of its dialect. */
  readonly name: string;
  readonly label: string;
  /** The names of its program, one of which is in the PATH where it is installed. */
  readonly programs: readonly string[];
  /** All places where hooks can stand. */
  readonly places: (machine: Machine) => readonly SettingsPlace[];
  /** Where setup enters hooks: one file for each scope that a person may choose. */
  readonly targets: (machine: Machine) => readonly SettingsPlace[];
  readonly shape: HookShape;
  readonly wanted: readonly WantedHook[];
  /** Whether its payloads do not name the event, so that each hook has to. */
  readonly needs_event: boolean;
  /** How a command of a hook names the project's folder on every machine, as a prefix of a path for the host's shell. */
  readonly project_folder: string;
  /** Whether the host hands the command to a shell in which a fault can be turned into a no. */
  readonly guards_exit: boolean;
  /** Keys that the host asks for in a file of its own. */
  readonly frame: Readonly<Record<string, Json>>;
  readonly mcp: McpList;
  /** `null`: it is not published where they are, or not in which form. */
  readonly transcripts: (machine: Machine) => TranscriptPlace | null;
  /** What a person still has to do or know, by scope. */
  readonly remarks: (scope: Scope) => readonly string[];
}
