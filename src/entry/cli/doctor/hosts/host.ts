import type { InstalledHook as Entered, Scope } from '../../../../coding-agents/hosts/index.ts';

/** A hook of ours in a settings file of a host, with all that the host looks at when it runs it. */
export interface InstalledHook extends Entered {
  /** Where it is run, from the project's folder; `null`: there. */
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** Whether the host goes on without waiting for it. */
  readonly in_background: boolean;
}

/** How a process is started. */
export interface Start {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Beside the environment of whoever asks. */
  readonly env: Readonly<Record<string, string>>;
}

/** Where a host runs its hooks. */
export interface HostFolder {
  readonly project: string;
  readonly home: string;
  readonly scope: Scope;
  /** `$SHELL`, where it is set. */
  readonly shell: string | null;
}

/** What came of a hook that was run. */
export interface Answer {
  /** `null`: it was ended by a signal, or did not start. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** It was still running when the host would have gone on. */
  readonly is_late: boolean;
}

/**
 * What a host does with an answer: it lets nothing happen, asks its user, goes on, or takes no decision at this event.
 */
export type Effect = 'stops' | 'asks' | 'goes_on' | 'unheard';

export interface Reading {
  readonly effect: Effect;
  /** What the host has against the answer, as one clause; `null`: it is as it should be. */
  readonly fault: string | null;
}

/** What a probe is put into. */
export interface ProbePlace {
  readonly text: string;
  readonly session_id: string;
  readonly cwd: string;
  readonly now_ms: number;
}

/**
 * One coding agent from its own side, from its documentation and source and not from what we answer: what it sends, how
 * it starts a hook, and what it makes of the answer.
 */
export interface HostSide {
  readonly name: string;
  /** What it sends at an event, with a probe where something is to be decided; `null`: nothing is decided there. */
  readonly payload: (event: string, place: ProbePlace) => object | null;
  /** What it waits where its settings do not say. */
  readonly timeoutOf: (event: string) => number;
  readonly start: (hook: InstalledHook, folder: HostFolder) => Start;
  readonly read: (event: string, answer: Answer, hook: InstalledHook, probe: string) => Reading;
}

export const STOPS: Reading = { effect: 'stops', fault: null };
export const ASKS: Reading = { effect: 'asks', fault: null };
export const GOES_ON: Reading = { effect: 'goes_on', fault: null };

/** The host goes on, and did not understand. */
export function goesOn(fault: string): Reading {
  return { effect: 'goes_on', fault };
}

/** The host stops, and did not understand. */
export function stopsFor(fault: string): Reading {
  return { effect: 'stops', fault };
}

/** Why an answer is none, before anything of it is read; `null`: the process ended by itself. */
export function unfinished({ code, is_late }: Answer): string | null {
  if (is_late) return 'there is no answer in the time that the host waits';
  if (code === null) return 'it did not start, or was ended by a signal';
  return null;
}

/** What an exit code says to all hosts that take one for a fault. */
export function codeFault(code: number | null): string {
  if (code === 127) return 'its program is not found (exit code 127)';
  if (code === 126) return 'its program may not be run (exit code 126)';
  return `it ended with exit code ${code}`;
}

/** The JSON object that a text is; `null`: it is none. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text.trim());
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member that is an object, or an empty one. */
export function objectAt(value: Readonly<Record<string, unknown>>, key: string): Record<string, unknown> {
  const inner = value[key];
  return isObject(inner) ? inner : {};
}

/** Whether a text is there that says something. */
export function isSaid(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

/** A line for a shell, or a program with its arguments. */
export function startWith(
  shell: readonly [file: string, ...args: string[]],
  { command, args }: InstalledHook,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Start {
  if (args !== null) return { file: command, args, cwd, env };
  const [file, ...before] = shell;
  return { file, args: [...before, command], cwd, env };
}
