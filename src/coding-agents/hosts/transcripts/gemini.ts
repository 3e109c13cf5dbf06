import { membersOf } from '../members.ts';
import {
  listOf,
  nameOf,
  type ToolRun,
  type TranscriptForm,
  type TranscriptTaker,
  timeOf,
} from './transcript.ts';

/**
 * Gemini CLI: a line for each message, again whenever it changed; in older versions one document of all messages. Its
 * hooks are not told which call it is, so that calls are counted.
 */
export const gemini: TranscriptForm = {
  host: 'gemini',
  marks: ['"toolCalls"'],
  open,
};

function open(): TranscriptTaker {
  let session_id: string | null = null;
  let cwd_sha256: string | null = null;
  const runs = new Map<string, ToolRun>();
  const takeMessage = (message: Readonly<Record<string, unknown>>): void => {
    for (const call of listOf(message.toolCalls)) {
      const id = nameOf(call.id);
      const tool = nameOf(call.name);
      // What was refused or cancelled did not run; whether what failed did is not said.
      if (id === null || tool === null || call.status !== 'success') continue;
      runs.set(id, { id: null, tool, at_ms: timeOf(call.timestamp), is_asked: 'yes' });
    }
  };
  const takeWhole = (record: Readonly<Record<string, unknown>>): void => {
    session_id ??= nameOf(record.sessionId);
    cwd_sha256 ??= nameOf(record.projectHash);
    for (const message of listOf(record.messages)) takeMessage(message);
  };
  return {
    take: (value) => {
      const record = membersOf(value);
      takeWhole(record);
      takeWhole(membersOf(record.$set));
      takeMessage(record);
    },
    done: () =>
      session_id === null ? null : { session_id, cwd: null, cwd_sha256, runs: [...runs.values()] },
  };
}
