import {
  type AgentDoctor,
  ASKING_OUTPUT,
  continueWith,
  explainExitCode,
  explainMissingOutput,
  type HookOutput,
  isObject,
  type OutputReading,
  PASSING_OUTPUT,
  type ProbeContext,
  parseObject,
  readMembersAt,
  STOPPING_OUTPUT,
  stopWith,
} from '../record/doctor.ts';
import { buildFailedCheck } from '../record/doctor-check.ts';
import { checkDisableAllHooks } from '../record/settings-checks.ts';

/**
 * The behaviour of GitHub Copilot CLI. A failed hook denies a tool call, unless it is late; at every other event the
 * failure is ignored. The spelling of an event's name determines the shape of its payload.
 */
export const copilotDoctor: AgentDoctor = {
  buildPayload,
  defaultTimeout: () => 30_000,
  readOutput,
  checkAllHooks: (files) => checkDisableAllHooks('copilot', files),
  // Copilot skips the whole entry if its matcher is not a valid regular expression.
  checkEntry: ({ event, matcher }, subject) =>
    /^[a-z]/.test(event) && (matcher === '*' || matcher === '**')
      ? [
          buildFailedCheck(
            'hook.matcher',
            subject,
            `Copilot cannot parse the matcher \`${matcher}\` and skips the hook.`,
            'Remove the matcher.',
          ),
        ]
      : [],
};

/** Returns the event for both spellings of its name. */
function normalizeEvent(event: string): string {
  const small = event.charAt(0).toLowerCase() + event.slice(1);
  return small === 'userPromptSubmit' ? 'userPromptSubmitted' : small;
}

function buildPayload(event: string, probe: ProbeContext): object | null {
  const own = buildEventMembers(normalizeEvent(event), probe.text);
  if (own === null) return null;
  const { session_id, cwd, now_ms } = probe;
  if (/^[a-z]/.test(event)) return { sessionId: session_id, timestamp: now_ms, cwd, ...own };
  const { toolName, toolArgs, toolResult, ...rest } = own;
  return {
    hook_event_name: event,
    session_id,
    timestamp: new Date(now_ms).toISOString(),
    cwd,
    ...rest,
    ...(toolName !== undefined && { tool_name: 'Bash', tool_input: toolArgs }),
    ...(toolResult !== undefined && {
      tool_result: { result_type: 'success', text_result_for_llm: probe.text },
    }),
  };
}

function buildEventMembers(event: string, text: string): Record<string, unknown> | null {
  const call = { toolName: 'bash', toolArgs: { command: text } };
  if (event === 'preToolUse' || event === 'permissionRequest') return call;
  if (event === 'postToolUse')
    return {
      ...call,
      toolArgs: { command: 'true' },
      toolResult: { resultType: 'success', textResultForLlm: text },
    };
  return event === 'userPromptSubmitted' ? { prompt: text } : null;
}

function readOutput(written: string, answer: HookOutput, _hook: unknown, probe: string): OutputReading {
  const event = normalizeEvent(written);
  const overdue = explainMissingOutput(answer);
  if (answer.is_late) return continueWith(overdue!);
  const { code } = answer;
  if (event === 'preToolUse' && code !== 0)
    return code === 2 ? STOPPING_OUTPUT : stopWith(overdue ?? explainExitCode(code));
  if (event === 'permissionRequest' && code === 2) return STOPPING_OUTPUT;
  if (event === 'userPromptSubmitted')
    return { effect: 'unheard', fault: code === 0 || code === 2 ? null : explainExitCode(code) };
  if (code !== 0) return continueWith(overdue ?? explainExitCode(code));
  const text = removeProgressLines(answer.stdout);
  if (text === '') return PASSING_OUTPUT;
  const output = parseObject(text);
  if (output === null) return continueWith('what it writes is not one JSON object');
  if (event === 'permissionRequest') return output.behavior === 'deny' ? STOPPING_OUTPUT : PASSING_OUTPUT;
  if (event === 'preToolUse') return readDecision(output.permissionDecision);
  const result = readMembersAt(output, ['modifiedResult']);
  const isReplaced = result.resultType === 'success' && typeof result.textResultForLlm === 'string';
  return isReplaced && !(result.textResultForLlm as string).includes(probe)
    ? STOPPING_OUTPUT
    : PASSING_OUTPUT;
}

function readDecision(decision: unknown): OutputReading {
  if (decision === 'deny') return STOPPING_OUTPUT;
  return decision === 'ask' ? ASKING_OUTPUT : PASSING_OUTPUT;
}

/** Removes lines that report progress, which Copilot skips too. */
function removeProgressLines(stdout: string): string {
  const lines = stdout.split('\n').filter((line) => {
    const value = parseObject(line);
    return !(isObject(value) && value.type === 'progress');
  });
  return lines.join('\n').trim();
}
