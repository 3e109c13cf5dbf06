import type { CodingAgent } from '../record/coding-agent.ts';
import { codexDialect } from './dialect.ts';
import { codexDoctor } from './doctor.ts';
import { codexSettings } from './settings.ts';
import { codexTranscript } from './transcript.ts';

export const codex: CodingAgent = {
  name: codexDialect.name,
  label: 'Codex CLI',
  dialect: codexDialect,
  settings: codexSettings,
  transcript: codexTranscript,
  doctor: codexDoctor,
};
