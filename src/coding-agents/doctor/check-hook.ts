import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { PACKAGE_NAME } from '../../core/names.ts';
import type { CodingAgent } from '../record/coding-agent.ts';
import type { ConfiguredHook } from '../record/doctor.ts';
import {
  buildFailedCheck,
  buildWarningCheck,
  type CheckSubject,
  type DoctorCheck,
} from '../record/doctor-check.ts';
import { type ParsedHookCommand, parseHookCommand } from './read-command.ts';

/** The time that a hook waits for a decision if its command sets none. */
const OWN_TIMEOUT_MS = 8_000;
/** The time that a hook may need to start and to end. */
const SLACK_MS = 2_000;
/** The time-out that setup writes. */
const TIMEOUT_MS_ADVISED = 30_000;

/** The folder and the environment in which a hook runs. */
export interface HookSurroundings {
  readonly cwd: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Checks the entry of one hook without running it. Returns only the problems. */
export async function checkHookEntry(
  agent: CodingAgent,
  hook: ConfiguredHook,
  subject: CheckSubject,
  surroundings: HookSurroundings,
): Promise<readonly DoctorCheck[]> {
  const command = parseHookCommand(hook, agent.settings, surroundings.project);
  const ofAgent = agent.doctor.checkEntry?.(hook, subject) ?? [];
  const isMatcherChecked = ofAgent.some(({ name }) => name === 'hook.matcher');
  return [
    ...(await checkProgram(command, subject, surroundings)),
    ...(await checkOptions(command, agent, subject, surroundings)),
    ...checkTimeout(command, agent, hook, subject),
    ...(isMatcherChecked ? [] : checkMatcher(hook, subject)),
    ...checkMode(hook, subject),
    ...ofAgent,
  ];
}

export const AGAIN = 'Run `customshouse setup` for this agent again, which replaces the entry.';

async function checkProgram(
  { program, has_substitutions }: ParsedHookCommand,
  subject: CheckSubject,
  surroundings: HookSurroundings,
): Promise<readonly DoctorCheck[]> {
  if (has_substitutions) return [];
  const [file, ...scripts] = program;
  if (file === undefined) return [];
  const found = await findInPath(file, surroundings);
  if (found === null && !file.includes('/'))
    return [
      buildFailedCheck(
        'hook.program',
        subject,
        `The program \`${file}\` of the hook is not in the PATH.`,
        `Install the package ${PACKAGE_NAME} with \`npm install -g\` and its file, or run \`customshouse setup\` for this agent again to name the program by its path.`,
      ),
    ];
  if (found === null)
    return [
      buildFailedCheck('hook.program', subject, `The program \`${file}\` of the hook does not exist.`, AGAIN),
    ];
  if (!(await isReachable(found, constants.X_OK)))
    return [
      buildFailedCheck(
        'hook.program',
        subject,
        `The program \`${file}\` of the hook is not executable.`,
        `chmod +x ${file}`,
      ),
    ];
  const missing = await findFirstMissing(scripts.filter(isAbsolute));
  if (missing !== null)
    return [
      buildFailedCheck('hook.program', subject, `The file \`${missing}\` of the hook does not exist.`, AGAIN),
    ];
  if (file.includes('/') && !isAbsolute(file)) return [warnRelative('hook.program', subject, file)];
  return [];
}

/** Agents run hooks in their current folder, which may change. */
function warnRelative(name: string, subject: CheckSubject, path: string): DoctorCheck {
  return buildWarningCheck(
    name,
    subject,
    `The path \`${path}\` is relative to the folder in which the hook runs, which an agent may change.`,
    'Use the absolute path, as `customshouse setup` does.',
  );
}

/** Returns the path of a program; `null` if it is not found. */
export async function findInPath(
  file: string,
  { cwd, env }: Pick<HookSurroundings, 'cwd' | 'env'>,
): Promise<string | null> {
  const paths = file.includes('/')
    ? [resolve(cwd, file)]
    : (env.PATH ?? '').split(delimiter).map((folder) => join(folder, file));
  for (const path of paths) {
    const stats = await stat(path).catch(() => null);
    if (stats?.isFile()) return path;
  }
  return null;
}

async function findFirstMissing(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) if (!(await isReachable(path, constants.R_OK))) return path;
  return null;
}

function isReachable(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

async function checkOptions(
  command: ParsedHookCommand,
  agent: CodingAgent,
  subject: CheckSubject,
  { cwd }: HookSurroundings,
): Promise<readonly DoctorCheck[]> {
  const { options, complaint, has_substitutions } = command;
  if (options === null)
    return [
      buildFailedCheck('hook.options', subject, `The hook refuses its own options: ${complaint}`, AGAIN),
    ];
  const checks: DoctorCheck[] = [];
  if (options.dialect !== null && options.dialect !== agent.name)
    checks.push(
      buildFailedCheck(
        'hook.dialect',
        subject,
        `The hook uses the dialect \`${options.dialect}\`, but ${agent.label} calls it.`,
        AGAIN,
      ),
    );
  if (options.config === null)
    checks.push(
      buildWarningCheck(
        'hook.config',
        subject,
        'The hook names no configuration, so it uses the one of the folder in which it runs.',
        'Add --config with the absolute path, as `customshouse setup` does.',
      ),
    );
  else if (!has_substitutions && !(await isReachable(resolve(cwd, options.config), constants.R_OK)))
    checks.push(
      buildFailedCheck(
        'hook.config',
        subject,
        `The configuration \`${options.config}\` of the hook does not exist or cannot be read.`,
        'Restore it, or run `customshouse setup` again with another configuration.',
      ),
    );
  else if (!has_substitutions && !isAbsolute(options.config))
    checks.push(warnRelative('hook.config', subject, options.config));
  return checks;
}

function checkTimeout(
  { options }: ParsedHookCommand,
  { settings, doctor }: CodingAgent,
  { event, timeout_ms }: ConfiguredHook,
  subject: CheckSubject,
): readonly DoctorCheck[] {
  const ownMs = options?.timeout_ms ?? OWN_TIMEOUT_MS;
  const agentMs = timeout_ms ?? doctor.defaultTimeout(event);
  const unitMs = settings.hook_format.timeout_unit_ms;
  const wanted = `${TIMEOUT_MS_ADVISED / unitMs}${unitMs === 1 ? ', it counts milliseconds' : ''}`;
  const message = `The agent waits ${agentMs} ms, and the hook itself denies after ${ownMs} ms.`;
  if (agentMs <= ownMs)
    return [
      buildFailedCheck(
        'hook.timeout',
        subject,
        `${message} The agent would continue first.`,
        `Raise the agent's time-out to 30 seconds (${wanted}), or lower the hook's with --timeout-ms.`,
      ),
    ];
  if (agentMs < ownMs + SLACK_MS)
    return [
      buildWarningCheck(
        'hook.timeout',
        subject,
        `${message} That leaves little time to start.`,
        "Raise the agent's time-out.",
      ),
    ];
  return [];
}

/** Matchers that agents treat as a match for every tool. */
const MATCH_ALL = [null, '', '*', '**', '.*'];

function checkMatcher({ matcher }: ConfiguredHook, subject: CheckSubject): readonly DoctorCheck[] {
  if (MATCH_ALL.includes(matcher)) return [];
  return [
    buildWarningCheck(
      'hook.matcher',
      subject,
      `The hook is called only for tools that match \`${matcher}\`.`,
      'Install the hook for all tools, or make sure that other entries cover the rest.',
    ),
  ];
}

function checkMode(hook: ConfiguredHook, subject: CheckSubject): readonly DoctorCheck[] {
  const checks: DoctorCheck[] = [];
  if (hook.in_background)
    checks.push(
      buildFailedCheck(
        'hook.waits',
        subject,
        'The agent runs the hook in the background and continues.',
        'Remove `async`.',
      ),
    );
  return checks;
}
