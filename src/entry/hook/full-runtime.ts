import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { LocalRuntime } from '../../operations/runtime.ts';
import { StartFailure } from '../../platform/failure.ts';
import type { DialectSpec } from '../../runtime/adapters/types.ts';
import { writeFileDurably } from '../../runtime/audit/files.ts';
import { findFiles } from '../../runtime/config/document-files.ts';
import type { Config } from '../../runtime/config/index.ts';
import { resolveRealPath } from '../../runtime/config/real-file.ts';
import { readLoggedTexts } from '../../runtime/enforcement/logged-texts.ts';
import { readSessionLimits } from '../../runtime/enforcement/sessions/settings.ts';
import { buildManagedPolicyPath } from '../../runtime/managed-policy/managed-policy.ts';
import { hasPlugins } from '../../runtime/plugins/excluded-plugins.ts';
import { loadConfiguredPlugins } from '../../runtime/policies/load-policy.ts';
import { isSaved, savePolicy } from '../../runtime/policies/saved-policy.ts';
import { buildWatchList } from '../../runtime/policies/watch.ts';
import { type FindHookCaller, openHookCallers } from '../../server/hook-callers.ts';
import { loadConfig } from '../../server/load-config.ts';
import { openLocalRuntime } from '../../server/local.ts';
import { buildStatePaths, makeStateDir } from '../../server/state-dir.ts';
import type { HookLocation } from './hook-location.ts';
import {
  computeFileSignature,
  computeSha256,
  digestConfigText,
  getPolicyPath,
  getSnapshotPath,
  type HookSnapshot,
} from './hook-snapshot.ts';

/** A complete runtime for one process and a few decisions. */
export interface FullRuntime {
  readonly runtime: LocalRuntime;
  readonly findCaller: FindHookCaller;
  readonly close: () => Promise<void>;
}

/**
 * Reads the configuration, compiles its policy, and opens everything that a decision may need. `close` saves the policy
 * for the next process that decides by itself.
 *
 * @throws StartFailure `config_invalid` with the problems
 */
export async function openFullRuntime(location: HookLocation, version: string): Promise<FullRuntime> {
  const { path, cwd, env } = location;
  const read = await loadConfig({ path, cwd, env, secrets: 'decide' });
  if (!read.ok) throw new StartFailure('config_invalid', 'The configuration is not valid.', read.problems);
  const { config } = read;
  makeStateDir(config.state_dir);
  const before = await signDependencies(config);
  const runtime = await openLocalRuntime(config, version);
  const close = async (): Promise<void> => {
    // If saving fails, only the next decision is slower.
    await saveSnapshot(config, runtime, { location, version, before }).catch(() => {});
    await runtime.close();
  };
  return { runtime, findCaller: openHookCallers(config.auth.jwt, runtime.now_ms), close };
}

/**
 * Returns the state folder in which refusals are recorded; `null` if the configuration disables the audit log. If the
 * configuration cannot be read, returns the folder that `findHookLocation` found in its text.
 */
export async function findAuditedStateDir({
  path,
  cwd,
  state_dir,
  env,
}: HookLocation): Promise<string | null> {
  const read = await loadConfig({ path, cwd, env, secrets: 'leave' });
  if (!read.ok) return state_dir;
  return read.config.audit.enabled ? read.config.state_dir : null;
}

/**
 * Loads the plug-ins of the configuration and returns the description of a coding agent; `null` if none has it.
 * @throws StartFailure `config_invalid`
 */
export async function loadDeclaredDialect(location: HookLocation, name: string): Promise<DialectSpec | null> {
  const read = await loadConfig({
    path: location.path,
    env: location.env,
    cwd: location.cwd,
    secrets: 'leave',
  });
  if (!read.ok) throw new StartFailure('config_invalid', 'The configuration is not valid.', read.problems);
  const { dialects } = await loadConfiguredPlugins(read.config);
  return dialects.find((dialect) => dialect.name === name) ?? null;
}

type Dependencies = HookSnapshot['dependencies'];

interface SnapshotContext {
  readonly location: HookLocation;
  readonly version: string;
  readonly before: Dependencies | null;
}

async function saveSnapshot(
  config: Config,
  runtime: LocalRuntime,
  { location, version, before }: SnapshotContext,
): Promise<void> {
  const { state_dir, origin, audit } = config;
  const dependencies = await signDependencies(config);
  const isSteady = JSON.stringify(dependencies) === JSON.stringify(before);
  // No snapshot is saved for a policy that needs more than the configuration's files, or that needs a plug-in or a
  // classifier.
  if (
    dependencies === null ||
    !isSteady ||
    config.detection.fingerprint_key !== undefined ||
    config.classifiers.length > 0 ||
    !hasNoSecretReference(location.text) ||
    hasPlugins(config)
  )
    return rm(getSnapshotPath(state_dir), { force: true });
  const policy = runtime.policy();
  const { policies } = buildStatePaths(state_dir);
  if (!(await isSaved(policies, policy))) await savePolicy(policies, policy);
  const snapshot: HookSnapshot = {
    version,
    config_file: origin.file === null ? null : resolveRealPath(origin.file),
    config_digest: digestConfigText(location.text, location.env),
    dependencies,
    state_dir,
    policy_hash: policy.hash,
    policy_digest: computeSha256(readFileSync(getPolicyPath(state_dir, policy.hash))),
    audit_enabled: audit.enabled,
    logged_texts: readLoggedTexts(audit),
    session_limits: readSessionLimits(config.sessions),
  };
  await writeFileDurably(getSnapshotPath(state_dir), `${JSON.stringify(snapshot)}\n`);
}

/** A rule may read a value from a secret backend, which can change without a file changing, so no snapshot is saved. */
function hasNoSecretReference(text: string | null): boolean {
  return text === null || !text.includes('${secret:');
}

const WILD = /[*?[\]{}()!]/;

/**
 * Returns the managed policy, the documents and the folders that patterns search, with their signatures; `null` if a
 * pattern has a wildcard in its folder.
 */
async function signDependencies(config: Config): Promise<Dependencies | null> {
  const managed = buildManagedPolicyPath(config.state_dir);
  const found = new Map([[managed, computeFileSignature(managed)]]);
  const { base_dir, files, patterns } = buildWatchList(config);
  for (const file of files) if (file !== config.origin.file) found.set(file, computeFileSignature(file));
  for (const pattern of patterns) {
    const path = resolve(base_dir, pattern);
    const folder = dirname(path);
    if (WILD.test(dirname(pattern))) return null;
    if (WILD.test(pattern)) found.set(folder, computeFileSignature(folder));
    for (const file of (await findFiles(pattern, base_dir)).paths)
      found.set(file, computeFileSignature(file));
    if (!WILD.test(pattern)) found.set(path, computeFileSignature(path));
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}
