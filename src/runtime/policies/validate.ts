import type { DocumentProblem } from '../../core/types/index.ts';
import { listExcludedProblems } from '../plugins/excluded-plugins.ts';
import { findFingerprintProblem } from './fingerprints.ts';
import type { ConfigRequest, LoadConfig } from './load-config.ts';
import { loadPolicy } from './load-policy.ts';
import { findPolicyWarnings } from './policy-warnings.ts';

/** The number of each part of a configuration. */
export interface PolicyCounts {
  /** Custom rules of all tenants, without the built-in ones. */
  readonly rules: number;
  readonly tenants: number;
  readonly contracts: number;
  readonly identities: number;
  readonly memory_schemas: number;
  /** Custom detectors, and those of plug-ins. */
  readonly patterns: number;
  /** Plug-ins in use. Their detectors are counted in the patterns too. */
  readonly plugins: number;
  /** Allowlisted values, including expired ones. */
  readonly allowlist: number;
}

/** The result of `customshouse validate`. */
export interface Validation {
  readonly valid: boolean;
  /** The configuration file, as messages name it. `null` if there is none and the defaults apply. */
  readonly config_file: string | null;
  /** The document files that were read. */
  readonly files: readonly string[];
  /** `null` if there is no valid policy. */
  readonly counts: PolicyCounts | null;
  readonly policy_hash: string | null;
  readonly problems: readonly DocumentProblem[];
  readonly warnings: readonly DocumentProblem[];
}

/** Checks a configuration and every document that it names, without starting a service. */
export async function validateConfiguration(
  request: ConfigRequest,
  loadConfig: LoadConfig,
): Promise<Validation> {
  const nothing = {
    valid: false,
    config_file: null,
    files: [],
    counts: null,
    policy_hash: null,
    warnings: [],
  };
  const read = await loadConfig(request);
  if (!read.ok) return { ...nothing, config_file: read.problems[0]?.file ?? null, problems: read.problems };
  const { origin, tenants } = read.config;
  const configFile = origin.file === null ? null : origin.label;
  const made = await loadPolicy(read.config);
  if (!made.ok) {
    const warnings = [...read.warnings, ...made.warnings];
    return { ...nothing, config_file: configFile, problems: made.problems, warnings };
  }
  const leftOut = listExcludedProblems(made.plugins);
  if (leftOut.length > 0) {
    const reported = new Set(leftOut.map(({ message }) => message));
    const warnings = [...read.warnings, ...made.warnings].filter(({ message }) => !reported.has(message));
    return { ...nothing, config_file: configFile, files: made.files, problems: leftOut, warnings };
  }
  const { policy, files, plugins } = made;
  const keyless = findFingerprintProblem(read.config, policy);
  // The key stays on the machine of the service, so a pipeline that checks the configuration does not need it.
  const doubtful = await findPolicyWarnings(read.config, made);
  const warnings = [...read.warnings, ...made.warnings, ...doubtful, ...getWarning(keyless)];
  const scoped = [...policy.rules, ...policy.contracts, ...policy.identities, ...policy.memory_schemas];
  const counts: PolicyCounts = {
    rules: policy.rules.length,
    tenants: new Set([...Object.keys(tenants), ...scoped.flatMap(({ tenant_id }) => tenant_id ?? [])]).size,
    contracts: policy.contracts.length,
    identities: policy.identities.length,
    memory_schemas: policy.memory_schemas.length,
    patterns: policy.detection.patterns.length,
    plugins: plugins.plugins.length,
    allowlist: policy.detection.allowlist.length,
  };
  return {
    valid: true,
    config_file: configFile,
    files,
    counts,
    policy_hash: policy.hash,
    problems: [],
    warnings,
  };
}

function getWarning(problem: DocumentProblem | null): DocumentProblem[] {
  return problem === null ? [] : [{ ...problem, level: 'warning' }];
}
