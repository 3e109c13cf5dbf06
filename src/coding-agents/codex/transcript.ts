import { readMembers } from '../record/json-members.ts';
import {
  readShortName,
  readTime,
  type ToolRun,
  type TranscriptFormat,
  type TranscriptParser,
} from '../record/transcript.ts';

/**
 * The transcripts of Codex CLI: one line for each item of a conversation. The first line names the session and its
 * folder.
 */
export const codexTranscript: TranscriptFormat = {
  markers: ['_call"'],
  open,
};

/**
 * The tools for which Codex calls hooks: shells, patches, subagents and MCP tools. It calls none for tools that run at
 * the provider, or for input to a running shell.
 */
const HOOKED =
  /^(?:shell|shell_command|local_shell|exec_command|container\.exec|apply_patch|spawn_agent|mcp__.*)$/;
const NOT_HOOKED = ['web_search', 'write_stdin'];

function open(): TranscriptParser {
  let session_id: string | null = null;
  let cwd: string | null = null;
  const runs = new Map<string, ToolRun>();
  return {
    add: (value) => {
      const line = readMembers(value);
      const item = readMembers(line.payload);
      if (line.type === 'session_meta') {
        session_id ??= readShortName(item.id);
        cwd ??= readShortName(item.cwd);
      }
      const tool = line.type === 'response_item' ? getTool(item) : null;
      if (tool === null) return;
      const id = readShortName(item.call_id);
      runs.set(id ?? `at ${runs.size}`, {
        id,
        tool,
        at_ms: readTime(line.timestamp),
        calls_hook: HOOKED.test(tool) ? 'yes' : NOT_HOOKED.includes(tool) ? 'no' : 'unknown',
      });
    },
    finish: () =>
      session_id === null ? null : { session_id, cwd, cwd_sha256: null, runs: [...runs.values()] },
  };
}

function getTool({ type, name }: Readonly<Record<string, unknown>>): string | null {
  if (type === 'function_call' || type === 'custom_tool_call') return readShortName(name);
  if (type === 'local_shell_call') return 'local_shell';
  return type === 'web_search_call' ? 'web_search' : null;
}
