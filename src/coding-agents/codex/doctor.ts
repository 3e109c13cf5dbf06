import { dirname } from 'node:path';
import {
  type AgentDoctor,
  type ConfiguredHook,
  continueWith,
  explainExitCode,
  explainMissingOutput,
  type HookOutput,
  type HookSwitches,
  isNonBlank,
  type LocatedHook,
  type OutputReading,
  PASSING_OUTPUT,
  type ProbeContext,
  parseObject,
  readMembersAt,
  type SettingsFile,
  STOPPING_OUTPUT,
} from '../record/doctor.ts';
import { buildFailedCheck, buildWarningCheck, type DoctorCheck } from '../record/doctor-check.ts';
import type { Machine } from '../record/settings.ts';
import { buildFileSubject } from '../record/settings-checks.ts';

/**
 * The behaviour of Codex CLI. It parses output strictly: an unknown member, or a denial without a reason, is a failed
 * hook, and the call continues. Exit code 2 with an empty standard error also continues.
 */
export const codexDoctor: AgentDoctor = {
  buildPayload,
  defaultTimeout: () => 600_000,
  readOutput,
  checkAllHooks: checkFeature,
  checkSingleHooks: (hooks, files, machine) => {
    const { checks, off } = checkTrust(hooks, files);
    return { checks: [...checks, ...checkProjectTrust(hooks, files, machine)], off };
  },
};

function buildPayload(event: string, { text, session_id, cwd }: ProbeContext): object | null {
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
  const toolUseId = `call_${session_id}`;
  if (event === 'PermissionRequest') return call;
  if (event === 'PreToolUse') return { ...call, tool_use_id: toolUseId };
  if (event === 'PostToolUse')
    return { ...call, tool_input: { command: 'true' }, tool_response: text, tool_use_id: toolUseId };
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

function readOutput(event: string, answer: HookOutput): OutputReading {
  const overdue = explainMissingOutput(answer);
  if (overdue !== null) return continueWith(overdue);
  const { code, stdout, stderr } = answer;
  if (code === 2)
    return isNonBlank(stderr)
      ? STOPPING_OUTPUT
      : continueWith('exit code 2 without a reason on standard error');
  if (code !== 0) return continueWith(explainExitCode(code));
  if (stdout.trim() === '') return PASSING_OUTPUT;
  const output = parseObject(stdout);
  if (output === null) return continueWith('what it writes is no JSON object');
  const words = event === 'PermissionRequest' ? UNIVERSAL : [...UNIVERSAL, ...DECIDED];
  const specific = readMembersAt(output, ['hookSpecificOutput']);
  const isKnown =
    Object.keys(output).every((key) => words.includes(key)) &&
    Object.keys(specific).every((key) => SPECIFIC[event]?.includes(key));
  if (!isKnown) return continueWith('its answer has a word that the agent does not support');
  return event === 'PreToolUse' || event === 'PermissionRequest'
    ? readCall(event, output, specific)
    : readRest(output);
}

type Said = Readonly<Record<string, unknown>>;

function readCall(event: string, output: Said, specific: Said): OutputReading {
  if (output.continue === false || isNonBlank(output.stopReason) || output.suppressOutput === true)
    return continueWith('`continue`, `stopReason` and `suppressOutput` are not taken here');
  if (event === 'PermissionRequest') {
    const decision = readMembersAt(specific, ['decision']);
    if (
      ['updatedInput', 'updatedPermissions'].some((key) => decision[key] !== undefined) ||
      decision.interrupt
    )
      return continueWith('its decision has a word that is not taken here');
    return decision.behavior === 'deny' ? STOPPING_OUTPUT : PASSING_OUTPUT;
  }
  const { permissionDecision, permissionDecisionReason, updatedInput } = specific;
  if (permissionDecision === undefined) {
    if (output.decision === undefined) return PASSING_OUTPUT;
    return output.decision === 'block' && isNonBlank(output.reason)
      ? STOPPING_OUTPUT
      : continueWith('`decision` is `block` with a reason, or left out');
  }
  if (permissionDecision === 'deny')
    return isNonBlank(permissionDecisionReason) && updatedInput === undefined
      ? STOPPING_OUTPUT
      : continueWith('a no without a reason is none');
  if (permissionDecision === 'allow' && updatedInput !== undefined) return PASSING_OUTPUT;
  return continueWith('`ask`, and `allow` without changed arguments, are not taken here');
}

/** Reads the output for a prompt or a result. For a result, the reason replaces it. */
function readRest(output: Said): OutputReading {
  if (output.decision === undefined) return output.continue === false ? STOPPING_OUTPUT : PASSING_OUTPUT;
  return output.decision === 'block' && isNonBlank(output.reason)
    ? STOPPING_OUTPUT
    : continueWith('a no without a reason is none');
}

function checkFeature(files: readonly SettingsFile[]): readonly DoctorCheck[] {
  return files
    .filter(({ document }) => {
      const { hooks, codex_hooks } = readMembersAt(document, ['features']);
      return hooks === false || codex_hooks === false;
    })
    .map((file) =>
      buildFailedCheck(
        'coding_agent.hooks_on',
        buildFileSubject('codex', file),
        '`features.hooks` is false.',
        'Remove the key, or set it to true.',
      ),
    );
}

/**
 * Codex records in the user's `config.toml` which hooks are trusted, by their position, and skips all others silently.
 * Whether the trust covers the current text of a hook, only Codex can tell.
 */
function checkTrust(hooks: readonly LocatedHook[], files: readonly SettingsFile[]): HookSwitches {
  const userFiles = listUserConfigs(files);
  const checks: DoctorCheck[] = [];
  const off = new Set<ConfiguredHook>();
  for (const file of new Set(hooks.map((each) => each.file))) {
    if (file.location.scope === 'managed') continue;
    const readStates = (hook: ConfiguredHook) =>
      userFiles.flatMap(({ document }) =>
        buildStateKeys(file, hook).map((key) => readMembersAt(document, ['hooks', 'state', key])),
      );
    const disabled = file.hooks.filter((hook) => readStates(hook).some(({ enabled }) => enabled === false));
    const untrusted = file.hooks.filter(
      (hook) => !readStates(hook).some(({ trusted_hash }) => typeof trusted_hash === 'string'),
    );
    for (const hook of [...disabled, ...untrusted]) off.add(hook);
    const subject = buildFileSubject('codex', file);
    if (disabled.length > 0)
      checks.push(
        buildFailedCheck(
          'coding_agent.hooks_on',
          subject,
          `Codex has switched off: ${listEvents(disabled)}.`,
          'Switch them on in /hooks.',
        ),
      );
    if (untrusted.length > 0)
      checks.push(
        buildFailedCheck(
          'coding_agent.trusted',
          subject,
          `Codex silently skips hooks that are not trusted: ${listEvents(untrusted)}.`,
          'Open Codex, type /hooks and trust them. Every change of an entry revokes the trust.',
        ),
      );
  }
  return { checks, off };
}

function listEvents(hooks: readonly ConfiguredHook[]): string {
  return [...new Set(hooks.map(({ event }) => event))].join(', ');
}

/**
 * Returns the keys of a hook in `hooks.state`, `<file>:<event>:<group>:<position>`, with and without symbolic links.
 */
function buildStateKeys(
  { location, real_path }: SettingsFile,
  { event, path }: ConfiguredHook,
): readonly string[] {
  const [, , group, , at] = path;
  const snakeEvent = event.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  return [location.path, real_path].map((file) => `${file}:${snakeEvent}:${group}:${at}`);
}

function listUserConfigs(files: readonly SettingsFile[]): readonly SettingsFile[] {
  return files.filter(({ location }) => location.scope === 'user' && location.format === 'toml');
}

function checkProjectTrust(
  hooks: readonly LocatedHook[],
  files: readonly SettingsFile[],
  { project }: Machine,
): readonly DoctorCheck[] {
  const inProject = hooks.find(({ file }) => file.location.scope === 'project');
  if (inProject === undefined || isTrustedProject(project, listUserConfigs(files))) return [];
  return [
    buildWarningCheck(
      'coding_agent.trusted',
      buildFileSubject('codex', inProject.file),
      'Codex reads the hooks of trusted projects only, and this one is not in its list.',
      'Open Codex in the project and trust it, or use `customshouse setup codex --scope user`.',
    ),
  ];
}

function isTrustedProject(project: string, userFiles: readonly SettingsFile[]): boolean {
  for (let folder = project; ; folder = dirname(folder)) {
    const isTrusted = userFiles.some(
      ({ document }) => readMembersAt(document, ['projects', folder]).trust_level === 'trusted',
    );
    if (isTrusted) return true;
    if (folder === dirname(folder)) return false;
  }
}
