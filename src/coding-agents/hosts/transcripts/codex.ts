import { membersOf } from '../members.ts';
import { nameOf, type ToolRun, type TranscriptForm, type TranscriptTaker, timeOf } from './transcript.ts';

/** Codex CLI: a line for each item of a conversation; the first says which session it is, and where. */
export const codex: TranscriptForm = {
  host: 'codex',
  marks: ['_call"'],
  open,
};

/** Hooks are asked about shells, patches and MCP tools; not about what runs at the provider, or input for a shell that runs. */
const ASKED =
  /^(?:shell|shell_command|local_shell|exec_command|container\.exec|apply_patch|spawn_agent|mcp__.*)$/;
const NOT_ASKED = ['web_search', 'write_stdin'];

function open(): TranscriptTaker {
  let session_id: string | null = null;
  let cwd: string | null = null;
  const runs = new Map<string, ToolRun>();
  return {
    take: (value) => {
      const line = membersOf(value);
      const item = membersOf(line.payload);
      if (line.type === 'session_meta') {
        session_id ??= nameOf(item.id);
        cwd ??= nameOf(item.cwd);
      }
      const tool = line.type === 'response_item' ? toolOf(item) : null;
      if (tool === null) return;
      const id = nameOf(item.call_id);
      runs.set(id ?? `at ${runs.size}`, {
        id,
        tool,
        at_ms: timeOf(line.timestamp),
        is_asked: ASKED.test(tool) ? 'yes' : NOT_ASKED.includes(tool) ? 'no' : 'unknown',
      });
    },
    done: () =>
      session_id === null ? null : { session_id, cwd, cwd_sha256: null, runs: [...runs.values()] },
  };
}

function toolOf({ type, name }: Readonly<Record<string, unknown>>): string | null {
  if (type === 'function_call' || type === 'custom_tool_call') return nameOf(name);
  if (type === 'local_shell_call') return 'local_shell';
  return type === 'web_search_call' ? 'web_search' : null;
}
