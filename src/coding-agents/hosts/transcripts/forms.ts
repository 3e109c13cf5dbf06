import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { gemini } from './gemini.ts';
import type { TranscriptForm } from './transcript.ts';

/** Every host whose transcripts have a form that is known. */
export const transcriptForms: readonly TranscriptForm[] = [claudeCode, codex, copilot, gemini];
