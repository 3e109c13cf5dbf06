import type { CodingAgent } from '../record/coding-agent.ts';
import { geminiDialect } from './dialect.ts';
import { geminiDoctor } from './doctor.ts';
import { geminiSettings } from './settings.ts';
import { geminiTranscript } from './transcript.ts';

export const gemini: CodingAgent = {
  name: geminiDialect.name,
  label: 'Gemini CLI',
  dialect: geminiDialect,
  settings: geminiSettings,
  transcript: geminiTranscript,
  doctor: geminiDoctor,
};
