import { join } from 'node:path';
import type { DocumentProblem } from '../../core/types/index.ts';
import type { Config } from '../config/index.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { resolveRealPath } from '../config/real-file.ts';
import { SkillFailure } from '../packages/failure.ts';
import { findFileKind } from '../packages/kinds.ts';
import { type LockedSkill, readLock } from '../packages/lock-file.ts';
import { LOCK_FILE } from '../packages/lock-name.ts';
import { compareVersions } from '../packages/manifest.ts';
import type { Skill } from '../packages/package.ts';
import { resolveLockedFiles } from '../plugins/locked-files.ts';
import { addTrustedFiles } from '../plugins/trusted-files.ts';
import type { PluginReport } from '../plugins/types.ts';
import { loadConfiguredPlugins, loadPolicy } from '../policies/index.ts';
import type { CaseResult } from '../policies/test-policy.ts';
import {
  type AppliedSkillChange,
  applyChange,
  isInterrupted,
  lockSkillsFolder,
  type SkillsFolderLock,
} from './apply.ts';
import {
  buildAddition,
  buildRemoval,
  compareSkillFiles,
  type FileChange,
  type SkillChange,
  type SkillState,
} from './change.ts';
import { comparePolicies, type PolicyEffect } from './policy-effect.ts';
import { simulateChange } from './simulate-change.ts';
import { listCodeHashes } from './simulate-plugins.ts';

/** The effect of adding or removing a skill, computed before any change. */
export interface SkillPlan {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  /** The installed version of the skill, or `null`. */
  readonly replaces: LockedSkill | null;
  readonly files: SkillChange;
  /**
   * `null` if the policies cannot be compared, because the present one is not valid. A removal proceeds anyway.
   */
  readonly effect: PolicyEffect | null;
  /** New warnings of the compiler. */
  readonly warnings: readonly DocumentProblem[];
  /** The results of the skill's test cases under the whole policy. */
  readonly cases: readonly CaseResult[];
  /** Patterns that would match no file any more. A running service keeps its policy until it is restarted. */
  readonly emptied: readonly string[];
  /** The parts of its plug-ins, which were loaded to list them. */
  readonly plugins: readonly PluginReport[];
  /** True if recovery from an interrupted change ran first. */
  readonly recovered: boolean;
}

/** A plan that can be applied once, or discarded. */
export interface OpenPlan {
  readonly plan: SkillPlan;
  /** Applies the plan atomically. @throws SkillFailure */
  readonly carryOut: () => Promise<AppliedSkillChange>;
  /** Releases the plan. The caller must always call it in the end. */
  readonly close: () => Promise<void>;
}

/** The operator's consent to effects that the plan does not show. */
export interface SkillConsent {
  /** Consent to run the plug-ins: now to list their parts, and later in the service. */
  readonly plugins: boolean;
}

/**
 * Plans to add a skill or to replace its installed version.
 * @param serviceVersion - the version of the service, for which the manifest can set a lower bound.
 * @throws SkillFailure if a file conflicts, the policy would not be valid, or the skill contains code without
 * consent
 */
export function planToAdd(
  config: Config,
  skill: Skill,
  serviceVersion: string,
  agreed: SkillConsent = { plugins: false },
): Promise<OpenPlan> {
  if (skill.service_min !== null && compareVersions(serviceVersion, skill.service_min) < 0)
    throw new SkillFailure(
      'skill_invalid',
      `It needs version ${skill.service_min} of the service, and this is ${serviceVersion}.`,
    );
  return planInTurn(config, async (baseDir, recovered) => {
    const lock = await readLock(baseDir);
    const { name, version, source } = skill;
    const replaces = lock.skills[name] ?? null;
    refuseTwins(skill, replaces);
    const files = await buildAddition(baseDir, lock, skill);
    refuseKeptCode(files);
    if (!agreed.plugins) refuseCode(files);
    return { name, version, source, replaces, files, recovered, ...(await weighChange(config, files)) };
  });
}

/**
 * A version in a registry never changes its archive. If it did, the archive was replaced.
 * @throws SkillFailure `conflict`
 */
function refuseTwins({ name, version, source, integrity }: Skill, locked: LockedSkill | null): void {
  if (!source.startsWith('npm:') || locked?.source !== source || locked.integrity === integrity) return;
  throw new SkillFailure(
    'conflict',
    `Nothing was changed: ${name} ${version} is another archive than the one of this version in \`${LOCK_FILE}\`. Ask who publishes it; if that is meant, remove the skill first.`,
  );
}

/**
 * While the skill owns a changed plug-in, it does not run. If it were kept as a file of the operator, it would.
 * @throws SkillFailure `conflict`
 */
function refuseKeptCode({ kept }: SkillChange): void {
  const code = kept.filter((path) => findFileKind(path)?.holds === 'code');
  if (code.length === 0) return;
  const what = 'was edited since the installation and would run if it stayed; review it and move it away';
  const problems = code.map((path) => buildConfigProblem(path, [], what));
  throw new SkillFailure('conflict', 'Nothing was changed, for changed code would be left:', problems);
}

/** @throws SkillFailure `plugins_refused` with every new or changed plug-in */
function refuseCode({ changes }: SkillChange): void {
  const code = changes.filter(({ path, text }) => text !== null && findFileKind(path)?.holds === 'code');
  if (code.length === 0) return;
  const problems = code.map(({ path, text, after }) => {
    const bytes = Buffer.byteLength(text ?? '').toLocaleString('en');
    return buildConfigProblem(
      path,
      [],
      `is code of ${bytes} bytes that would run in the service (SHA-256 ${after})`,
    );
  });
  const sentence =
    'Nothing was changed and nothing was run, for the skill brings plug-ins. Read them, and add --allow-plugins where you trust them:';
  throw new SkillFailure('plugins_refused', sentence, problems);
}

/**
 * Plans to remove a skill. Files that were changed by hand are kept, except with `force`.
 * @throws SkillFailure `not_found`; `policy_invalid` if the remaining policy would not be valid and `force` is
 * not set
 */
export function planToRemove(config: Config, name: string, force: boolean): Promise<OpenPlan> {
  return planInTurn(config, async (baseDir, recovered) => {
    const lock = await readLock(baseDir);
    const replaces = Object.hasOwn(lock.skills, name) ? lock.skills[name]! : null;
    if (replaces === null)
      throw new SkillFailure('not_found', formatNotThere(name, Object.keys(lock.skills)));
    const files = await buildRemoval(baseDir, lock, name, force);
    refuseKeptCode(files);
    const { version, source } = replaces;
    const weighed = await weighChange(config, files).catch((error: unknown) => {
      if (force && error instanceof SkillFailure) return UNWEIGHED;
      throw error;
    });
    return { name, version, source, replaces, files, recovered, ...weighed };
  });
}

function formatNotThere(name: string, there: readonly string[]): string {
  const named =
    there.length === 0 ? 'there are none' : `there ${there.length === 1 ? 'is' : 'are'} ${there.join(', ')}`;
  return `No skill \`${name}\` was added here; ${named}.`;
}

const UNWEIGHED = { effect: null, warnings: [], cases: [], emptied: [], plugins: [] } as const;

type PlanEffects = Pick<SkillPlan, 'effect' | 'warnings' | 'cases' | 'emptied' | 'plugins'>;

/** @throws SkillFailure `policy_invalid` */
async function weighChange(config: Config, { changes }: SkillChange): Promise<PlanEffects> {
  const now = await loadPolicy(config);
  if (!now.ok)
    throw new SkillFailure('policy_invalid', 'The present policy is not valid. Fix it first:', now.problems);
  const { policy, problems, warnings, ...reported } = await simulateChange(config, changes);
  if (policy === null)
    throw new SkillFailure('policy_invalid', 'Nothing was changed, for it would not be valid:', problems);
  const known = new Set(now.warnings.map(({ message }) => message));
  const fresh = warnings.filter(({ message }) => !known.has(message));
  return { effect: comparePolicies(now.policy, policy), warnings: fresh, ...reported };
}

async function planInTurn(
  config: Config,
  make: (baseDir: string, recovered: boolean) => Promise<SkillPlan>,
): Promise<OpenPlan> {
  const { base_dir } = config.origin;
  const turn: SkillsFolderLock = await lockSkillsFolder(base_dir);
  try {
    const plan = await make(base_dir, turn.recovered);
    const check = () => checkInPlace(config, plan);
    const carryOut = async () => {
      const applied = await applyChange(base_dir, plan.files.changes, plan.files.lock, check);
      await trustInstalledCode(base_dir, plan.files.changes);
      return applied;
    };
    return { plan, carryOut, close: turn.release };
  } catch (error) {
    await turn.release();
    throw error;
  }
}

/** Records that this user trusts the installed code, to which the operator has agreed. */
async function trustInstalledCode(baseDir: string, changes: readonly FileChange[]): Promise<void> {
  const agreed = listCodeHashes(changes);
  const root = resolveRealPath(baseDir);
  const files = changes.flatMap(({ path, after: sha256 }) =>
    sha256 !== null && agreed.has(sha256) ? [{ path: join(root, path), sha256 }] : [],
  );
  await addTrustedFiles(baseDir, files);
}

/** Verifies that the result equals the plan, because another file may have been edited in the meantime. */
async function checkInPlace(config: Config, { effect, files }: SkillPlan): Promise<void> {
  if (effect === null) return;
  // The lock file is written last, and the plug-ins are already installed.
  const plugins = await loadConfiguredPlugins(config, {
    locked: await resolveLockedFiles(files.lock, config.origin.base_dir),
    reviewed: listCodeHashes(files.changes),
  });
  const made = await loadPolicy(config, { plugins });
  if (made.ok && made.policy.hash === effect.policy_hash) return;
  throw new SkillFailure(
    'conflict',
    'The policy would not be the one that was shown, for another file was changed in the meantime. Nothing was changed; try again.',
  );
}

/** An installed skill and the state of its files. */
export interface ListedSkill extends SkillState {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  readonly files: readonly string[];
}

/**
 * Lists the skills next to a configuration, sorted by name, and whether a change was interrupted.
 * @throws SkillFailure `lock_invalid`
 */
export async function listSkills(
  config: Config,
): Promise<{ readonly skills: readonly ListedSkill[]; readonly interrupted: boolean }> {
  const { base_dir } = config.origin;
  const lock = await readLock(base_dir);
  const listed = Object.entries(lock.skills).map(async ([name, skill]) => {
    const { version, source, files } = skill;
    return {
      name,
      version,
      source,
      files: Object.keys(files),
      ...(await compareSkillFiles(base_dir, skill)),
    };
  });
  const skills = (await Promise.all(listed)).sort((a, b) => (a.name < b.name ? -1 : 1));
  return { skills, interrupted: isInterrupted(base_dir) };
}

/** Returns whether a skill contains only policies and their test cases. */
export function isTemplate({ files }: Skill): boolean {
  return files.every(({ kind }) => kind.holds === 'policy' || kind.holds === 'cases');
}
