import { type Members, membersOf } from '../members.ts';
/** A tool that a host ran, as its transcript tells it: no argument and no result. */
export interface ToolRun {
  /** The host's name for the call; `null`: it gives none that its hooks are told. */
  readonly id: string | null;
  readonly tool: string;
  /** `null`: the transcript does not say. */
  readonly at_ms: number | null;
  /** Whether the host asks its hooks about this tool, as far as it is published. */
  readonly is_asked: 'yes' | 'no' | 'unknown';
}

/** What one file tells of one session. */
export interface Transcript {
  readonly session_id: string;
  /** Where the session began; `null`: it does not say. */
  readonly cwd: string | null;
  /** Hex of the SHA-256 of that folder's path, where the host writes nothing else of it. */
  readonly cwd_sha256: string | null;
  readonly runs: readonly ToolRun[];
}

/** Takes the values of a file one after the other, and says at the end what they came to. */
export interface TranscriptTaker {
  readonly take: (value: unknown) => void;
  /** `null`: it is no transcript. */
  readonly done: () => Transcript | null;
}

/** How one host writes down what it did. */
export interface TranscriptForm {
  /** The host's name. */
  readonly host: string;
  /** Texts of which a line has one where it matters; but for the first few, the others are passed over unread. */
  readonly marks: readonly string[];
  readonly open: () => TranscriptTaker;
  /** One name for a tool, however a hook is told of it. */
  readonly toolOf?: (name: string) => string;
}

/** The members of each element of a list; none where it is no list. */
export function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(membersOf) : [];
}

const NAME_UNITS_MAX = 256;

/** A name that is there and may be shown; `null` else. */
export function nameOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= NAME_UNITS_MAX ? value : null;
}

/** Milliseconds since 1970 of an ISO time; `null` where it is none. */
export function timeOf(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}
