import { readMembers } from '../record/json-members.ts';
import {
  keepCall,
  readList,
  readShortName,
  readTime,
  type ToolRun,
  type TranscriptFormat,
  type TranscriptParser,
} from '../record/transcript.ts';

/**
 * The transcripts of Gemini CLI: one line for each message, repeated whenever it changes; in older versions one
 * document with all messages. Its hooks receive no call ID, so calls are counted.
 */
export const geminiTranscript: TranscriptFormat = {
  markers: ['"toolCalls"'],
  open,
};

function open(keepsCalls = false): TranscriptParser {
  let sessionId: string | null = null;
  let cwdSha256: string | null = null;
  const runs = new Map<string, ToolRun>();
  const addMessage = (message: Readonly<Record<string, unknown>>): void => {
    for (const call of readList(message.toolCalls)) {
      const id = readShortName(call.id);
      const tool = readShortName(call.name);
      // A denied or cancelled call did not run, and for a failed call the transcript does not state whether it ran.
      if (id === null || tool === null || call.status !== 'success') continue;
      const kept = keepCall(keepsCalls, () => ({ tool, input: call.args }));
      runs.set(id, { id: null, tool, at_ms: readTime(call.timestamp), calls_hook: 'yes', ...kept });
    }
  };
  const addRecord = (record: Readonly<Record<string, unknown>>): void => {
    sessionId ??= readShortName(record.sessionId);
    cwdSha256 ??= readShortName(record.projectHash);
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
      sessionId === null
        ? null
        : { session_id: sessionId, cwd: null, cwd_sha256: cwdSha256, runs: [...runs.values()] },
  };
}
