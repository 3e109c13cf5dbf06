import {
  type Answer,
  codeFault,
  GOES_ON,
  goesOn,
  type HostSide,
  objectIn,
  type ProbePlace,
  type Reading,
  STOPS,
  startWith,
  unfinished,
} from './host.ts';

/**
 * Gemini CLI. Standard output counts with exit code 0, and is an allow where it is no JSON; exit code 2 stops where
 * something is on standard error; every other one is a warning.
 */
export const gemini: HostSide = {
  name: 'gemini',
  payload,
  timeoutOf: () => 60_000,
  start: (hook, { project }) => {
    const quoted = `'${project.replaceAll("'", `'"'"'`)}'`;
    const command = hook.command.replaceAll(/\$(?:GEMINI|CLAUDE)_PROJECT_DIR/g, () => quoted);
    const env = { GEMINI_PROJECT_DIR: project, CLAUDE_PROJECT_DIR: project, ...hook.env };
    return startWith(['bash', '-c'], { ...hook, command }, project, env);
  },
  read,
};

function payload(event: string, { text, session_id, cwd, now_ms }: ProbePlace): object | null {
  const base = {
    session_id,
    transcript_path: `${cwd}/no-transcript.json`,
    cwd,
    hook_event_name: event,
    timestamp: new Date(now_ms).toISOString(),
  };
  const call = { ...base, tool_name: 'run_shell_command', tool_input: { command: text } };
  if (event === 'BeforeTool') return call;
  if (event === 'AfterTool')
    return {
      ...call,
      tool_input: { command: 'true' },
      tool_response: { llmContent: text, returnDisplay: text, error: null },
    };
  if (event === 'BeforeAgent') return { ...base, prompt: text };
  return null;
}

function read(_event: string, answer: Answer): Reading {
  const late = unfinished(answer);
  if (late !== null) return goesOn(late);
  const { code, stdout, stderr } = answer;
  if (code === 2)
    return stderr.trim() === '' ? goesOn('exit code 2 without a reason on standard error') : STOPS;
  if (code !== 0) return goesOn(codeFault(code));
  if (stdout.trim() === '') return GOES_ON;
  const said = objectIn(stdout);
  if (said === null) return goesOn('what it writes is no JSON, which is an allow there');
  return said.decision === 'deny' || said.decision === 'block' || said.continue === false ? STOPS : GOES_ON;
}
