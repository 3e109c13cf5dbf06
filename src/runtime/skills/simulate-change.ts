import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, extname, isAbsolute, join } from 'node:path';
import { listDocumentRecords } from '../../core/policy/compile/documents.ts';
import type { DocumentProblem, Json, Policy } from '../../core/types/index.ts';
import { findDocuments, PATH_KEYS, type PathKey } from '../config/document-files.ts';
import type { Config } from '../config/index.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { SkillFailure } from '../packages/failure.ts';
import { findFileKind } from '../packages/kinds.ts';
import type { PluginReport } from '../plugins/types.ts';
import { listGuardedPaths } from '../policies/guarded-paths.ts';
import { loadPolicy } from '../policies/index.ts';
import { readDocuments } from '../policies/read-documents.ts';
import { type CaseResult, testPolicy } from '../policies/test-policy.ts';
import type { FileChange } from './change.ts';
import { loadPluginsAfter, movePattern } from './simulate-plugins.ts';

/** The result of a change, computed without applying it. */
export interface SimulatedChange {
  /** `null` if there would be no valid policy; `problems` gives the reasons. */
  readonly policy: Policy | null;
  readonly problems: readonly DocumentProblem[];
  readonly warnings: readonly DocumentProblem[];
  /** The results of the test cases in the change. */
  readonly cases: readonly CaseResult[];
  /** Patterns of `paths` and `plugins` that match files now and would match none. */
  readonly emptied: readonly string[];
  /** The reports of the plug-ins in the change. */
  readonly plugins: readonly PluginReport[];
}

/**
 * Compiles the policy that a configuration would have after a change, in a temporary folder. Loads and so runs
 * the plug-ins of the change there, so the caller must have the operator's consent.
 */
export async function simulateChange(
  config: Config,
  changes: readonly FileChange[],
): Promise<SimulatedChange> {
  const baseDir = await mkdtemp(join(tmpdir(), 'service-skills-'));
  try {
    const documentsBefore = await findDocuments(config);
    const labels = await copyDocuments(baseDir, documentsBefore.files, changes);
    const configAfter = moveToFolder(config, baseDir);
    const found = await findDocuments(configAfter);
    const code = await loadPluginsAfter(config, baseDir, changes);
    const seen = [...found.files.map(({ label }) => label), ...code.seen];
    const problems = [
      ...code.problems,
      ...findUnreadFiles(changes, seen),
      ...findUntestedFiles(labels, seen),
      ...(await findMisplacedRecords(baseDir, changes)),
    ];
    const made = await loadPolicy(configAfter, {
      plugins: code.loaded,
      guarded_paths: listGuardedPaths(config),
    });
    const warnings = made.warnings.filter(({ path }) => !/^(?:paths|plugins)/.test(path));
    const emptied = [...documentsBefore.filled.filter((id) => !found.filled.includes(id)), ...code.emptied];
    const report = { warnings, emptied, plugins: code.brought };
    if (!made.ok) problems.push(...made.problems);
    if (!made.ok || problems.length > 0) return { ...report, policy: null, problems, cases: [] };
    const cases = await runCases(made.policy, configAfter, changes);
    return { ...report, policy: made.policy, problems: [], cases };
  } finally {
    await rm(baseDir, { recursive: true, force: true });
  }
}

/** Copies the documents as they will be. Returns the labels that the rehearsal must find again. */
async function copyDocuments(
  baseDir: string,
  files: readonly { readonly path: string; readonly label: string }[],
  changes: readonly FileChange[],
): Promise<readonly string[]> {
  const gone = new Set(changes.map(({ path }) => path));
  const kept = files.filter(({ label }) => !gone.has(label));
  for (const { path, label } of kept) {
    if (isAbsolute(label)) continue;
    await mkdir(dirname(join(baseDir, label)), { recursive: true });
    // An unreadable file is reported when the policy is loaded.
    await copyFile(path, join(baseDir, label)).catch(() => {});
  }
  for (const { path, text } of changes) {
    if (text === null) continue;
    await mkdir(dirname(join(baseDir, path)), { recursive: true });
    await writeFile(join(baseDir, path), text);
  }
  return kept.map(({ label }) => label);
}

/**
 * Returns the same configuration for another folder. Paths that lead out of the folder still name the same
 * files.
 */
function moveToFolder(config: Config, baseDir: string): Config {
  const paths: Record<PathKey, readonly string[]> = { ...config.paths };
  for (const key of PATH_KEYS) paths[key] = paths[key].map((pattern) => movePattern(config, pattern));
  return { ...config, paths, origin: { ...config.origin, base_dir: baseDir } };
}

/** Reports files that the configuration would not read, because an unread policy protects nothing. */
function findUnreadFiles(changes: readonly FileChange[], seen: readonly string[]): DocumentProblem[] {
  return changes.flatMap(({ path, text }) => {
    const kind = findFileKind(path);
    if (text === null || kind === null || kind.read_by === null || seen.includes(path)) return [];
    const files = `\`${kind.folder}*${kind.holds === 'code' ? extname(path) : '.yaml'}\``;
    const what = `would not be read: add ${files} to \`${kind.read_by}\` in service.yaml`;
    return [buildConfigProblem(path, [], what)];
  });
}

function findUntestedFiles(labels: readonly string[], seen: readonly string[]): DocumentProblem[] {
  return labels
    .filter((label) => !seen.includes(label))
    .map((label) =>
      buildConfigProblem(label, [], 'is named in `paths` in a way that cannot be tried out beforehand'),
    );
}

/** A list of contracts among the policies would be read, but it would not be what the manifest declares. */
async function findMisplacedRecords(
  baseDir: string,
  changes: readonly FileChange[],
): Promise<DocumentProblem[]> {
  const files = changes.flatMap(({ path, text }) =>
    text === null ? [] : [{ path: join(baseDir, path), label: path }],
  );
  const { documents } = await readDocuments(files);
  return documents.flatMap(({ file, value }) => {
    const holds = findFileKind(file.replace(/#\d+$/, ''))?.holds;
    if (holds === undefined || holds === 'cases' || holds === 'code') return [];
    return listDocumentRecords(file, value as Json, [])
      .filter(({ kind }) => kind !== holds)
      .map(({ kind }) =>
        buildConfigProblem(file, [], `holds a ${kind} document, and is listed as a ${holds} document`),
      );
  });
}

/** @throws SkillFailure `skill_invalid` if the test cases are not valid */
async function runCases(
  policy: Policy,
  config: Config,
  changes: readonly FileChange[],
): Promise<readonly CaseResult[]> {
  const files = changes.flatMap(({ path, text }) =>
    text !== null && findFileKind(path)?.holds === 'cases' ? [path] : [],
  );
  if (files.length === 0) return [];
  const { results, problems } = await testPolicy(policy, config, files, config.origin.base_dir);
  if (problems.length > 0)
    throw new SkillFailure('skill_invalid', 'Its cases are not written as they must be:', problems);
  return results;
}
