import { join } from 'node:path';
import type { Static } from 'typebox';
import { readShape } from '../../core/policy/compile/shape-problems.ts';
import { Type } from '../../core/schema.ts';
import type { Json } from '../../core/types/index.ts';
import { readText } from '../config/read-text.ts';
import { readPathState } from './disk.ts';
import { SkillFailure } from './failure.ts';
import { findFileKind, SKILL_FOLDERS } from './kinds.ts';
import { LOCK_FILE } from './lock-name.ts';
import { skillNameSchema, skillVersionSchema } from './manifest-schema.ts';
import type { Skill } from './package.ts';

const text = Type.String({ minLength: 1, maxLength: 2_000 });

const lockedSkillSchema = Type.Object(
  {
    version: skillVersionSchema,
    source: text,
    /** SHA-512 of the archive in npm's format. Absent if there was no archive. */
    integrity: Type.Optional(text),
    /** Every file with the SHA-256 of its bytes, in hexadecimal. */
    files: Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{64}$' })),
  },
  { additionalProperties: false },
);
export type LockedSkill = Static<typeof lockedSkillSchema>;

const lockSchema = Type.Object(
  {
    version: Type.Enum(['v1alpha1']),
    skills: Type.Record(Type.String(), lockedSkillSchema),
    /** The folders that were created for skills, parents first. An empty one is removed. */
    folders: Type.Array(text, { maxItems: 20 }),
  },
  { additionalProperties: false },
);
/** The installed skills, by name. */
export type SkillsLock = Static<typeof lockSchema>;

/** The lock of a folder without skills. */
export const EMPTY_LOCK: SkillsLock = { version: 'v1alpha1', skills: {}, folders: [] };

const NAME = new RegExp(skillNameSchema.pattern);
/**
 * Reads the lock file next to a configuration. Empty if there is none. The file can be edited or come with a
 * checkout, so it is trusted only if a skill can write to every path in it.
 * @throws SkillFailure `lock_invalid`
 */
export async function readLock(baseDir: string): Promise<SkillsLock> {
  const existing = await readPathState(baseDir, LOCK_FILE);
  if (existing === 'nothing') return EMPTY_LOCK;
  if (existing === 'other') throw buildInvalidLockFailure(`\`${LOCK_FILE}\` is no regular file`);
  const read = await readText(join(baseDir, LOCK_FILE));
  if (!read.ok) throw buildInvalidLockFailure(`\`${LOCK_FILE}\` ${read.message}`);
  const value = parseLockText(read.text);
  const { value: lock, problems } = readShape(value, lockSchema, { file: LOCK_FILE, path: '' });
  if (lock === null) throw new SkillFailure('lock_invalid', SENTENCE, problems);
  const owners = new Map<string, string>();
  for (const [name, { files }] of Object.entries(lock.skills)) {
    if (!NAME.test(name) || name.length > skillNameSchema.maxLength)
      throw buildInvalidLockFailure(`\`${LOCK_FILE}\` has an entry whose name is not a valid skill name`);
    for (const path of Object.keys(files)) {
      if (findFileKind(path) === null)
        throw buildInvalidLockFailure(`\`${LOCK_FILE}\` names a file in \`${name}\` that no skill may own`);
      if (owners.has(path)) throw buildInvalidLockFailure(`\`${LOCK_FILE}\` gives \`${path}\` to two skills`);
      owners.set(path, name);
    }
  }
  if (lock.folders.some((folder) => !SKILL_FOLDERS.includes(folder)))
    throw buildInvalidLockFailure(`\`${LOCK_FILE}\` names a folder that no skill makes`);
  return lock;
}

const SENTENCE = 'The lock file is not as this program writes it:';

function parseLockText(written: string): Json {
  try {
    return JSON.parse(written) as Json;
  } catch {
    throw buildInvalidLockFailure(`\`${LOCK_FILE}\` is no JSON`);
  }
}

function buildInvalidLockFailure(what: string): SkillFailure {
  return new SkillFailure(
    'lock_invalid',
    `${what}. Put back the one that was there, or delete it and tend the files of skills by hand.`,
  );
}

/** Serializes a lock file. Skills and files are sorted, so that diffs are small. */
export function formatLock(lock: SkillsLock): string {
  const skills = sortByName(lock.skills, (skill) => ({
    ...skill,
    files: sortByName(skill.files, (hash) => hash),
  }));
  return `${JSON.stringify({ version: lock.version, skills, folders: lock.folders }, null, 2)}\n`;
}

function sortByName<Value, Made>(
  record: Readonly<Record<string, Value>>,
  make: (value: Value) => Made,
): Record<string, Made> {
  const names = Object.keys(record).sort();
  return Object.fromEntries(names.map((name) => [name, make(record[name] as Value)]));
}

/** Builds the lock entry of a skill. */
export function buildLockedSkill({ version, source, integrity, files }: Skill): LockedSkill {
  return {
    version,
    source,
    ...(integrity !== null && { integrity }),
    files: Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256])),
  };
}
