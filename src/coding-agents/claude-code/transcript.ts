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
 * The transcripts of Claude Code: one line for each message. Messages of the assistant hold tool calls, and messages of
 * the user hold their results. Subagents of a session write their own files under its name.
 */
export const claudeCodeTranscript: TranscriptFormat = {
  markers: ['"tool_use"', '<tool_use_error>'],
  open,
};

/** A tool that ends the conversation and calls no hook. */
const NOT_HOOKED = 'EndConversation';
/** The beginning of the result if the tool did not run: it is unknown, or its arguments are invalid. */
const REFUSED = '<tool_use_error>';

function open(keepsCalls = false): TranscriptParser {
  let sessionId: string | null = null;
  let cwd: string | null = null;
  const runs = new Map<string, ToolRun>();
  const addResult = (block: Readonly<Record<string, unknown>>): void => {
    const run = runs.get(String(block.tool_use_id));
    // An MCP server writes its own error texts, so they do not show whether the tool ran.
    if (run === undefined || run.tool.startsWith('mcp__')) return;
    if (block.is_error === true && typeof block.content === 'string' && block.content.startsWith(REFUSED))
      runs.delete(String(block.tool_use_id));
  };
  return {
    add: (value) => {
      const line = readMembers(value);
      sessionId ??= readShortName(line.sessionId);
      cwd ??= readShortName(line.cwd);
      for (const block of readList(readMembers(line.message).content)) {
        const id = readShortName(block.id);
        const tool = readShortName(block.name);
        if (block.type === 'tool_use' && line.type === 'assistant' && id !== null && tool !== null)
          runs.set(id, {
            id,
            tool,
            at_ms: readTime(line.timestamp),
            calls_hook: tool === NOT_HOOKED ? 'no' : 'yes',
            ...keepCall(keepsCalls, () => ({ tool, input: block.input })),
          });
        if (block.type === 'tool_result') addResult(block);
      }
    },
    finish: () =>
      sessionId === null ? null : { session_id: sessionId, cwd, cwd_sha256: null, runs: [...runs.values()] },
  };
}
