import {
  type AgentDoctor,
  ASKING_OUTPUT,
  continueWith,
  explainExitCode,
  explainMissingOutput,
  type HookOutput,
  type OutputReading,
  PASSING_OUTPUT,
  type ProbeContext,
  parseObject,
  readMembersAt,
  STOPPING_OUTPUT,
} from '../record/doctor.ts';
import { checkDisableAllHooks } from '../record/settings-checks.ts';

/**
 * The behaviour of Claude Code. Exit code 2 denies at most events. Standard output is a decision if it begins with a
 * brace, whatever the exit code is. Anything else is shown as a notice, and the call continues.
 */
export const claudeCodeDoctor: AgentDoctor = {
  buildPayload,
  defaultTimeout: (event) => (event === 'UserPromptSubmit' ? 30_000 : 600_000),
  readOutput,
  checkAllHooks: (files) => checkDisableAllHooks('claude-code', files),
};

const CALLS = ['PermissionRequest', 'PreToolUse'];

function buildPayload(event: string, { text, session_id, cwd }: ProbeContext): object | null {
  const base = {
    session_id,
    transcript_path: `${cwd}/no-transcript.jsonl`,
    cwd,
    permission_mode: 'default',
    hook_event_name: event,
  };
  const call = { ...base, tool_name: 'Bash', tool_input: { command: text, description: 'a probe' } };
  const toolUseId = `toolu_${session_id}`;
  if (event === 'PermissionRequest') return call;
  if (event === 'PreToolUse') return { ...call, tool_use_id: toolUseId };
  if (event === 'PostToolUse')
    return {
      ...call,
      tool_input: { command: 'true' },
      tool_response: { stdout: text, stderr: '', interrupted: false, isImage: false },
      tool_use_id: toolUseId,
      duration_ms: 1,
    };
  if (event === 'UserPromptSubmit') return { ...base, prompt: text };
  return null;
}

function readOutput(event: string, answer: HookOutput, _hook: unknown, probe: string): OutputReading {
  const overdue = explainMissingOutput(answer);
  if (overdue !== null) return continueWith(overdue);
  const { code, stdout } = answer;
  // Exit code 2 overrides any output. At `PermissionRequest` Claude Code ignores it.
  if (code === 2 && event !== 'PermissionRequest')
    return event === 'PostToolUse'
      ? continueWith('exit code 2 leaves the result where the model sees it')
      : STOPPING_OUTPUT;
  if (!stdout.startsWith('{'))
    return code === 0
      ? stdout === ''
        ? PASSING_OUTPUT
        : continueWith('what it writes is no JSON')
      : continueWith(explainExitCode(code));
  const output = parseObject(stdout);
  if (output === null) return continueWith('what it writes is no JSON');
  if (output.continue === false) return STOPPING_OUTPUT;
  const specific = readMembersAt(output, ['hookSpecificOutput']);
  if (Object.keys(specific).length > 0 && specific.hookEventName !== event)
    return continueWith('its answer is for another event');
  if (CALLS.includes(event)) return readCall(event, output, specific);
  if (event === 'UserPromptSubmit') return output.decision === 'block' ? STOPPING_OUTPUT : PASSING_OUTPUT;
  const shown = specific.updatedToolOutput;
  if (shown !== undefined && !JSON.stringify(shown).includes(probe)) return STOPPING_OUTPUT;
  return output.decision === 'block'
    ? continueWith('`block` alone leaves the result where the model sees it')
    : PASSING_OUTPUT;
}

function readCall(
  event: string,
  output: Readonly<Record<string, unknown>>,
  specific: Readonly<Record<string, unknown>>,
): OutputReading {
  if (event === 'PermissionRequest')
    return readMembersAt(specific, ['decision']).behavior === 'deny' ? STOPPING_OUTPUT : PASSING_OUTPUT;
  const decision = specific.permissionDecision;
  if (decision === 'deny' || (decision === undefined && output.decision === 'block')) return STOPPING_OUTPUT;
  if (decision === 'ask') return ASKING_OUTPUT;
  const isKnown = decision === undefined || decision === 'allow' || decision === 'defer';
  return isKnown ? PASSING_OUTPUT : continueWith('it names a decision that the agent does not support');
}
