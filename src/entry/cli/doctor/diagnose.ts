import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { codingAgents } from '../../../coding-agents/coding-agents.ts';
import { AGAIN, checkHookEntry } from '../../../coding-agents/doctor/check-hook.ts';
import { checkSwitches } from '../../../coding-agents/doctor/check-switches.ts';
import { type AgentFiles, readAgentFiles } from '../../../coding-agents/doctor/find-hooks.ts';
import { resolveOwnCommand } from '../../../coding-agents/doctor/own-command.ts';
import { type HookTrialResult, tryHook } from '../../../coding-agents/doctor/probe-hook.ts';
import { parseHookCommand } from '../../../coding-agents/doctor/read-command.ts';
import type { HookOptions } from '../../../coding-agents/hook-options.ts';
import type { CodingAgent } from '../../../coding-agents/record/coding-agent.ts';
import type { HookSwitches, LocatedHook, SettingsFile } from '../../../coding-agents/record/doctor.ts';
import {
  buildFailedCheck,
  buildPassedCheck,
  buildWarningCheck,
  type CheckStatus,
  type CheckSubject,
  type DoctorCheck,
  findWorstStatus,
  NO_SUBJECT,
} from '../../../coding-agents/record/doctor-check.ts';
import type { Machine, SettingsScope } from '../../../coding-agents/record/settings.ts';
import { findMcpServers } from '../../../coding-agents/setup/find-mcp-servers.ts';
import { getPackageVersion } from '../../../platform/version.ts';
import { checkClassifiers } from './classifiers.ts';
import {
  type ConfigLocation,
  checkMcpServers,
  checkState,
  type OpenConfig,
  openConfig,
} from './configuration.ts';
import { evaluateChecks, readHookChecks } from './evaluate-checks.ts';
import { compareSessions, type SessionReport } from './sessions.ts';

/** The agents, scopes and folders that `customshouse doctor` examines. */
export interface DiagnosisRequest {
  /** `null` for every agent that has a hook of ours. */
  readonly coding_agent: string | null;
  /** `null` for the settings of all scopes. */
  readonly scope: SettingsScope | null;
  /** A configuration to examine in addition to those that hooks name. */
  readonly config: string | null;
  readonly since_ms: number;
  /** The words that start this program, as `customshouse setup` writes them. */
  readonly program: readonly string[];
  /** The project's folder, without symbolic links. */
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now_ms: () => number;
}

/** The result of an examination. */
export interface Diagnosis {
  readonly status: CheckStatus;
  readonly checks: readonly DoctorCheck[];
  /** Sessions in which tools ran without a hook. */
  readonly sessions: readonly SessionReport[];
  /** The number of hooks that were tested, and of those for which their agent would deny. */
  readonly tried_count: number;
  readonly blocking_count: number;
}

/** Examines the program, the hooks of each agent, the configurations behind them, and the sessions that ran without them. */
export async function diagnoseSetup(request: DiagnosisRequest): Promise<Diagnosis> {
  const { project, env } = request;
  const machine: Machine = { project, home: env.HOME || homedir(), env };
  const configs = openConfigs(request);
  try {
    const examined: ExaminedAgent[] = [];
    for (const agent of codingAgents.filter(
      ({ name }) => request.coding_agent === null || name === request.coding_agent,
    ))
      examined.push(await examineAgent(agent, machine, request, configs));
    if (request.config !== null || configs.list().length === 0)
      await configs.open({ path: request.config, cwd: project, env });
    const states: DoctorCheck[] = [];
    const readable = new Set<ConfigEntry>();
    const hooked = examined.filter(({ files }) => listHooks(files).length > 0).map(({ agent }) => agent);
    const mcpServers = await findMcpServers(hooked, machine);
    for (const entry of configs.list()) {
      const { config, probe_sessions } = entry;
      const state = await checkState(config, probe_sessions, request.now_ms());
      states.push(...config.checks, ...checkMcpServers(config, mcpServers));
      states.push(...(await checkClassifiers(config, env)), ...state);
      if (!state.some(({ name, status }) => status === 'fail' && AUDIT_LOG_CHECKS.includes(name)))
        readable.add(entry);
    }
    const compared = await compareAll(examined, machine, request, readable);
    const checks = [
      checkProgramVersion(),
      ...examined.flatMap((each) => each.checks),
      ...checkAnyInstalled(examined, request),
      ...states,
      ...compared.flatMap((each) => each.checks),
    ];
    return {
      status: findWorstStatus(checks),
      checks,
      sessions: compared.flatMap(({ sessions }) => sessions),
      tried_count: sumCounts(examined.map(({ tried_count }) => tried_count)),
      blocking_count: sumCounts(examined.map(({ blocking_count }) => blocking_count)),
    };
  } finally {
    await configs.close();
  }
}

function checkProgramVersion(): DoctorCheck {
  const { node } = process.versions;
  return buildPassedCheck('program', NO_SUBJECT, `Version ${getPackageVersion()}, on Node ${node}.`);
}

function checkAnyInstalled(
  examined: readonly ExaminedAgent[],
  { coding_agent }: DiagnosisRequest,
): readonly DoctorCheck[] {
  if (coding_agent !== null || examined.some(({ files }) => listHooks(files).length > 0)) return [];
  return [
    buildFailedCheck(
      'coding_agent.installed',
      NO_SUBJECT,
      'No coding agent has a hook of this program.',
      'Install hooks with `customshouse setup`.',
    ),
  ];
}

function sumCounts(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** Opens each configuration once. */
interface ConfigRegistry {
  readonly open: (request: ConfigLocation) => Promise<ConfigEntry>;
  readonly list: () => readonly ConfigEntry[];
  readonly close: () => Promise<void>;
}

interface ConfigEntry {
  readonly config: OpenConfig;
  /** The sessions of the probes that were sent to hooks that name this configuration. */
  readonly probe_sessions: string[];
}

function openConfigs({ env }: DiagnosisRequest): ConfigRegistry {
  const entries = new Map<string, ConfigEntry>();
  return {
    open: async (request) => {
      const key = request.path === null ? `in ${request.cwd}` : resolve(request.cwd, request.path);
      const entry = entries.get(key) ?? {
        config: await openConfig({ ...request, env }),
        probe_sessions: [],
      };
      entries.set(key, entry);
      return entry;
    },
    list: () => [...entries.values()],
    close: async () => {
      for (const { config } of entries.values()) await config.opened?.runtime.close();
    },
  };
}

/** The result for one agent. */
interface ExaminedAgent {
  readonly agent: CodingAgent;
  readonly files: readonly SettingsFile[];
  readonly entries: readonly ConfigEntry[];
  readonly checks: readonly DoctorCheck[];
  readonly tried_count: number;
  readonly blocking_count: number;
}

function listHooks(files: readonly SettingsFile[]): readonly LocatedHook[] {
  return files.flatMap((file) => file.hooks.map((hook) => ({ file, hook })));
}

async function examineAgent(
  agent: CodingAgent,
  machine: Machine,
  request: DiagnosisRequest,
  configs: ConfigRegistry,
): Promise<ExaminedAgent> {
  const all = await readAgentFiles(agent, machine);
  const isInScope = (scope: SettingsScope | null) => request.scope === null || scope === request.scope;
  const files = all.files.filter(({ location }) => isInScope(location.scope));
  const checks: DoctorCheck[] = [
    ...all.checks.filter(({ scope }) => isInScope(scope)),
    ...checkInstalled(agent, files, all, request),
  ];
  const entries = new Set<ConfigEntry>();
  let [triedCount, blockingCount] = [0, 0];
  const switches = checkSwitches(agent, listHooks(files), all.files, machine);
  for (const located of listHooks(files)) {
    const tried = await examineHook({ agent, located, machine, request, configs, switches });
    checks.push(...tried.checks);
    if (tried.entry !== null) entries.add(tried.entry);
    triedCount += tried.was_tried ? 1 : 0;
    blockingCount += tried.blocks ? 1 : 0;
  }
  checks.push(...switches.checks);
  return {
    agent,
    files,
    entries: [...entries],
    checks,
    tried_count: triedCount,
    blocking_count: blockingCount,
  };
}

/** Checks that there are hooks, and that every wanted event has one. */
function checkInstalled(
  { name, label, settings }: CodingAgent,
  files: readonly SettingsFile[],
  all: AgentFiles,
  { coding_agent, scope }: DiagnosisRequest,
): readonly DoctorCheck[] {
  const subject: CheckSubject = { ...NO_SUBJECT, coding_agent: name };
  const next = `customshouse setup ${name}${scope === null ? '' : ` --scope ${scope}`}`;
  if (listHooks(files).length === 0)
    return coding_agent === null
      ? []
      : [
          buildFailedCheck(
            'coding_agent.installed',
            subject,
            `${label} has no hook of this program.`,
            `Install hooks with \`${next}\`.`,
          ),
        ];
  const installed = new Set(listHooks(all.files).map(({ hook }) => normalizeEvent(hook.event)));
  const missing = settings.wanted_hooks.filter(({ event }) => !installed.has(normalizeEvent(event)));
  const checks = missing.map(({ event }) => {
    const ofEvent = { ...subject, event };
    const message = `No hook is installed for ${event}.`;
    const again = `Run \`${next}\` again.`;
    return BEFORE_TOOLS.includes(normalizeEvent(event))
      ? buildFailedCheck('coding_agent.events', ofEvent, `${message} Tools run without a decision.`, again)
      : buildWarningCheck('coding_agent.events', ofEvent, message, again);
  });
  const others = sumCounts(files.map(({ other_count }) => other_count));
  if (others > 0)
    checks.push(
      buildPassedCheck('coding_agent.others', subject, `Hooks of other programs (${others}) were not run.`),
    );
  return checks;
}

const BEFORE_TOOLS = ['beforetool', 'pretooluse'];

/** Returns one spelling of an event's name. */
function normalizeEvent(event: string): string {
  return event.toLowerCase().replace(/^userpromptsubmitted$/, 'userpromptsubmit');
}

interface HookExamination {
  readonly agent: CodingAgent;
  readonly located: LocatedHook;
  readonly machine: Machine;
  readonly request: DiagnosisRequest;
  readonly configs: ConfigRegistry;
  readonly switches: HookSwitches;
}

interface ExaminedHook extends Pick<HookTrialResult, 'checks' | 'blocks'> {
  /** `null` if the hook was not run, because then its configuration is not opened either. */
  readonly entry: ConfigEntry | null;
  readonly was_tried: boolean;
}

async function examineHook({
  agent,
  located,
  machine,
  request,
  configs,
  switches,
}: HookExamination): Promise<ExaminedHook> {
  const { file, hook } = located;
  const { env, now_ms } = request;
  const { scope, path } = file.location;
  const subject: CheckSubject = { coding_agent: agent.name, scope, file: path, event: hook.event };
  const { project } = machine;
  const cwd = resolve(agent.doctor.getFolder?.(machine, scope) ?? project, hook.cwd ?? '');
  const surroundings = { cwd, project, env };
  const entryChecks = await checkHookEntry(agent, hook, subject, surroundings);
  const command = await resolveOwnCommand(hook, agent.settings, request.program, surroundings);
  if (typeof command === 'string') {
    const message = `It was not run, because its command ${command}.`;
    const notRun = buildFailedCheck('hook.command', subject, message, `Read the entry. ${AGAIN}`);
    return { checks: [...entryChecks, notRun], entry: null, was_tried: false, blocks: false };
  }
  const { options } = parseHookCommand(hook, agent.settings, project);
  const config = options?.config ?? null;
  const entry = await configs.open({
    path: config === null || isAbsolute(config) ? config : resolve(cwd, config),
    cwd: project,
    env,
  });
  const explainDenial = (payload: object, event: string) =>
    explainPolicyDenial(entry, agent, options, payload, event);
  const isEnabled = !hook.in_background && !switches.off.has(hook);
  const { doctor } = agent;
  const trial = {
    doctor,
    hook,
    command,
    surroundings,
    subject,
    explainDenial,
    is_enabled: isEnabled,
    now_ms,
  };
  const tried = await tryHook(trial);
  if (tried.session_id !== null && tried.is_understood) entry.probe_sessions.push(tried.session_id);
  return {
    checks: [...entryChecks, ...tried.checks],
    entry,
    was_tried: tried.session_id !== null,
    blocks: tried.blocks,
  };
}

/** Returns why the policy does not allow a harmless payload, as a clause; `null` if it allows it. */
async function explainPolicyDenial(
  { config }: ConfigEntry,
  { name }: CodingAgent,
  options: HookOptions | null,
  payload: object,
  event: string,
): Promise<string | null> {
  // Without a valid policy the hook has none either, and its output is reported as it is.
  if (config.opened === null) return null;
  const actor = options ?? { agent: null, tenant: null };
  const checks = readHookChecks(name, payload, event);
  const verdict = await evaluateChecks(config.opened.runtime.policy(), name, actor, checks);
  if (verdict === null || verdict.decision === 'allow') return null;
  return `the policy answers it with \`${verdict.action}\` (rule ${verdict.rule})`;
}

/** The checks that must pass before the audit log can be read. */
const AUDIT_LOG_CHECKS = ['state.folder', 'state.disk', 'state.owner'];

async function compareAll(
  examined: readonly ExaminedAgent[],
  machine: Machine,
  { since_ms, now_ms }: DiagnosisRequest,
  readable: ReadonlySet<ConfigEntry>,
) {
  const compared = [];
  for (const { agent, files, entries } of examined) {
    if (listHooks(files).length === 0) continue;
    const auditLogs = entries.flatMap((entry) => {
      const { opened } = entry.config;
      const { enabled = false, index = 'off' } = opened?.config.audit ?? {};
      return opened && enabled && index !== 'off' && readable.has(entry) ? [opened.runtime] : [];
    });
    compared.push(
      await compareSessions({ agent, files, machine, audit_logs: auditLogs, since_ms, now_ms: now_ms() }),
    );
  }
  return compared;
}
