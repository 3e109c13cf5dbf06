import type { CodingAgentRecord } from '../record/coding-agent.ts';
import { cursorDialect } from './dialect.ts';

export const cursor: CodingAgentRecord = {
  name: cursorDialect.name,
  label: 'Cursor',
  dialect: cursorDialect,
  load: async () => ({
    settings: (await import('./settings.ts')).cursorSettings,
    transcript: null,
    doctor: (await import('./doctor.ts')).cursorDoctor,
    traces: (await import('./traces.ts')).cursorTraces,
  }),
};
