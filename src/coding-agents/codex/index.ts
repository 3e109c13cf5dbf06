import type { CodingAgentRecord } from '../record/coding-agent.ts';
import { codexDialect } from './dialect.ts';

export const codex: CodingAgentRecord = {
  name: codexDialect.name,
  label: 'Codex CLI',
  dialect: codexDialect,
  load: async () => ({
    settings: (await import('./settings.ts')).codexSettings,
    transcript: (await import('./transcript.ts')).codexTranscript,
    doctor: (await import('./doctor.ts')).codexDoctor,
    traces: (await import('./traces.ts')).codexTraces,
  }),
};
