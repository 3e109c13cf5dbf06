import {
  type Answer,
  codeFault,
  GOES_ON,
  goesOn,
  type HostSide,
  isSaid,
  objectAt,
  objectIn,
  type ProbePlace,
  type Reading,
  STOPS,
  startWith,
  unfinished,
} from './host.ts';

/**
 * Codex CLI. Answers are read strictly: a word that it does not know, or a no without a reason, is a failed hook, and the
 * call goes on; so does one after exit code 2 with nothing on standard error.
 */
export const codex: HostSide = {
  name: 'codex',
  payload,
  timeoutOf: () => 600_000,
  start: (hook, { project, shell }) => startWith([shell ?? '/bin/sh', '-lc'], hook, project, hook.env),
  read,
};

function payload(event: string, { text, session_id, cwd }: ProbePlace): object | null {
  const base = {
    session_id,
    turn_id: 'turn-probe',
    transcript_path: null,
    cwd,
    hook_event_name: event,
    model: 'probe',
    permission_mode: 'default',
  };
  const call = { ...base, tool_name: 'Bash', tool_input: { command: text } };
  const tool_use_id = `call_${session_id}`;
  if (event === 'PermissionRequest') return call;
  if (event === 'PreToolUse') return { ...call, tool_use_id };
  if (event === 'PostToolUse')
    return { ...call, tool_input: { command: 'true' }, tool_response: text, tool_use_id };
  if (event === 'UserPromptSubmit') return { ...base, prompt: text };
  return null;
}

const UNIVERSAL = ['continue', 'hookSpecificOutput', 'stopReason', 'suppressOutput', 'systemMessage'];
const DECIDED = ['decision', 'reason'];
const SPECIFIC: Readonly<Record<string, readonly string[]>> = {
  PermissionRequest: ['decision', 'hookEventName'],
  PostToolUse: ['additionalContext', 'hookEventName', 'updatedMCPToolOutput', 'updatedToolOutput'],
  PreToolUse: [
    'additionalContext',
    'hookEventName',
    'permissionDecision',
    'permissionDecisionReason',
    'updatedInput',
  ],
  UserPromptSubmit: ['additionalContext', 'hookEventName'],
};

function read(event: string, answer: Answer): Reading {
  const late = unfinished(answer);
  if (late !== null) return goesOn(late);
  const { code, stdout, stderr } = answer;
  if (code === 2) return isSaid(stderr) ? STOPS : goesOn('exit code 2 without a reason on standard error');
  if (code !== 0) return goesOn(codeFault(code));
  if (stdout.trim() === '') return GOES_ON;
  const said = objectIn(stdout);
  if (said === null) return goesOn('what it writes is no JSON object');
  const words = event === 'PermissionRequest' ? UNIVERSAL : [...UNIVERSAL, ...DECIDED];
  const specific = objectAt(said, 'hookSpecificOutput');
  const is_known =
    Object.keys(said).every((key) => words.includes(key)) &&
    Object.keys(specific).every((key) => SPECIFIC[event]?.includes(key));
  if (!is_known) return goesOn('its answer has a word that the host does not know');
  return event === 'PreToolUse' || event === 'PermissionRequest'
    ? readCall(event, said, specific)
    : readRest(said);
}

type Said = Readonly<Record<string, unknown>>;

function readCall(event: string, said: Said, specific: Said): Reading {
  if (said.continue === false || isSaid(said.stopReason) || said.suppressOutput === true)
    return goesOn('`continue`, `stopReason` and `suppressOutput` are not taken here');
  if (event === 'PermissionRequest') {
    const decision = objectAt(specific, 'decision');
    if (
      ['updatedInput', 'updatedPermissions'].some((key) => decision[key] !== undefined) ||
      decision.interrupt
    )
      return goesOn('its decision has a word that is not taken here');
    return decision.behavior === 'deny' ? STOPS : GOES_ON;
  }
  const { permissionDecision, permissionDecisionReason, updatedInput } = specific;
  if (permissionDecision === undefined) {
    if (said.decision === undefined) return GOES_ON;
    return said.decision === 'block' && isSaid(said.reason)
      ? STOPS
      : goesOn('`decision` is `block` with a reason, or left out');
  }
  if (permissionDecision === 'deny')
    return isSaid(permissionDecisionReason) && updatedInput === undefined
      ? STOPS
      : goesOn('a no without a reason is none');
  if (permissionDecision === 'allow' && updatedInput !== undefined) return GOES_ON;
  return goesOn('`ask`, and `allow` without changed arguments, are not taken here');
}

/** A prompt, or a result: the reason takes its place. */
function readRest(said: Said): Reading {
  if (said.decision === undefined) return said.continue === false ? STOPS : GOES_ON;
  return said.decision === 'block' && isSaid(said.reason) ? STOPS : goesOn('a no without a reason is none');
}
