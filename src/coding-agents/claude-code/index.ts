import type { CodingAgent } from '../record/coding-agent.ts';
import { claudeCodeDialect } from './dialect.ts';
import { claudeCodeDoctor } from './doctor.ts';
import { claudeCodeSettings } from './settings.ts';
import { claudeCodeTranscript } from './transcript.ts';

export const claudeCode: CodingAgent = {
  name: claudeCodeDialect.name,
  label: 'Claude Code',
  dialect: claudeCodeDialect,
  settings: claudeCodeSettings,
  transcript: claudeCodeTranscript,
  doctor: claudeCodeDoctor,
};
