import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import type { HostSide } from './host.ts';

/** Every coding agent, in the order of the alphabet. */
export const hostSides: readonly HostSide[] = [claudeCode, codex, copilot, cursor, gemini];
