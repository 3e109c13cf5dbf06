import type { DocumentProblem } from '../../core/types/index.ts';
import { buildConfigProblem } from '../config/problem-text.ts';
import { assertInside, type PathState, readPathState } from '../packages/disk.ts';
import { SkillFailure } from '../packages/failure.ts';
import { buildLockedSkill, type LockedSkill, type SkillsLock } from '../packages/lock-file.ts';
import type { Skill } from '../packages/package.ts';

/** The planned change of one file. `before` and `after` are SHA-256, or `null` if there is no file. */
export interface FileChange {
  readonly path: string;
  readonly action: 'create' | 'replace' | 'delete';
  readonly before: string | null;
  readonly after: string | null;
  /** The new content; `null` if the file is removed. */
  readonly text: string | null;
}

/** The planned changes of all files of a skill. */
export interface SkillChange {
  readonly changes: readonly FileChange[];
  /** Files that are kept because they were changed by hand, though the skill no longer has them. */
  readonly kept: readonly string[];
  /** Files that need no change. */
  readonly unchanged: readonly string[];
  readonly lock: SkillsLock;
}

/**
 * Plans the file changes that add a skill or replace its installed version.
 * @throws SkillFailure `conflict`, with every conflicting file
 */
export async function buildAddition(baseDir: string, lock: SkillsLock, skill: Skill): Promise<SkillChange> {
  const owned = lock.skills[skill.name]?.files ?? {};
  const changes: FileChange[] = [];
  const unchanged: string[] = [];
  const problems: DocumentProblem[] = [];
  for (const { path, text, sha256 } of skill.files) {
    await assertInside(baseDir, path);
    const existing = await readPathState(baseDir, path);
    const owner = getOwner(lock, path);
    if (owner !== null && owner !== skill.name)
      problems.push(buildConfigProblem(path, [], `is of the skill \`${owner}\`; one file cannot be of two`));
    else if (existing === 'nothing')
      changes.push({ path, action: 'create', before: null, after: sha256, text });
    else if (owner === null) problems.push(buildConfigProblem(path, [], IN_THE_WAY));
    else if (existing === 'other') problems.push(buildConfigProblem(path, [], 'is no regular file any more'));
    else if (existing.sha256 === sha256) unchanged.push(path);
    else if (existing.sha256 === owned[path])
      changes.push({ path, action: 'replace', before: existing.sha256, after: sha256, text });
    else problems.push(buildConfigProblem(path, [], CHANGED));
  }
  if (problems.length > 0)
    throw new SkillFailure('conflict', 'Nothing was changed, for files are in the way:', problems);
  const left = Object.entries(owned).filter(([path]) => !skill.files.some((file) => file.path === path));
  const leaving = await changeToLeave(baseDir, left, false);
  return {
    changes: [...changes, ...leaving.changes],
    kept: leaving.kept,
    unchanged,
    lock: { ...lock, skills: { ...lock.skills, [skill.name]: buildLockedSkill(skill) } },
  };
}

const IN_THE_WAY = 'is there already, and is of no skill; move it away, or see whether you need the skill';
const CHANGED =
  'was edited since the installation; restore it, or remove the skill, which keeps it, and move it away';

function getOwner({ skills }: SkillsLock, path: string): string | null {
  const owner = Object.entries(skills).find(([, { files }]) => Object.hasOwn(files, path));
  return owner?.[0] ?? null;
}

/** Plans the file changes that remove a skill. `force` also removes files that were changed by hand. */
export async function buildRemoval(
  baseDir: string,
  lock: SkillsLock,
  name: string,
  force: boolean,
): Promise<SkillChange> {
  const { [name]: removed, ...skills } = lock.skills;
  const { changes, kept } = await changeToLeave(baseDir, Object.entries(removed?.files ?? {}), force);
  return { changes, kept, unchanged: [], lock: { ...lock, skills } };
}

async function changeToLeave(
  baseDir: string,
  files: readonly (readonly [path: string, sha256: string])[],
  force: boolean,
): Promise<{ changes: readonly FileChange[]; kept: readonly string[] }> {
  const changes: FileChange[] = [];
  const kept: string[] = [];
  for (const [path, sha256] of files) {
    await assertInside(baseDir, path);
    const existing = await readPathState(baseDir, path);
    if (existing === 'nothing') continue;
    if (existing !== 'other' && (force || existing.sha256 === sha256))
      changes.push({ path, action: 'delete', before: existing.sha256, after: null, text: null });
    else kept.push(path);
  }
  return { changes, kept };
}

/** The state of a skill's files on the disk. */
export interface SkillState {
  readonly state: 'intact' | 'changed' | 'missing';
  /** Files that differ from the installed content. */
  readonly changed: readonly string[];
  /** Files that are missing. */
  readonly missing: readonly string[];
}

/** Compares the files of a skill with its lock entry. A missing file outranks a changed one. */
export async function compareSkillFiles(baseDir: string, { files }: LockedSkill): Promise<SkillState> {
  const looked = await Promise.all(
    Object.entries(files).map(async ([path, sha256]) => ({
      path,
      found: compareState(await readPathState(baseDir, path), sha256),
    })),
  );
  const named = (what: string) => looked.filter(({ found }) => found === what).map(({ path }) => path);
  const [changed, missing] = [named('changed'), named('missing')];
  const state = missing.length > 0 ? 'missing' : changed.length > 0 ? 'changed' : 'intact';
  return { state, changed, missing };
}

function compareState(existing: PathState, sha256: string): 'intact' | 'changed' | 'missing' {
  if (existing === 'nothing') return 'missing';
  return existing !== 'other' && existing.sha256 === sha256 ? 'intact' : 'changed';
}
