import type { Json } from '../../core/types/index.ts';

/**
 * The audience of a settings file: everyone in a project (`project`), one user in a project (`local`), one user in all
 * projects (`user`), or the whole machine (`managed`, written by an administrator).
 */
export type SettingsScope = 'project' | 'local' | 'user' | 'managed';

/** The syntax of a settings file: strict JSON, JSON with comments, or TOML. */
export type SettingsFormat = 'json' | 'jsonc' | 'toml';

/** The machine that an agent runs on: absolute folders, and the environment variables that move them. */
export interface Machine {
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A location from which an agent reads settings. */
export interface SettingsLocation {
  readonly scope: SettingsScope;
  /** The absolute path of a file, or of a folder whose `*.json` files are all read. */
  readonly path: string;
  readonly is_folder: boolean;
  readonly format: SettingsFormat;
}

/** An event for which setup installs a hook. `matcher` uses the agent's syntax; `null` if the event has none. */
export interface WantedHook {
  readonly event: string;
  readonly matcher: string | null;
}

/** A hook in a settings file. */
export interface InstalledHook {
  readonly event: string;
  /** `null` if there is none, which agents treat as a match for every tool. */
  readonly matcher: string | null;
  /** A shell command line; the path of a program if there are `args`. */
  readonly command: string;
  readonly args: readonly string[] | null;
  /** `null` if the entry has none, so that the agent's default applies. */
  readonly timeout_ms: number | null;
  /** True if the entry asks the agent to treat a failed hook as a denial. */
  readonly fails_closed: boolean;
  /** True if the hook runs this program, in any version and with any arguments. */
  readonly is_ours: boolean;
  /** The configuration that the command names, if the hook is ours. */
  readonly config_path: string | null;
  /** The path of the entry in its document: keys and positions. */
  readonly path: readonly (string | number)[];
}

/** The format in which an agent lists hooks in a document. */
export interface HookFormat {
  /** Returns every hook that runs a command, in document order. Entries of another form are skipped. */
  readonly list: (document: unknown) => readonly InstalledHook[];
  /** Returns the entry that setup writes for an event. */
  readonly entry: (wanted: WantedHook, command: string) => Json;
  /** The duration of a written time-out of 1. */
  readonly timeout_unit_ms: 1 | 1000;
}

/** The list of MCP servers that an agent starts itself. */
export interface McpServerList {
  readonly key: 'mcpServers' | 'mcp_servers';
  readonly locations: (machine: Machine) => readonly SettingsLocation[];
  readonly entry: (words: readonly string[]) => Json;
  /** Returns the advice for a scope that has no writable file. `command` is quoted for a shell. */
  readonly adviseByHand: (scope: SettingsScope, command: string) => string;
}

/** The location of an agent's transcripts: files below `folder` that match a glob pattern. */
export interface TranscriptLocation {
  readonly folder: string;
  readonly pattern: string;
}

/** The locations of a coding agent's settings, and how hooks are installed in them. */
export interface AgentSettings {
  /** The names of its program. If one of them is in the `PATH`, the agent counts as installed. */
  readonly programs: readonly string[];
  /** Every location that can hold hooks. */
  readonly locations: (machine: Machine) => readonly SettingsLocation[];
  /** The locations that setup writes to: one file for each scope that a user may choose. */
  readonly targets: (machine: Machine) => readonly SettingsLocation[];
  readonly hook_format: HookFormat;
  /** The hooks that can block. */
  readonly wanted_hooks: readonly WantedHook[];
  /** The event with which the agent opens a session, so that typed prompts count as a person's words there. */
  readonly opening_event?: string;
  /** True if the command of a hook must name its event, because the agent's payloads do not. */
  readonly needs_event: boolean;
  /** The expression for the project's folder in the command of a shared hook, as the prefix of a path. */
  readonly project_folder: string;
  /** The environment variables in which the agent gives hooks the project's folder. */
  readonly project_variables: readonly string[];
  /** True if a shell runs the command, so that `|| exit 2` turns a failure into a denial. */
  readonly guards_exit: boolean;
  /** Keys that the agent requires in a file of hooks. */
  readonly required_keys: Readonly<Record<string, Json>>;
  readonly mcp_servers: McpServerList;
  /** Returns `null` if neither location nor format of the transcripts is published. */
  readonly transcripts: (machine: Machine) => TranscriptLocation | null;
  /** The cases that its hooks do not cover, for the documentation. */
  readonly leaves_open: string;
  /** Returns the remaining steps and notes for the user after setup, by scope. */
  readonly remarks: (scope: SettingsScope) => readonly string[];
}

/** Returns the hooks that setup installs. */
export function listInstalledHooks({ wanted_hooks, opening_event }: AgentSettings): readonly WantedHook[] {
  return opening_event === undefined
    ? wanted_hooks
    : [...wanted_hooks, { event: opening_event, matcher: null }];
}

/** Returns the location of one file. */
export function defineSettingsFile(
  scope: SettingsScope,
  path: string,
  format: SettingsFormat = 'json',
): SettingsLocation {
  return { scope, path, is_folder: false, format };
}
