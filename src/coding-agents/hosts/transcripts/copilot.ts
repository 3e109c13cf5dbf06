import { membersOf } from '../members.ts';
import { nameOf, type ToolRun, type TranscriptForm, type TranscriptTaker, timeOf } from './transcript.ts';

/**
 * GitHub Copilot CLI: a line for each event of a session. Its hooks are not told which call it is, so that calls are
 * counted; a hook may be told of them by the names that Claude Code has for the tools.
 */
export const copilot: TranscriptForm = {
  host: 'copilot',
  marks: ['"tool.execution_start"'],
  open,
  toolOf: (name) => NAMES.get(name) ?? name,
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

function open(): TranscriptTaker {
  let session_id: string | null = null;
  let cwd: string | null = null;
  const runs = new Map<string, ToolRun>();
  return {
    take: (value) => {
      const event = membersOf(value);
      const data = membersOf(event.data);
      session_id ??= nameOf(data.sessionId);
      cwd ??= nameOf(membersOf(data.context).cwd);
      const tool = nameOf(data.toolName);
      if (event.type !== 'tool.execution_start' || tool === null) return;
      const id = nameOf(data.toolCallId) ?? `at ${runs.size}`;
      runs.set(id, { id: null, tool, at_ms: timeOf(event.timestamp), is_asked: 'yes' });
    },
    done: () =>
      session_id === null ? null : { session_id, cwd, cwd_sha256: null, runs: [...runs.values()] },
  };
}
