import type { Json } from '../../core/types/index.ts';
import { type JsonMembers, readMembers } from './json-members.ts';

/** A tool call as the agent's hook receives it. */
export interface HookCall {
  readonly tool: string;
  readonly input: Json;
}

/** A tool call in a transcript, without its result. */
export interface ToolRun {
  /** The agent's ID of the call; `null` if its hooks do not receive one. */
  readonly id: string | null;
  readonly tool: string;
  /** `null` if the transcript does not say. */
  readonly at_ms: number | null;
  /** States whether the agent calls its hooks for this tool, according to its documentation. */
  readonly calls_hook: 'yes' | 'no' | 'unknown';
  /** Present only if the parser keeps arguments. */
  readonly call?: HookCall;
}

/** The part of a session that one file holds. */
export interface Transcript {
  readonly session_id: string;
  /** The folder in which the session began; `null` if the file does not say. */
  readonly cwd: string | null;
  /** The SHA-256 of that folder's path in hex, if the agent writes only the digest. */
  readonly cwd_sha256: string | null;
  readonly runs: readonly ToolRun[];
}

/** Collects the values of one file, in order. */
export interface TranscriptParser {
  readonly add: (value: unknown) => void;
  /** Returns `null` if the file is no transcript. */
  readonly finish: () => Transcript | null;
}

/** The format in which one agent writes transcripts. */
export interface TranscriptFormat {
  /** A relevant line contains one of these texts. All other lines after the first few are skipped without parsing. */
  readonly markers: readonly string[];
  /** Opens a parser for one file. Arguments are dropped unless `keepsCalls` is set. */
  readonly open: (keepsCalls?: boolean) => TranscriptParser;
  /** Returns the canonical name of a tool, if hooks receive it under several names. */
  readonly normalizeTool?: (name: string) => string;
}

/** Returns the members of each element of a list; an empty list for any other value. */
export function readList(value: unknown): readonly JsonMembers[] {
  return Array.isArray(value) ? value.map(readMembers) : [];
}

const NAME_UNITS_MAX = 256;

/** Returns a name that is short enough to show; `null` for any other value. */
export function readShortName(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= NAME_UNITS_MAX ? value : null;
}

/** Parses an ISO 8601 time into milliseconds since 1970; `null` for any other value. */
export function readTime(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** Returns a run's member that holds its call, if the parser keeps arguments. */
export function keepCall(
  keepsCalls: boolean,
  buildCall: () => { readonly tool: string; readonly input: unknown },
): Pick<ToolRun, 'call'> {
  if (!keepsCalls) return {};
  const { tool, input = {} } = buildCall();
  return { call: { tool, input: input as Json } };
}
