import {
  type Answer,
  ASKS,
  codeFault,
  GOES_ON,
  goesOn,
  type HostSide,
  type InstalledHook,
  objectIn,
  type ProbePlace,
  type Reading,
  STOPS,
  startWith,
  stopsFor,
  unfinished,
} from './host.ts';

/**
 * Cursor. Exit code 0 with a JSON permission, or exit code 2; everything else lets the call go on, unless the hook is
 * entered with `failClosed`.
 */
export const cursor: HostSide = {
  name: 'cursor',
  payload,
  timeoutOf: () => 60_000,
  start: (hook, { project, home, scope }) => {
    const cwd = scope === 'user' ? `${home}/.cursor` : project;
    const env = { CURSOR_PROJECT_DIR: project, CLAUDE_PROJECT_DIR: project, ...hook.env };
    return startWith(['/bin/sh', '-c'], hook, cwd, env);
  },
  read,
};

/** What each event has of its own. A result can be replaced where it is that of an MCP tool. */
const OWN: Readonly<Record<string, (text: string, place: ProbePlace) => object>> = {
  beforeMCPExecution: (text) => ({
    tool_name: 'probe',
    tool_input: JSON.stringify({ text }),
    command: 'probe',
  }),
  beforeReadFile: (text, { cwd }) => ({ file_path: `${cwd}/probe.txt`, content: text, attachments: [] }),
  beforeShellExecution: (command, { cwd }) => ({ command, cwd, sandbox: false }),
  beforeSubmitPrompt: (prompt) => ({ prompt, attachments: [] }),
  beforeTabFileRead: (text, { cwd }) => ({ file_path: `${cwd}/probe.txt`, content: text }),
  postToolUse: (text, { session_id }) => ({
    tool_name: 'MCP:probe',
    tool_input: {},
    tool_output: JSON.stringify({ text }),
    tool_use_id: session_id,
    duration: 1,
  }),
  preToolUse: (command, { cwd, session_id }) => ({
    tool_name: 'Shell',
    tool_input: { command },
    tool_use_id: session_id,
    cwd,
  }),
  subagentStart: (task, { session_id }) => ({
    subagent_id: 'probe',
    subagent_type: 'probe',
    task,
    parent_conversation_id: session_id,
  }),
};

function payload(event: string, place: ProbePlace): object | null {
  if (!Object.hasOwn(OWN, event)) return null;
  return {
    conversation_id: place.session_id,
    generation_id: 'probe',
    model: 'probe',
    hook_event_name: event,
    cursor_version: 'probe',
    workspace_roots: [place.cwd],
    user_email: null,
    transcript_path: null,
    ...OWN[event]!(place.text, place),
  };
}

/** Where the host asks its user. */
const ASKED = ['beforeMCPExecution', 'beforeShellExecution'];

function read(event: string, answer: Answer, hook: InstalledHook, probe: string): Reading {
  const broken = (fault: string): Reading => (hook.fails_closed ? stopsFor(fault) : goesOn(fault));
  const late = unfinished(answer);
  if (late !== null) return broken(late);
  const { code, stdout } = answer;
  if (code === 2) return event === 'postToolUse' ? goesOn('exit code 2 does not take a result back') : STOPS;
  if (code !== 0) return broken(codeFault(code));
  const said = objectIn(stdout);
  if (said === null) return broken('what it writes is no JSON object');
  if (event === 'beforeSubmitPrompt') return said.continue === false ? STOPS : GOES_ON;
  if (event === 'postToolUse') {
    const shown = said.updated_mcp_tool_output;
    return shown !== undefined && !JSON.stringify(shown).includes(probe) ? STOPS : GOES_ON;
  }
  if (said.permission === 'deny') return STOPS;
  if (said.permission !== 'ask') return GOES_ON;
  if (ASKED.includes(event)) return ASKS;
  return event === 'subagentStart' ? STOPS : goesOn('`ask` is not enforced at this event');
}
