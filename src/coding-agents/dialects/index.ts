import type { Dialect, Payload } from '../protocol/dialect.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { plain } from './plain.ts';

/** Every coding agent, in the order of the alphabet. */
export const dialects: readonly Dialect[] = [claudeCode, codex, copilot, cursor, gemini, plain];

/** Claude Code's events have what those of others have too, and more of these. */
const NARROW_FIRST: readonly Dialect[] = [cursor, codex, gemini, copilot, claudeCode];

/** Whose payload it is; what is no host's is of the plain protocol. */
export function dialectOf(payload: Payload): Dialect {
  return NARROW_FIRST.find(({ recognises }) => recognises(payload)) ?? plain;
}
