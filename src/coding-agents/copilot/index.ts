import type { CodingAgent } from '../record/coding-agent.ts';
import { copilotDialect } from './dialect.ts';
import { copilotDoctor } from './doctor.ts';
import { copilotSettings } from './settings.ts';
import { copilotTranscript } from './transcript.ts';

export const copilot: CodingAgent = {
  name: copilotDialect.name,
  label: 'GitHub Copilot CLI',
  dialect: copilotDialect,
  settings: copilotSettings,
  transcript: copilotTranscript,
  doctor: copilotDoctor,
};
