import { readMembers } from '../record/json-members.ts';
import {
  readList,
  readName,
  readTime,
  type ToolRun,
  type TranscriptFormat,
  type TranscriptParser,
} from '../record/transcript.ts';

/**
 * Gemini CLI: a line for each message, again whenever it changed; in older versions one document of all messages. Its
 * hooks are not told which call it is, so that calls are counted.
 */
export const geminiTranscript: TranscriptFormat = {
  markers: ['"toolCalls"'],
  open,
};

function open(): TranscriptParser {
  let session_id: string | null = null;
  let cwd_sha256: string | null = null;
  const runs = new Map<string, ToolRun>();
  const addMessage = (message: Readonly<Record<string, unknown>>): void => {
    for (const call of readList(message.toolCalls)) {
      const id = readName(call.id);
      const tool = readName(call.name);
      // What was refused or cancelled did not run; whether what failed did is not said.
      if (id === null || tool === null || call.status !== 'success') continue;
      runs.set(id, { id: null, tool, at_ms: readTime(call.timestamp), is_asked: 'yes' });
    }
  };
  const addRecord = (record: Readonly<Record<string, unknown>>): void => {
    session_id ??= readName(record.sessionId);
    cwd_sha256 ??= readName(record.projectHash);
    for (const message of readList(record.messages)) addMessage(message);
  };
  return {
    add: (value) => {
      const record = readMembers(value);
      addRecord(record);
      addRecord(readMembers(record.$set));
      addMessage(record);
    },
    finish: () =>
      session_id === null ? null : { session_id, cwd: null, cwd_sha256, runs: [...runs.values()] },
  };
}
