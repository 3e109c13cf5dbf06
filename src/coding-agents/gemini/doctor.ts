import {
  type AgentDoctor,
  continueWith,
  explainExitCode,
  explainMissingOutput,
  type HookOutput,
  type HookSwitches,
  type LocatedHook,
  type OutputReading,
  PASSING_OUTPUT,
  type ProbeContext,
  parseObject,
  readMembersAt,
  type SettingsFile,
  STOPPING_OUTPUT,
} from '../record/doctor.ts';
import { buildFailedCheck, type DoctorCheck } from '../record/doctor-check.ts';
import { buildFileSubject } from '../record/settings-checks.ts';

/**
 * The behaviour of Gemini CLI. With exit code 0 it reads standard output, and anything that is not JSON is an allow.
 * Exit code 2 denies if standard error is not empty. Every other code is a warning.
 */
export const geminiDoctor: AgentDoctor = {
  buildPayload,
  defaultTimeout: () => 60_000,
  readOutput,
  checkAllHooks: checkHooksEnabled,
  checkSingleHooks: checkDisabledList,
};

function buildPayload(event: string, { text, session_id, cwd, now_ms }: ProbeContext): object | null {
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

function readOutput(_event: string, answer: HookOutput): OutputReading {
  const overdue = explainMissingOutput(answer);
  if (overdue !== null) return continueWith(overdue);
  const { code, stdout, stderr } = answer;
  if (code === 2)
    return stderr.trim() === ''
      ? continueWith('exit code 2 without a reason on standard error')
      : STOPPING_OUTPUT;
  if (code !== 0) return continueWith(explainExitCode(code));
  if (stdout.trim() === '') return PASSING_OUTPUT;
  const output = parseObject(stdout);
  if (output === null) return continueWith('what it writes is no JSON, which is an allow there');
  return output.decision === 'deny' || output.decision === 'block' || output.continue === false
    ? STOPPING_OUTPUT
    : PASSING_OUTPUT;
}

function checkHooksEnabled(files: readonly SettingsFile[]): readonly DoctorCheck[] {
  return files
    .filter(
      ({ document }) =>
        readMembersAt(document, ['hooksConfig']).enabled === false ||
        readMembersAt(document, ['tools']).enableHooks === false,
    )
    .map((file) =>
      buildFailedCheck(
        'coding_agent.hooks_on',
        buildFileSubject('gemini', file),
        'Hooks are switched off.',
        'Set `hooksConfig.enabled` to true.',
      ),
    );
}

/** Gemini CLI disables single hooks by their name, or by their command if they have no name. */
function checkDisabledList(hooks: readonly LocatedHook[], files: readonly SettingsFile[]): HookSwitches {
  const names = files.flatMap(({ document }) => {
    const { disabled } = readMembersAt(document, ['hooksConfig']);
    return Array.isArray(disabled) ? (disabled as unknown[]) : [];
  });
  const off = hooks.filter(({ file, hook }) =>
    [readMembersAt(file.document, hook.path).name, hook.command].some((each) => names.includes(each)),
  );
  const checks = off.map(({ file, hook }) =>
    buildFailedCheck(
      'coding_agent.hooks_on',
      buildFileSubject('gemini', file, hook.event),
      'The hook is switched off by `hooksConfig.disabled`.',
      'Remove it from that list, or use /hooks enable.',
    ),
  );
  return { checks, off: new Set(off.map(({ hook }) => hook)) };
}
