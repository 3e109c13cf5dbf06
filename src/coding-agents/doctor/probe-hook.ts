import { randomBytes } from 'node:crypto';
import { PROBE_TEXTS } from '../hook-probe.ts';
import type { AgentDoctor, ConfiguredHook, HookOutput, OutputReading } from '../record/doctor.ts';
import {
  buildFailedCheck,
  buildPassedCheck,
  buildWarningCheck,
  type CheckSubject,
  type DoctorCheck,
} from '../record/doctor-check.ts';
import type { HookSurroundings } from './check-hook.ts';
import type { OwnCommand } from './own-command.ts';
import { runHookCommand } from './run-hook.ts';

/** The longest wait for one hook. Some agents would wait for minutes. */
const WAIT_MS_MAX = 30_000;

/** One hook to test. */
export interface HookTrial {
  readonly doctor: AgentDoctor;
  readonly hook: ConfiguredHook;
  readonly command: OwnCommand;
  readonly surroundings: HookSurroundings;
  readonly subject: CheckSubject;
  /**
   * Evaluates the policy on the harmless payload. Returns why the policy does not allow it, as a clause; `null` if it
   * does.
   */
  readonly explainDenial: (payload: object, event: string) => Promise<string | null>;
  /** True if the agent runs the hook and waits for it, according to its settings. */
  readonly is_enabled: boolean;
  readonly now_ms: () => number;
}

/** The result of testing one hook. */
export interface HookTrialResult {
  readonly checks: readonly DoctorCheck[];
  /** The session ID of its probes in the audit log; `null` if nothing was sent. */
  readonly session_id: string | null;
  /** True if the agent would deny the call. */
  readonly blocks: boolean;
  /** True if the output was correct, so that the audit log must have an event. */
  readonly is_understood: boolean;
}

/** Sends both probes through a hook as its agent would, and checks what the agent would do after each. */
export async function tryHook(trial: HookTrial): Promise<HookTrialResult> {
  const { doctor, hook, surroundings, subject, explainDenial, is_enabled, now_ms } = trial;
  const sessionId = `service-doctor-${randomBytes(8).toString('hex')}`;
  const buildPayload = (text: string) =>
    doctor.buildPayload(hook.event, {
      text,
      session_id: sessionId,
      cwd: surroundings.project,
      now_ms: now_ms(),
    });
  const destructive = buildPayload(PROBE_TEXTS.block);
  const harmless = buildPayload(PROBE_TEXTS.pass);
  if (destructive === null || harmless === null)
    return { checks: [], session_id: null, blocks: false, is_understood: false };
  const denied = await sendProbe(trial, destructive, PROBE_TEXTS.block);
  const failedDenial = checkDenial(denied, subject);
  if (failedDenial !== null)
    return {
      checks: [failedDenial],
      session_id: sessionId,
      blocks: is_enabled && denied.reading.effect === 'stops',
      is_understood: false,
    };
  const policyDenial = await explainDenial(harmless, hook.event);
  const failedPass =
    policyDenial === null ? checkPass(await sendProbe(trial, harmless, PROBE_TEXTS.pass), subject) : null;
  const isComplete = policyDenial === null && failedPass === null;
  const blocks = is_enabled
    ? buildPassedCheck(
        'hook.blocks',
        subject,
        `It blocks${isComplete ? ', and allows a harmless call' : ''}.`,
      )
    : buildWarningCheck(
        'hook.blocks',
        subject,
        'It would block, but the agent does not run it or does not wait for it.',
        null,
      );
  const other = policyDenial === null ? failedPass : warnUntested(policyDenial, subject);
  return {
    checks: other === null ? [blocks] : [blocks, other],
    session_id: sessionId,
    blocks: is_enabled,
    // A hook that denies everything may do so because it cannot write to the audit log.
    is_understood: failedPass === null,
  };
}

interface ProbeResult {
  readonly output: HookOutput;
  readonly reading: OutputReading;
}

async function sendProbe(
  { doctor, hook, command, surroundings }: HookTrial,
  payload: object,
  probe: string,
): Promise<ProbeResult> {
  const waitMs = Math.min(hook.timeout_ms ?? doctor.defaultTimeout(hook.event), WAIT_MS_MAX);
  const output = await runHookCommand(command, surroundings, JSON.stringify(payload), waitMs);
  return { output, reading: doctor.readOutput(hook.event, output, hook, probe) };
}

/** Returns a check if the hook does not deny the destructive probe; `null` if it does. */
function checkDenial(
  { output, reading: { effect, fault } }: ProbeResult,
  subject: CheckSubject,
): DoctorCheck | null {
  if (effect === 'unheard')
    return buildWarningCheck(
      'hook.blocks',
      subject,
      'The agent accepts no decision at this event, so the call is recorded and continues.',
      null,
    );
  if (effect === 'stops')
    return fault === null
      ? null
      : buildFailedCheck(
          'hook.blocks',
          subject,
          `It is broken (${fault}), so the agent denies everything.`,
          adviseNext(output),
        );
  if (effect === 'asks')
    return buildFailedCheck(
      'hook.blocks',
      subject,
      'It asks the user of the agent about a call that must be denied.',
      adviseNext(output),
    );
  const why = fault === null ? 'it allowed the call' : fault;
  return buildFailedCheck(
    'hook.blocks',
    subject,
    `It does NOT block: ${why}, and the agent continues.`,
    adviseNext(output),
  );
}

/** Returns a check if the hook does not allow the harmless probe; `null` if it does. */
function checkPass(
  { output, reading: { effect, fault } }: ProbeResult,
  subject: CheckSubject,
): DoctorCheck | null {
  if (effect === 'goes_on' && fault === null) return null;
  const what = fault ?? (effect === 'asks' ? 'it asks the user' : 'it denied the call');
  return buildFailedCheck(
    'hook.passes',
    subject,
    `It does not allow a harmless call: ${what}.`,
    adviseNext(output),
  );
}

function warnUntested(policyDenial: string, subject: CheckSubject): DoctorCheck {
  return buildWarningCheck(
    'hook.passes',
    subject,
    `A harmless call was not tested: ${policyDenial}.`,
    'If that is not intended, check the rules with `customshouse policy lint` and `customshouse validate`.',
  );
}

const MESSAGE_UNITS_MAX = 400;

/** Returns the hook's own explanation, or how to see more. */
function adviseNext({ stdout, stderr }: HookOutput): string {
  const message = stderr.trim() === '' ? findLongestText(stdout) : stderr.trim();
  const run = 'Run the command by hand to see more, or run `customshouse setup` for this agent again.';
  return message === '' ? run : `Its output: ${message.slice(0, MESSAGE_UNITS_MAX).replaceAll(/\s+/g, ' ')}`;
}

function findLongestText(stdout: string): string {
  let longest = '';
  try {
    JSON.parse(stdout, (_key, value: unknown) => {
      if (typeof value === 'string' && value.length > longest.length) longest = value;
      return value;
    });
  } catch {
    return stdout.trim();
  }
  return longest;
}
