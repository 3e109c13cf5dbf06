import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { type Host, hosts, type Machine, type Scope } from '../../../coding-agents/hosts/index.ts';
import { packageVersion } from '../../../platform/version.ts';
import type { HookOptions } from '../../hook/options.ts';
import { type Check, fail, NOWHERE, ok, type Place, type Status, warn, worstOf } from './check.ts';
import { type ConfigAsked, type OpenConfig, openConfig, stateChecks } from './configuration.ts';
import { checkEntry } from './entered.ts';
import { checksOf, verdictOn } from './expect.ts';
import { type FoundFile, type FoundHost, findHooks } from './found.ts';
import type { HostSide, InstalledHook } from './hosts/host.ts';
import { hostSides } from './hosts/index.ts';
import { tryHook } from './probe.ts';
import { compareSessions, type SessionReport } from './sessions.ts';
import { checkSwitches, type Switches } from './switches.ts';
import { toldBy } from './told.ts';

/** What is to be looked at. */
export interface Asked {
  /** `null`: every host that has a hook of ours. */
  readonly host: string | null;
  /** `null`: the settings of all scopes. */
  readonly scope: Scope | null;
  /** A configuration beside those that hooks name. */
  readonly config: string | null;
  readonly since_ms: number;
  /** Its folder, without links. */
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now_ms: () => number;
}

/** What was found. */
export interface Diagnosis {
  readonly status: Status;
  readonly checks: readonly Check[];
  /** Sessions in which tools ran unseen. */
  readonly sessions: readonly SessionReport[];
  /** Hooks that were tried, and those of them for which their host would stop. */
  readonly tried_count: number;
  readonly blocking_count: number;
}

/** Looks at the program, at the hooks of each host, at what they stand on, and at what went past them. */
export async function examine(asked: Asked): Promise<Diagnosis> {
  const { project, env } = asked;
  const machine: Machine = { project, home: env.HOME || homedir(), env };
  const book = openBook(asked);
  try {
    const examined: Examined[] = [];
    for (const host of hosts.filter(({ name }) => asked.host === null || name === asked.host))
      examined.push(await examineHost(host, machine, asked, book));
    if (asked.config !== null || book.opened().length === 0)
      await book.open({ path: asked.config, cwd: project, env });
    const states: Check[] = [];
    const readable = new Set<Entry>();
    for (const entry of book.opened()) {
      const { config, sent } = entry;
      const state = await stateChecks(config, sent, asked.now_ms());
      states.push(...config.checks, ...state);
      if (!state.some(({ name, status }) => status === 'fail' && TRAIL.includes(name))) readable.add(entry);
    }
    const compared = await compareAll(examined, machine, asked, readable);
    const checks = [
      programCheck(),
      ...examined.flatMap((each) => each.checks),
      ...nobodyCheck(examined, asked),
      ...states,
      ...compared.flatMap((each) => each.checks),
    ];
    return {
      status: worstOf(checks),
      checks,
      sessions: compared.flatMap(({ sessions }) => sessions),
      tried_count: sum(examined.map(({ tried_count }) => tried_count)),
      blocking_count: sum(examined.map(({ blocking_count }) => blocking_count)),
    };
  } finally {
    await book.close();
  }
}

function programCheck(): Check {
  const { node } = process.versions;
  return ok('program', NOWHERE, `Version ${packageVersion()}, on Node ${node}.`);
}

function nobodyCheck(examined: readonly Examined[], { host }: Asked): readonly Check[] {
  if (host !== null || examined.some(({ found }) => hooksIn(found).length > 0)) return [];
  return [
    warn(
      'host.installed',
      NOWHERE,
      'No coding agent has a hook of this program.',
      'Install one with `service setup`, which lists the supported agents.',
    ),
  ];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** Configurations, each opened once, with the probes that were sent to hooks that name it. */
interface Book {
  readonly open: (asked: ConfigAsked) => Promise<Entry>;
  readonly opened: () => readonly Entry[];
  readonly close: () => Promise<void>;
}

interface Entry {
  readonly config: OpenConfig;
  readonly sent: string[];
}

function openBook({ env }: Asked): Book {
  const entries = new Map<string, Entry>();
  return {
    open: async (wanted) => {
      const key = wanted.path === null ? `in ${wanted.cwd}` : resolve(wanted.cwd, wanted.path);
      const entry = entries.get(key) ?? { config: await openConfig({ ...wanted, env }), sent: [] };
      entries.set(key, entry);
      return entry;
    },
    opened: () => [...entries.values()],
    close: async () => {
      for (const { config } of entries.values()) await config.opened?.runtime.close();
    },
  };
}

/** What was found at one host. */
interface Examined {
  readonly found: FoundHost;
  readonly entries: readonly Entry[];
  readonly checks: readonly Check[];
  readonly tried_count: number;
  readonly blocking_count: number;
}

interface Entered {
  readonly file: FoundFile;
  readonly hook: InstalledHook;
}

function hooksIn({ files }: FoundHost): readonly Entered[] {
  return files.flatMap((file) => file.hooks.map((hook) => ({ file, hook })));
}

async function examineHost(host: Host, machine: Machine, asked: Asked, book: Book): Promise<Examined> {
  const all = await findHooks(host, machine, null);
  const of_scope = ({ place }: Pick<FoundFile, 'place'>) =>
    asked.scope === null || place.scope === asked.scope;
  const found: FoundHost = {
    host,
    files: all.files.filter(of_scope),
    checks: all.checks.filter(({ scope }) => asked.scope === null || scope === asked.scope),
  };
  const checks: Check[] = [...found.checks, ...installedChecks(found, all, asked)];
  const entries = new Set<Entry>();
  let [tried_count, blocking_count] = [0, 0];
  const switches = checkSwitches(found, all, machine);
  for (const { file, hook } of hooksIn(found)) {
    const tried = await examineHook({ host, hook, file, machine, asked, book, switches });
    checks.push(...tried.checks);
    entries.add(tried.entry);
    tried_count += tried.was_tried ? 1 : 0;
    blocking_count += tried.blocks ? 1 : 0;
  }
  checks.push(...switches.checks);
  return { found, entries: [...entries], checks, tried_count, blocking_count };
}

/** Whether there is something to try, and whether all events are asked about that should be. */
function installedChecks(found: FoundHost, all: FoundHost, { host: named, scope }: Asked): readonly Check[] {
  const { host } = found;
  const place: Place = { ...NOWHERE, host: host.name };
  const next = `service setup ${host.name}${scope === null ? '' : ` --scope ${scope}`}`;
  if (hooksIn(found).length === 0)
    return named === null
      ? []
      : [
          fail(
            'host.installed',
            place,
            `${host.label} has no hook of this program.`,
            `Install one with \`${next}\`.`,
          ),
        ];
  const entered = new Set(hooksIn(all).map(({ hook }) => plainEvent(hook.event)));
  const missing = host.wanted.filter(({ event }) => !entered.has(plainEvent(event)));
  const checks = missing.map(({ event }) => {
    const where = { ...place, event };
    const message = `No hook is installed for ${event}.`;
    const again = `Run \`${next}\` again.`;
    return BEFORE_TOOLS.includes(plainEvent(event))
      ? fail('host.events', where, `${message} Tools run without a check.`, again)
      : warn('host.events', where, message, again);
  });
  const others = sum(found.files.map(({ other_count }) => other_count));
  if (others > 0) checks.push(ok('host.others', place, `Hooks of other programs (${others}) were not run.`));
  return checks;
}

const BEFORE_TOOLS = ['beforetool', 'pretooluse'];

/** An event, however its name is written. */
function plainEvent(event: string): string {
  return event.toLowerCase().replace(/^userpromptsubmitted$/, 'userpromptsubmit');
}

interface Examining {
  readonly host: Host;
  readonly hook: InstalledHook;
  readonly file: FoundFile;
  readonly machine: Machine;
  readonly asked: Asked;
  readonly book: Book;
  readonly switches: Switches;
}

async function examineHook({ host, hook, file, machine, asked, book, switches }: Examining) {
  const { env, now_ms } = asked;
  const { scope, path } = file.place;
  const place: Place = { host: host.name, scope, file: path, event: hook.event };
  const side: HostSide = hostSides.find(({ name }) => name === host.name)!;
  const { project, home } = machine;
  const folder = { project, home, scope, shell: env.SHELL || null };
  const { cwd } = side.start(hook, folder);
  const { options } = toldBy(hook, project);
  const config = options?.config ?? null;
  const entry = await book.open({
    path: config === null || isAbsolute(config) ? config : resolve(cwd, config),
    cwd: project,
    env,
  });
  const expects = (payload: object, event: string) => inTheWay(entry, host, options, payload, event);
  const entered = await checkEntry(host, side, hook, place, { cwd, project, env });
  const is_asked = !hook.in_background && !switches.off.has(hook);
  const tried = await tryHook({ side, hook, folder, env, place, expects, is_asked, now_ms });
  if (tried.session_id !== null && tried.is_understood) entry.sent.push(tried.session_id);
  return {
    checks: [...entered, ...tried.checks],
    entry,
    was_tried: tried.session_id !== null,
    blocks: tried.blocks,
  };
}

/** What the policy itself has against something harmless; `null`: nothing. */
async function inTheWay(
  { config }: Entry,
  host: Host,
  options: HookOptions | null,
  payload: object,
  event: string,
): Promise<string | null> {
  // Without a policy the hook has none either, and what it answers is told as it is.
  if (config.opened === null) return null;
  const subject = options ?? { agent: null, tenant: null };
  const checks = checksOf(host.name, payload, event);
  const verdict = await verdictOn(config.opened.runtime.policy(), host.name, subject, checks);
  if (verdict === null || verdict.decision === 'allow') return null;
  return `the policy answers it with \`${verdict.action}\` (rule ${verdict.rule})`;
}

/** What has to be in order for the audit trail to be read. */
const TRAIL = ['state.folder', 'state.disk', 'state.owner'];

async function compareAll(
  examined: readonly Examined[],
  machine: Machine,
  { since_ms, now_ms }: Asked,
  readable: ReadonlySet<Entry>,
) {
  const compared = [];
  for (const { found, entries } of examined) {
    if (hooksIn(found).length === 0) continue;
    const trails = entries.flatMap((entry) => {
      const { opened } = entry.config;
      return opened?.config.audit.enabled && readable.has(entry) ? [opened.runtime] : [];
    });
    compared.push(await compareSessions({ found, machine, trails, since_ms, now_ms: now_ms() }));
  }
  return compared;
}
