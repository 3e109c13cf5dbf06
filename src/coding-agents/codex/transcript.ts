import type { Json } from '../../core/types/index.ts';
import { quoteArg } from '../record/hook-command.ts';
import { type JsonMembers, readMembers } from '../record/json-members.ts';
import { parseIfJson } from '../record/payload.ts';
import {
  type HookCall,
  keepCall,
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

function open(keepsCalls = false): TranscriptParser {
  let sessionId: string | null = null;
  let cwd: string | null = null;
  const runs = new Map<string, ToolRun>();
  return {
    add: (value) => {
      const line = readMembers(value);
      const item = readMembers(line.payload);
      if (line.type === 'session_meta') {
        sessionId ??= readShortName(item.id);
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
        ...keepCall(keepsCalls, () => buildHookCall(tool, item)),
      });
    },
    finish: () =>
      sessionId === null ? null : { session_id: sessionId, cwd, cwd_sha256: null, runs: [...runs.values()] },
  };
}

function getTool({ type, name }: Readonly<Record<string, unknown>>): string | null {
  if (type === 'function_call' || type === 'custom_tool_call') return readShortName(name);
  if (type === 'local_shell_call') return 'local_shell';
  return type === 'web_search_call' ? 'web_search' : null;
}

const SHELLS = /^(?:shell|shell_command|local_shell|exec_command|container\.exec)$/;

/** Returns a call as Codex gives it to a hook, which receives every shell as `Bash` and a patch as a command. */
function buildHookCall(tool: string, item: JsonMembers): HookCall {
  const input = parseIfJson((item.arguments ?? item.input ?? item.action ?? {}) as Json);
  if (SHELLS.test(tool)) {
    const { command, cmd } = readMembers(input);
    return { tool: 'Bash', input: { command: joinCommand(command ?? cmd ?? input) } };
  }
  if (tool === 'apply_patch' && typeof input === 'string') return { tool, input: { command: input } };
  return { tool, input };
}

/** Returns a command's script. The command is a text or a list of words. */
function joinCommand(command: unknown): string {
  if (!Array.isArray(command)) return typeof command === 'string' ? command : JSON.stringify(command);
  const [program = '', option = '', script, ...more] = command.map(String);
  const runsScript = /(?:^|\/)(?:ba|da|z)?sh$/.test(program) && /^-\w*c$/.test(option);
  if (runsScript && script !== undefined && more.length === 0) return script;
  return command.map((word) => quoteArg(String(word))).join(' ');
}
