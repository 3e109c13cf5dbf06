import type { CodingAgentRecord } from '../record/coding-agent.ts';
import { claudeCodeDialect } from './dialect.ts';

export const claudeCode: CodingAgentRecord = {
  name: claudeCodeDialect.name,
  label: 'Claude Code',
  dialect: claudeCodeDialect,
  load: async () => ({
    settings: (await import('./settings.ts')).claudeCodeSettings,
    transcript: (await import('./transcript.ts')).claudeCodeTranscript,
    doctor: (await import('./doctor.ts')).claudeCodeDoctor,
    traces: (await import('./traces.ts')).claudeCodeTraces,
  }),
};
