import type { CompileInput, CompileResult, PolicySettings } from '../../core/policy/compile/index.ts';
import { suggestName } from '../../core/policy/compile/problems.ts';
import type { AllowedFingerprint, DocumentProblem, Policy } from '../../core/types/index.ts';
import type { GuardedPaths } from '../../core/types/policy.ts';
import { StartFailure } from '../../platform/failure.ts';
import { hashText } from '../../platform/hash-text.ts';
import { type DocumentFiles, findDocuments } from '../config/document-files.ts';
import type { Config } from '../config/index.ts';
import { formatPath, type PathStep, parsePath } from '../config/problem-path.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { readText } from '../config/read-text.ts';
import { readYaml } from '../config/yaml-documents.ts';
import {
  MANAGED_POLICY_FILE,
  type ManagedPolicy,
  readManagedPolicy,
} from '../managed-policy/managed-policy.ts';
import { hasPlugins, listExcludedProblems } from '../plugins/excluded-plugins.ts';
import type { LoadedPlugins, PluginConsent } from '../plugins/index.ts';
import { NO_PLUGINS, type PluginsInUse } from '../plugins/types.ts';
import { listGuardedPaths } from './guarded-paths.ts';
import { addManagedPolicy, readAllDocuments } from './managed-input.ts';
import type { WrittenDocument } from './read-documents.ts';

/** The patterns of `paths` with and without matching files. */
export type PatternMatches = Pick<DocumentFiles, 'filled' | 'empty'>;

export type PolicyResult =
  | {
      readonly ok: true;
      readonly policy: Policy;
      /** The document files that were read, as messages name them. */
      readonly files: readonly string[];
      readonly patterns: PatternMatches;
      readonly warnings: readonly DocumentProblem[];
      /** The plug-ins in use. Excluded plug-ins are also among the warnings. */
      readonly plugins: PluginsInUse;
      /** The source position of each record of the policy. */
      readonly places: CompileResult['locations'];
      /** Adds line numbers to problems at those positions. */
      readonly withLines: (problems: readonly DocumentProblem[]) => Promise<readonly DocumentProblem[]>;
    }
  | {
      readonly ok: false;
      readonly problems: readonly DocumentProblem[];
      readonly warnings: readonly DocumentProblem[];
    };

/** Hypothetical changes of rules, to preview their effect. */
export interface PolicyDraft {
  /** The managed policy to compile instead of the active one. */
  readonly managed?: ManagedPolicy;
  /** Transforms the written input before it is compiled. */
  readonly change?: (written: CompileInput) => CompileInput;
}

/** Hypothetical changes to the configuration, to preview their effect. */
interface HypotheticalChange extends PolicyDraft {
  /** The plug-ins to load instead of the configured ones. */
  readonly plugins?: LoadedPlugins;
  /** The lock entries of the original folder if the policy is tried in another one. */
  readonly guarded_paths?: GuardedPaths;
  /** The state folder that holds the managed policy, if a reload may not change it. */
  readonly state_dir?: string;
}

/**
 * Compiles the policy of a configuration from its inline rules, the rules of its tenants, and the documents
 * that it names. A single problem anywhere means no policy.
 */
export async function loadPolicy(config: Config, supposed: HypotheticalChange = {}): Promise<PolicyResult> {
  const found = await findDocuments(config);
  const { managed = readManagedPolicy(supposed.state_dir ?? config.state_dir) } = supposed;
  if (managed === null) return { ok: false, problems: [UNREADABLE], warnings: [] };
  const read = await readAllDocuments(found.files, managed);
  const { compilePolicy, usesConditions, usesNamedDetectors } = await import(
    '../../core/policy/compile/index.ts'
  );
  const plugins = supposed.plugins ?? (await loadConfiguredPlugins(config).catch(buildRefusal));
  if ('ok' in plugins) return plugins;
  const request = addManagedPolicy(compileInput(config, read.documents, plugins), managed);
  const { guarded_paths = request.settings.guarded_paths } = supposed;
  const written = { ...request, settings: { ...request.settings, ...(guarded_paths && { guarded_paths }) } };
  const input = supposed.change?.(written) ?? written;
  // The import includes all detectors, which would delay a start.
  const named = usesNamedDetectors(input.settings)
    ? await import('../../core/policy/compile/named-detection.ts')
    : undefined;
  const cel = usesConditions(input) ? await import('../../core/policy/conditions/cel.ts') : undefined;
  const compiled = compilePolicy({
    ...input,
    hashText,
    ...(named && { parseNamed: named.parseNamedDetection }),
    ...(cel && { conditions: cel.conditionCompiler }),
  });
  const stated = [
    ...found.problems,
    ...found.warnings,
    ...read.problems,
    ...compiled.problems,
    ...findExpiredEntries(config, Date.now()),
    ...findDriverProblems(config, plugins),
    ...plugins.warnings,
    ...listExcludedProblems(plugins).map((each) => ({ ...each, level: 'warning' as const })),
  ];
  const reported = await withLines(stated, read.documents, config);
  const problems = reported.filter(({ level }) => level === 'error');
  const warnings = reported.filter(({ level }) => level === 'warning');
  if (problems.length > 0) return { ok: false, problems, warnings };
  if (compiled.policy === null)
    return {
      ok: false,
      problems: [buildConfigProblem(config.origin.label, [], 'gives no policy')],
      warnings,
    };
  return {
    ok: true,
    policy: compiled.policy,
    files: found.files.map((file) => file.label),
    patterns: {
      filled: [...found.filled, ...plugins.filled],
      empty: [...found.empty, ...plugins.empty],
    },
    plugins: listPluginsInUse(plugins),
    warnings,
    places: compiled.locations,
    withLines: (problems) => withLines(problems, read.documents, config),
  };
}

/** Converts the failure for untrusted plug-ins. */
function buildRefusal(error: unknown): PolicyResult & { readonly ok: false } {
  if (!(error instanceof StartFailure)) throw error;
  const problems = error.problems.map((problem) => ({ ...problem, level: 'error' }) as const);
  return { ok: false, problems, warnings: [] };
}

/** A damaged copy must not remove rules, so the policy is refused as a whole. */
const UNREADABLE: DocumentProblem = {
  file: MANAGED_POLICY_FILE,
  path: '',
  message: `\`${MANAGED_POLICY_FILE}\` in the state folder is damaged, or this user may not read it. Stop the service and remove the file; a start writes it again from the store.`,
  level: 'error',
};

function listPluginsInUse({ plugins, templates, dialects, adapters }: LoadedPlugins): PluginsInUse {
  return { plugins, templates, dialects, adapters };
}

const NOTHING_LOADED: LoadedPlugins = { ...NO_PLUGINS, patterns: [], filled: [], empty: [], warnings: [] };

/**
 * Loads the plug-ins that a configuration names. Imports nothing if it names none.
 *
 * @throws StartFailure `config_invalid` if the user has not trusted one
 */
export async function loadConfiguredPlugins(config: Config, consent?: PluginConsent): Promise<LoadedPlugins> {
  if (!hasPlugins(config)) return NOTHING_LOADED;
  const { loadPlugins } = await import('../plugins/index.ts');
  return loadPlugins(config, buildPolicySettings(config), consent);
}

function compileInput(
  config: Config,
  documents: readonly WrittenDocument[],
  plugins: LoadedPlugins,
): CompileInput {
  const file = config.origin.label;
  const tenants = Object.entries(config.tenants).map(([tenantId, { policies }]) => ({
    file,
    path: formatPath(['tenants', tenantId, 'policies']),
    tenant_id: tenantId,
    rules: policies,
  }));
  return {
    inline_rules: [{ file, path: 'policies', tenant_id: null, rules: config.policies }, ...tenants],
    documents: documents.map((document) => ({ file: document.file, value: document.value })),
    settings: buildPolicySettings(config, plugins),
  };
}

/**
 * Returns the settings that are part of the policy, which a reload changes without a restart.
 *
 * @param plugins - the plug-ins whose detectors follow those of the configuration
 */
export function buildPolicySettings(config: Config, plugins: LoadedPlugins = NOTHING_LOADED): PolicySettings {
  const { text_bytes_max, depth_max, nodes_max, findings_max } = config.scan;
  return {
    default_action: config.policy.default_action,
    builtin_rules: config.policy.builtin_rules,
    undeclared_tools: config.policy.undeclared_tools,
    unknown_agents: config.policy.unknown_agents ?? null,
    file: config.origin.label,
    secret_detection: config.secret_detection,
    pii_protection: config.pii_protection,
    injection_detection: config.injection_detection,
    command_detection: config.command_detection,
    detection: {
      ...config.detection,
      patterns: [...config.detection.patterns, ...plugins.patterns],
      is_partial: plugins.plugins.some(({ status }) => status === 'rejected'),
      allowlist: config.detection.allowlist.map(getAllowed),
    },
    limits: { text_bytes_max, depth_max, nodes_max, findings_max },
    redaction: { typed: config.redaction.typed },
    guarded_paths: listGuardedPaths(config),
  };
}

type WrittenAllowed = Config['detection']['allowlist'][number];

function getAllowed({ fingerprint, reason, owner, expires_at }: WrittenAllowed): AllowedFingerprint {
  return { fingerprint, reason, owner, expires_ms: Date.parse(expires_at) };
}

/** Returns a warning for each expired allowlist entry, so that an operator renews or removes it. */
function findExpiredEntries({ detection, origin }: Config, nowMs: number): DocumentProblem[] {
  return detection.allowlist.flatMap(({ expires_at }, i) => {
    if (nowMs < Date.parse(expires_at)) return [];
    const what = 'has expired: the value is a finding again; remove the entry, or review and renew it';
    return buildConfigProblem(origin.label, ['detection', 'allowlist', i], what, undefined, 'warning');
  });
}

/**
 * Returns a problem if no loaded plug-in has the configured secret driver. The reason why a plug-in is excluded
 * is a warning of its own.
 */
function findDriverProblems({ secrets, origin }: Config, { plugins }: LoadedPlugins): DocumentProblem[] {
  if (secrets.backend !== 'plugin' || secrets.plugin === undefined) return [];
  const { from, driver } = secrets.plugin;
  const at = (key: string, predicate: string) => [
    buildConfigProblem(origin.label, ['secrets', 'plugin', key], predicate),
  ];
  const plugin = plugins.find((each) => each.from === from);
  if (plugin === undefined)
    return at(
      'from',
      'names no plug-in of `plugins.files` or `plugins.packages`; `customshouse plugins list` shows them',
    );
  if (plugin.status === 'rejected' || plugin.drivers.includes(driver)) return [];
  return at('driver', `names no driver that ${plugin.name} brings${suggestName(driver, plugin.drivers)}`);
}

/** Adds line numbers for documents and inline rules. Reads the configuration again if they need it. */
async function withLines(
  problems: readonly DocumentProblem[],
  documents: readonly WrittenDocument[],
  config: Config,
): Promise<DocumentProblem[]> {
  const places = new Map(documents.map((document) => [document.file, document.lineOf]));
  const { file, label } = config.origin;
  if (file !== null && problems.some((problem) => problem.file === label)) {
    const lineOf = await getLines(file);
    if (lineOf !== null) places.set(label, lineOf);
  }
  return problems.map((problem) => {
    const lineOf = problem.line === undefined ? places.get(problem.file) : undefined;
    return lineOf === undefined ? problem : { ...problem, line: lineOf(parsePath(problem.path)) };
  });
}

async function getLines(file: string): Promise<((steps: readonly PathStep[]) => number) | null> {
  const read = await readText(file);
  const yaml = read.ok ? await readYaml(read.text) : null;
  return yaml?.ok ? (yaml.documents[0]?.lineOf ?? null) : null;
}
