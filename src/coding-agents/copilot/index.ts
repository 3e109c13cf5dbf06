import type { CodingAgentRecord } from '../record/coding-agent.ts';
import { copilotDialect } from './dialect.ts';

export const copilot: CodingAgentRecord = {
  name: copilotDialect.name,
  label: 'GitHub Copilot CLI',
  dialect: copilotDialect,
  load: async () => ({
    settings: (await import('./settings.ts')).copilotSettings,
    transcript: (await import('./transcript.ts')).copilotTranscript,
    doctor: (await import('./doctor.ts')).copilotDoctor,
    traces: (await import('./traces.ts')).copilotTraces,
  }),
};
