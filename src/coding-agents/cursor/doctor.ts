import {
  type AgentDoctor,
  ASKING_OUTPUT,
  type ConfiguredHook,
  continueWith,
  explainExitCode,
  explainMissingOutput,
  type HookOutput,
  type OutputReading,
  PASSING_OUTPUT,
  type ProbeContext,
  parseObject,
  STOPPING_OUTPUT,
  stopWith,
} from '../record/doctor.ts';
import { buildFailedCheck } from '../record/doctor-check.ts';

/**
 * The behaviour of Cursor. It accepts exit code 0 with a JSON permission, or exit code 2. After anything else the call
 * continues, unless the hook's entry sets `failClosed`.
 */
export const cursorDoctor: AgentDoctor = {
  buildPayload,
  defaultTimeout: () => 60_000,
  getFolder: ({ project, home }, scope) => (scope === 'user' ? `${home}/.cursor` : project),
  readOutput,
  checkEntry: ({ fails_closed }, subject) =>
    fails_closed
      ? []
      : [
          buildFailedCheck(
            'hook.fail_closed',
            subject,
            'Cursor allows the call after every failure of the hook: `failClosed` is not set.',
            'Set `"failClosed": true`, as `customshouse setup cursor` does.',
          ),
        ],
};

/** The members that only one event has. Cursor can replace only the result of an MCP tool. */
const OWN: Readonly<Record<string, (text: string, probe: ProbeContext) => object>> = {
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

function buildPayload(event: string, probe: ProbeContext): object | null {
  if (!Object.hasOwn(OWN, event)) return null;
  return {
    conversation_id: probe.session_id,
    generation_id: 'probe',
    model: 'probe',
    hook_event_name: event,
    cursor_version: 'probe',
    workspace_roots: [probe.cwd],
    user_email: null,
    transcript_path: null,
    ...OWN[event]!(probe.text, probe),
  };
}

/** The events at which Cursor can ask its user. */
const CONSENT_EVENTS = ['beforeMCPExecution', 'beforeShellExecution'];

function readOutput(event: string, answer: HookOutput, hook: ConfiguredHook, probe: string): OutputReading {
  const broken = (fault: string): OutputReading =>
    hook.fails_closed ? stopWith(fault) : continueWith(fault);
  const overdue = explainMissingOutput(answer);
  if (overdue !== null) return broken(overdue);
  const { code, stdout } = answer;
  if (code === 2)
    return event === 'postToolUse'
      ? continueWith('exit code 2 does not take a result back')
      : STOPPING_OUTPUT;
  if (code !== 0) return broken(explainExitCode(code));
  const output = parseObject(stdout);
  if (output === null) return broken('what it writes is no JSON object');
  if (event === 'beforeSubmitPrompt') return output.continue === false ? STOPPING_OUTPUT : PASSING_OUTPUT;
  if (event === 'postToolUse') {
    const shown = output.updated_mcp_tool_output;
    return shown !== undefined && !JSON.stringify(shown).includes(probe) ? STOPPING_OUTPUT : PASSING_OUTPUT;
  }
  if (output.permission === 'deny') return STOPPING_OUTPUT;
  if (output.permission !== 'ask') return PASSING_OUTPUT;
  if (CONSENT_EVENTS.includes(event)) return ASKING_OUTPUT;
  return event === 'subagentStart' ? STOPPING_OUTPUT : continueWith('`ask` is not enforced at this event');
}
