import type { Problem } from '../../core/types.ts';
import type { Config } from '../config/index.ts';
import { loadPolicy } from '../policies/index.ts';
import type { CaseResult } from '../policies/test-policy.ts';
import { type Applied, applyChange, isInterrupted, type Turn, takeTurn } from './apply.ts';
import { type Change, changeToAdd, changeToRemove, type SkillState, stateOf } from './change.ts';
import { type Effect, effectOf } from './effect.ts';
import { SkillFailure } from './failure.ts';
import { type LockedSkill, readLock } from './lock-file.ts';
import { compareVersions } from './manifest.ts';
import type { Skill } from './package.ts';
import { rehearse } from './rehearse.ts';

/** What adding or removing a skill would do, before anything is done. */
export interface SkillPlan {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  /** What is there of the skill now; `null`: nothing. */
  readonly replaces: LockedSkill | null;
  readonly files: Change;
  /** `null` where the policy cannot be compared: it is not valid now, and a removal goes ahead. */
  readonly effect: Effect | null;
  /** Remarks of the compiler that are new. */
  readonly warnings: readonly Problem[];
  /** What came of the cases that the skill brings, under the whole policy. */
  readonly cases: readonly CaseResult[];
  /** Patterns of `paths` that would find no file any more: a service that runs keeps the rules until it is restarted. */
  readonly emptied: readonly string[];
  /** Whether an earlier change had been interrupted, and was mended first. */
  readonly mended: boolean;
}

/** A plan that can be carried out once, or left. */
export interface OpenPlan {
  readonly plan: SkillPlan;
  /** Puts it in place, whole or not at all. @throws SkillFailure */
  readonly carryOut: () => Promise<Applied>;
  /** Must be called in the end, whatever came of it. */
  readonly close: () => Promise<void>;
}

/**
 * Plans to add a skill, or to put it in place of another version of itself.
 * @param service_version the version of the service, which the manifest may name a lower bound for
 * @throws SkillFailure where it cannot be: a file is in the way, or the policy would not be valid
 */
export function planToAdd(config: Config, skill: Skill, service_version: string): Promise<OpenPlan> {
  if (skill.service_min !== null && compareVersions(service_version, skill.service_min) < 0)
    throw new SkillFailure(
      'skill_invalid',
      `It needs version ${skill.service_min} of the service, and this is ${service_version}.`,
    );
  return inTurn(config, async (base_dir, mended) => {
    const lock = await readLock(base_dir);
    const files = await changeToAdd(base_dir, lock, skill);
    const { name, version, source } = skill;
    const replaces = lock.skills[name] ?? null;
    return { name, version, source, replaces, files, mended, ...(await weigh(config, files)) };
  });
}

/**
 * Plans to remove a skill. Files that were changed by hand are kept, unless `force` says otherwise.
 * @throws SkillFailure `not_found`; `policy_invalid` where what is left would not be valid and there is no `force`
 */
export function planToRemove(config: Config, name: string, force: boolean): Promise<OpenPlan> {
  return inTurn(config, async (base_dir, mended) => {
    const lock = await readLock(base_dir);
    const replaces = Object.hasOwn(lock.skills, name) ? lock.skills[name]! : null;
    if (replaces === null) throw new SkillFailure('not_found', notThere(name, Object.keys(lock.skills)));
    const files = await changeToRemove(base_dir, lock, name, force);
    const { version, source } = replaces;
    const weighed = await weigh(config, files).catch((error: unknown) => {
      if (force && error instanceof SkillFailure) return UNWEIGHED;
      throw error;
    });
    return { name, version, source, replaces, files, mended, ...weighed };
  });
}

function notThere(name: string, there: readonly string[]): string {
  const named =
    there.length === 0 ? 'there are none' : `there ${there.length === 1 ? 'is' : 'are'} ${there.join(', ')}`;
  return `No skill \`${name}\` was added here; ${named}.`;
}

const UNWEIGHED = { effect: null, warnings: [], cases: [], emptied: [] } as const;

type Weighed = Pick<SkillPlan, 'effect' | 'warnings' | 'cases' | 'emptied'>;

/** @throws SkillFailure `policy_invalid` */
async function weigh(config: Config, { changes }: Change): Promise<Weighed> {
  const now = await loadPolicy(config);
  if (!now.ok)
    throw new SkillFailure(
      'policy_invalid',
      'The policy is not valid as it is; mend it first:',
      now.problems,
    );
  const { policy, problems, warnings, cases, emptied } = await rehearse(config, changes);
  if (policy === null)
    throw new SkillFailure('policy_invalid', 'Nothing was changed, for it would not be valid:', problems);
  const known = new Set(now.warnings.map(({ message }) => message));
  const fresh = warnings.filter(({ message }) => !known.has(message));
  return { effect: effectOf(now.policy, policy), warnings: fresh, cases, emptied };
}

async function inTurn(
  config: Config,
  make: (base_dir: string, mended: boolean) => Promise<SkillPlan>,
): Promise<OpenPlan> {
  const { base_dir } = config.origin;
  const turn: Turn = await takeTurn(base_dir);
  try {
    const plan = await make(base_dir, turn.mended);
    const check = () => checkInPlace(config, plan);
    const carryOut = () => applyChange(base_dir, plan.files.changes, plan.files.lock, check);
    return { plan, carryOut, close: turn.release };
  } catch (error) {
    await turn.release();
    throw error;
  }
}

/** What is there must be what was shown; somebody may have edited another file in between. */
async function checkInPlace(config: Config, { effect }: SkillPlan): Promise<void> {
  if (effect === null) return;
  const made = await loadPolicy(config);
  if (made.ok && made.policy.hash === effect.policy_hash) return;
  throw new SkillFailure(
    'conflict',
    'The policy would not be the one that was shown, for another file was changed in the meantime. Nothing was changed; try again.',
  );
}

/** A skill that was added, and how its files stand. */
export interface ListedSkill extends SkillState {
  readonly name: string;
  readonly version: string;
  readonly source: string;
  readonly files: readonly string[];
}

/**
 * Every skill that was added beside a configuration, sorted by name, and whether a change of them was interrupted.
 * @throws SkillFailure `lock_invalid`
 */
export async function listSkills(
  config: Config,
): Promise<{ readonly skills: readonly ListedSkill[]; readonly interrupted: boolean }> {
  const { base_dir } = config.origin;
  const lock = await readLock(base_dir);
  const listed = Object.entries(lock.skills).map(async ([name, skill]) => {
    const { version, source, files } = skill;
    return { name, version, source, files: Object.keys(files), ...(await stateOf(base_dir, skill)) };
  });
  const skills = (await Promise.all(listed)).sort((a, b) => (a.name < b.name ? -1 : 1));
  return { skills, interrupted: isInterrupted(base_dir) };
}

/** Whether a skill brings policies and their cases, and nothing else. */
export function isTemplate({ files }: Skill): boolean {
  return files.every(({ kind }) => kind.holds === 'policy' || kind.holds === 'cases');
}
