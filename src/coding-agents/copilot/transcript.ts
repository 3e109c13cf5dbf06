import { readMembers } from '../record/json-members.ts';
import {
  keepCall,
  readShortName,
  readTime,
  type ToolRun,
  type TranscriptFormat,
  type TranscriptParser,
} from '../record/transcript.ts';

/**
 * The transcripts of GitHub Copilot CLI: one line for each event of a session. Its hooks receive no call ID, so calls
 * are counted. A hook may receive tool names in the spelling of Claude Code.
 */
export const copilotTranscript: TranscriptFormat = {
  markers: ['"tool.execution_start"'],
  open,
  normalizeTool: (name) => NAMES.get(name) ?? name,
};

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Agent: 'task',
    AskUserQuestion: 'ask_user',
    Bash: 'bash',
    Edit: 'edit',
    Glob: 'glob',
    Grep: 'grep',
    Read: 'view',
    TodoWrite: 'update_todo',
    WebFetch: 'web_fetch',
    WebSearch: 'web_search',
    Write: 'create',
    apply_patch: 'edit',
    powershell: 'bash',
    rg: 'grep',
    str_replace_editor: 'edit',
  }),
);

function open(keepsCalls = false): TranscriptParser {
  let sessionId: string | null = null;
  let cwd: string | null = null;
  const runs = new Map<string, ToolRun>();
  return {
    add: (value) => {
      const event = readMembers(value);
      const data = readMembers(event.data);
      sessionId ??= readShortName(data.sessionId);
      cwd ??= readShortName(readMembers(data.context).cwd);
      const tool = readShortName(data.toolName);
      if (event.type !== 'tool.execution_start' || tool === null) return;
      const id = readShortName(data.toolCallId) ?? `at ${runs.size}`;
      const kept = keepCall(keepsCalls, () => ({ tool, input: data.arguments }));
      runs.set(id, { id: null, tool, at_ms: readTime(event.timestamp), calls_hook: 'yes', ...kept });
    },
    finish: () =>
      sessionId === null ? null : { session_id: sessionId, cwd, cwd_sha256: null, runs: [...runs.values()] },
  };
}
