import type { CodingAgent } from '../record/coding-agent.ts';
import { cursorDialect } from './dialect.ts';
import { cursorDoctor } from './doctor.ts';
import { cursorSettings } from './settings.ts';

export const cursor: CodingAgent = {
  name: cursorDialect.name,
  label: 'Cursor',
  dialect: cursorDialect,
  settings: cursorSettings,
  transcript: null,
  doctor: cursorDoctor,
};
