import type { CheckSubject, DoctorCheck } from './doctor-check.ts';
import { readMembers } from './json-members.ts';
import type { InstalledHook, Machine, SettingsLocation, SettingsScope } from './settings.ts';

/** A hook of this program with everything that an agent reads before it runs the hook. */
export interface ConfiguredHook extends InstalledHook {
  /** The folder in which it runs, relative to the project; `null` for the project itself. */
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** True if the agent continues without waiting for it. */
  readonly in_background: boolean;
}

/** The output of a hook, and how it ended. */
export interface HookOutput {
  /** `null` if a signal ended the process or it did not start. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** True if it was still running when the agent would have continued. */
  readonly is_late: boolean;
}

/** The action of an agent after a hook: it denies, asks its user, continues, or accepts no decision at this event. */
export type HookEffect = 'stops' | 'asks' | 'goes_on' | 'unheard';

export interface OutputReading {
  readonly effect: HookEffect;
  /** The reason why the agent rejects the output, as one clause; `null` if it accepts the output. */
  readonly fault: string | null;
}

/** The values that a probe puts into a payload. */
export interface ProbeContext {
  readonly text: string;
  readonly session_id: string;
  readonly cwd: string;
  readonly now_ms: number;
}

/** A settings file of an agent that exists and was parsed. */
export interface SettingsFile {
  readonly location: SettingsLocation;
  /** The path without symbolic links, which some agents use as the key of a file. */
  readonly real_path: string;
  readonly document: unknown;
  /** The hooks of this program. */
  readonly hooks: readonly ConfiguredHook[];
  /** The number of hooks of other programs, which doctor does not run. */
  readonly other_count: number;
  readonly mtime_ms: number;
}

/** A hook and the file that it is in. */
export interface LocatedHook {
  readonly file: SettingsFile;
  readonly hook: ConfiguredHook;
}

/** The settings that decide whether the agent runs its hooks. */
export interface HookSwitches {
  readonly checks: readonly DoctorCheck[];
  /** Hooks that the agent does not run. */
  readonly off: ReadonlySet<ConfiguredHook>;
}

/**
 * The behaviour of one coding agent: its payloads, how it starts a hook, and how it reads the output. It follows the
 * agent's own documentation and source and shares nothing with the dialect, so that doctor finds mistakes of the
 * dialect.
 */
export interface AgentDoctor {
  /** Returns the agent's payload of an event with a probe in it; `null` if the event takes no decision. */
  readonly buildPayload: (event: string, probe: ProbeContext) => object | null;
  /** Returns how long the agent waits if its settings do not say. */
  readonly defaultTimeout: (event: string) => number;
  /** Returns the folder in which the agent starts hooks; without it, the project. */
  readonly getFolder?: (machine: Machine, scope: SettingsScope) => string;
  readonly readOutput: (
    event: string,
    output: HookOutput,
    hook: ConfiguredHook,
    probe: string,
  ) => OutputReading;
  /** Returns a check for each setting that disables all hooks outside of managed settings. */
  readonly checkAllHooks?: (files: readonly SettingsFile[]) => readonly DoctorCheck[];
  /** Returns which single hooks the agent skips, and why. `files` are those of all scopes. */
  readonly checkSingleHooks?: (
    hooks: readonly LocatedHook[],
    files: readonly SettingsFile[],
    machine: Machine,
  ) => HookSwitches;
  /** Returns a check for each mistake in an entry that only this agent punishes. */
  readonly checkEntry?: (hook: ConfiguredHook, subject: CheckSubject) => readonly DoctorCheck[];
}

export const STOPPING_OUTPUT: OutputReading = { effect: 'stops', fault: null };
export const ASKING_OUTPUT: OutputReading = { effect: 'asks', fault: null };
export const PASSING_OUTPUT: OutputReading = { effect: 'goes_on', fault: null };

/** Returns the reading of output that the agent rejects, after which it continues. */
export function continueWith(fault: string): OutputReading {
  return { effect: 'goes_on', fault };
}

/** Returns the reading of output that the agent rejects, after which it denies. */
export function stopWith(fault: string): OutputReading {
  return { effect: 'stops', fault };
}

/** Returns why there is no output to read; `null` if the process ended by itself. */
export function explainMissingOutput({ code, is_late }: HookOutput): string | null {
  if (is_late) return 'there is no answer in the time that the agent waits';
  if (code === null) return 'it did not start, or was ended by a signal';
  return null;
}

/** Describes an exit code that all agents treat as a failure of the hook. */
export function explainExitCode(code: number | null): string {
  if (code === 127) return 'its program is not found (exit code 127)';
  if (code === 126) return 'its program may not be run (exit code 126)';
  return `it ended with exit code ${code}`;
}

/** Parses a JSON object; `null` for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text.trim());
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Returns whether a JSON value is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the members of a value inside of a document; an empty record if there is no object at the path. */
export function readMembersAt(
  document: unknown,
  path: readonly (string | number)[],
): Readonly<Record<string, unknown>> {
  let value = document;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return {};
    value = (value as Record<string | number, unknown>)[key];
  }
  return readMembers(value);
}

/** Returns whether a value is a text that is not blank. */
export function isNonBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}
