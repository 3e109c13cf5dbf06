import { basename } from 'node:path';
import type { PatternSettings } from '../../core/policy/compile/custom-pattern.ts';
import type { PolicySettings } from '../../core/policy/compile/index.ts';
import type { DocumentProblem } from '../../core/types/index.ts';
import type { Config } from '../config/index.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { admitPlugin, collectTakenNames, type TakenNames } from './admit-plugin.ts';
import { type FoundPlugins, findPlugins } from './find.ts';
import { type LockedFiles, readLockedFiles } from './locked-files.ts';
import { type PluginRunResult, runPlugin } from './run.ts';
import { assertTrusted } from './trusted-files.ts';
import type { Plugin, PluginReport, PluginSource, PluginsInUse, PlugKind } from './types.ts';
import { vetPlugin } from './vet-plugin.ts';

/** The result of loading all plug-ins of a configuration. */
export interface LoadedPlugins extends PluginsInUse, Pick<FoundPlugins, 'filled' | 'empty' | 'warnings'> {
  /** The detectors of active plug-ins, in the form of the configuration. */
  readonly patterns: readonly PatternSettings[];
}

/** The hashes that plug-in files may or must have, apart from those that the user trusts. */
export interface PluginConsent {
  /** The hashes that skill files must have; defaults to those in the lock file. */
  readonly locked?: LockedFiles;
  /** SHA-256 hashes to which the operator has agreed just now. */
  readonly reviewed?: ReadonlySet<string>;
}

/** The limit for all plug-ins together, as a multiple of the limit for one. */
const TIMES_MAX = 4;

/**
 * Loads the plug-ins that `plugins` names. Runs none unless the user trusts all their code. A plug-in that throws,
 * hangs, has an invalid export or uses a taken name is excluded, and its report gives the reason.
 *
 * @throws StartFailure `config_invalid` if the user has not trusted one
 */
export async function loadPlugins(
  config: Config,
  settings: PolicySettings,
  { locked, reviewed }: PluginConsent = {},
): Promise<LoadedPlugins> {
  const found = await findPlugins(config);
  await assertTrusted(found.sources, config.origin, reviewed);
  const own = locked ?? (await readLockedFiles(config.origin.base_dir));
  const runs = await runAll(found.sources, config.plugins.timeout_ms, own);
  const taken = collectTakenNames(settings.detection.patterns);
  const judged: VettedPlugin[] = [];
  // Sequential, because the first of two plug-ins with the same name gets the name.
  for (const [at, source] of found.sources.entries())
    judged.push(await judgePlugin(source, runs[at]!, settings, taken));
  const plugins = judged.flatMap(({ plugin }) => plugin ?? []);
  const { filled, empty, warnings } = found;
  return {
    plugins: [
      ...judged.map(({ report }) => report),
      ...found.missing.map(({ source, problem }) => buildLeftOutReport(source, null, [problem])),
    ],
    patterns: plugins.flatMap(({ detectors }) => detectors),
    templates: plugins.flatMap(({ templates }) => templates),
    dialects: plugins.flatMap(({ dialects }) => dialects),
    adapters: plugins.flatMap(({ adapters }) => adapters),
    filled,
    empty,
    warnings,
  };
}

/** Loads one plug-in alone, next to the built-in parts. */
export async function loadPlugin(
  source: PluginSource,
  settings: PolicySettings,
  timeoutMs: number,
): Promise<{ readonly report: PluginReport; readonly plugin: Plugin | null }> {
  return judgePlugin(source, await runTrusted(source, timeoutMs, new Map()), settings, collectTakenNames([]));
}

interface VettedPlugin {
  readonly report: PluginReport;
  readonly plugin: Plugin | null;
}

type PluginLoad = PluginRunResult & { readonly sha256: string | null };

/**
 * Runs the plug-ins one at a time, so that one that hangs does not use the time of another. All together have a
 * limit too.
 */
async function runAll(
  sources: readonly PluginSource[],
  timeoutMs: number,
  locked: LockedFiles,
): Promise<readonly PluginLoad[]> {
  const overMs = performance.now() + timeoutMs * TIMES_MAX;
  const runs: PluginLoad[] = [];
  for (const source of sources)
    runs.push(performance.now() < overMs ? await runTrusted(source, timeoutMs, locked) : TIMED_OUT);
  return runs;
}

const TIMED_OUT: PluginLoad = {
  ok: false,
  reason: 'was not loaded, for those before it took all the time there is',
  sha256: null,
};

async function runTrusted(source: PluginSource, timeoutMs: number, locked: LockedFiles): Promise<PluginLoad> {
  const vetted = await vetPlugin(source, locked);
  const { sha256 } = vetted;
  return vetted.ok
    ? { ...(await runPlugin(source.path, timeoutMs)), sha256 }
    : { ok: false, reason: vetted.why, sha256 };
}

async function judgePlugin(
  source: PluginSource,
  run: PluginLoad,
  settings: PolicySettings,
  taken: TakenNames,
): Promise<VettedPlugin> {
  const { kind, from } = source;
  const { sha256 } = run;
  if (!run.ok)
    return {
      report: buildLeftOutReport(source, sha256, [buildConfigProblem(from, [], run.reason)]),
      plugin: null,
    };
  const admission = await admitPlugin(run.value, from, settings, taken).catch(() => tooDeep(from));
  if (!admission.ok)
    return { report: buildLeftOutReport(source, sha256, admission.problems, admission.name), plugin: null };
  const { plugin } = admission;
  const { name, version } = plugin;
  const report = { name, version, kind, from, status: 'active', sha256, problems: [] } as const;
  return { report: { ...report, ...listPlugNames(plugin) }, plugin };
}

/** Reports an export that is nested too deeply to check. */
const tooDeep = (from: string) => ({
  ok: false as const,
  name: null,
  problems: [buildConfigProblem(from, [], 'has records that cannot be checked; they may be nested too deep')],
});

function listPlugNames({ detectors, ...named }: Plugin): Pick<PluginReport, PlugKind> {
  const names = (kind: Exclude<PlugKind, 'detectors'>) => named[kind].map(({ name }) => name);
  return {
    detectors: detectors.map(({ id }) => id),
    templates: names('templates'),
    drivers: names('drivers'),
    dialects: names('dialects'),
    adapters: names('adapters'),
  };
}

function buildLeftOutReport(
  { kind, from }: PluginSource,
  sha256: string | null,
  problems: readonly DocumentProblem[],
  name: string | null = null,
): PluginReport {
  return {
    name: name ?? basename(from),
    version: null,
    kind,
    from,
    status: 'rejected',
    sha256,
    detectors: [],
    templates: [],
    drivers: [],
    dialects: [],
    adapters: [],
    problems,
  };
}
