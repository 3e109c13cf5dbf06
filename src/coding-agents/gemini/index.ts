import type { CodingAgentRecord } from '../record/coding-agent.ts';
import { geminiDialect } from './dialect.ts';

export const gemini: CodingAgentRecord = {
  name: geminiDialect.name,
  label: 'Gemini CLI',
  dialect: geminiDialect,
  load: async () => ({
    settings: (await import('./settings.ts')).geminiSettings,
    transcript: (await import('./transcript.ts')).geminiTranscript,
    doctor: (await import('./doctor.ts')).geminiDoctor,
    traces: (await import('./traces.ts')).geminiTraces,
  }),
};
