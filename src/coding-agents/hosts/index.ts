import type { Host } from './host.ts';
import { claudeCode } from './records/claude-code.ts';
import { codex } from './records/codex.ts';
import { copilot } from './records/copilot.ts';
import { cursor } from './records/cursor.ts';
import { gemini } from './records/gemini.ts';

export { hookCommand, quoted, withProjectFolder, wordsOf } from './command.ts';
export { installed, readDocument } from './document.ts';
export type { Host, InstalledHook, Machine, Scope, SettingsPlace } from './host.ts';
export { filesOf, installedIn } from './places.ts';
export {
  type Made,
  named,
  type OpenSetup,
  openSetup,
  type SettingsChange,
  type Wish,
} from './setup/apply.ts';
export { deleteSettings, readSettings, writeSettings } from './setup/files.ts';
export { hooksPart, serverPart } from './setup/parts.ts';

/** Every coding agent that can be set up, in the order of the alphabet. */
export const hosts: readonly Host[] = [claudeCode, codex, copilot, cursor, gemini];
