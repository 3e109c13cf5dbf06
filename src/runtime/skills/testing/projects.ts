import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadConfig } from '../../../server/load-config.ts';
import type { Config } from '../../config/index.ts';
import { type Archive, readSkill, type Skill } from '../../packages/package.ts';
import { type OpenPlan, planToAdd, planToRemove, type SkillConsent, type SkillPlan } from '../skills.ts';

/** Files by their paths. */
export type Files = Readonly<Record<string, string>>;

/** Runs `use` in a new folder with these files, and removes the folder afterwards. */
export async function withProject<Result>(
  files: Files,
  use: (dir: string) => Promise<Result>,
): Promise<Result> {
  const dir = await mkdtemp(join(tmpdir(), 'skills-'));
  // Installed code is trusted there.
  process.env.XDG_CONFIG_HOME = `${dir}-config`;
  try {
    await writeFiles(dir, files);
    return await use(dir);
  } finally {
    for (const folder of [dir, `${dir}-config`]) await rm(folder, { recursive: true, force: true });
  }
}

/** Writes files and their parent folders. */
export async function writeFiles(dir: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
}

/** Loads the configuration of a folder, which must be valid. */
export async function loadProjectConfig(dir: string): Promise<Config> {
  const read = await loadConfig({ path: null, env: {}, cwd: dir, secrets: 'leave' });
  assert.ok(read.ok, JSON.stringify(read));
  return read.config;
}

/** Returns everything below a folder: folders, links with their targets, and files with all their bytes. */
export async function readTree(dir: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const tree: Record<string, string> = {};
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(dir.length + 1);
    if (entry.isDirectory()) tree[`${name}/`] = '';
    else if (entry.isSymbolicLink()) tree[name] = `-> ${await readlink(path)}`;
    else tree[name] = (await readFile(path)).toString('latin1');
  }
  return Object.fromEntries(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The version of the service in these tests. */
export const SERVICE_VERSION = '0.1.0';

/** Adds a skill, and returns the plan. */
export async function add(dir: string, skill: Skill, agreed?: SkillConsent): Promise<SkillPlan> {
  return carryOutPlan(await planToAdd(await loadProjectConfig(dir), skill, SERVICE_VERSION, agreed));
}

/** Removes a skill, and returns the plan. */
export async function remove(dir: string, name: string, force = false): Promise<SkillPlan> {
  return carryOutPlan(await planToRemove(await loadProjectConfig(dir), name, force));
}

async function carryOutPlan({ plan, carryOut, close }: OpenPlan): Promise<SkillPlan> {
  try {
    await carryOut();
    return plan;
  } finally {
    await close();
  }
}

/** Reads a skill from files, as if from a folder. */
export async function readTestSkill(
  files: Files,
  { source, integrity }: Pick<Archive, 'source' | 'integrity'> = { source: 'folder:./ours', integrity: null },
): Promise<Skill> {
  const read = async (path: string) => (files[path] === undefined ? null : Buffer.from(files[path]));
  return readSkill({ source, integrity, read });
}

/** Returns a manifest that lists some files. */
export function writeManifest(
  lists: Readonly<Record<string, readonly string[]>>,
  version = '1.0.0',
  name = 'ours',
): string {
  const skill = { name, version, description: 'Ours.', ...lists };
  return JSON.stringify({ version: 'v1alpha1', skill });
}

/** Returns a policy document with one rule. */
export function writePolicy(name: string, more: object = {}): string {
  const rule = { name, boundary: 'output', data_tags: ['personal'], action: 'block', ...more };
  return JSON.stringify({ version: 'v1alpha1', policies: [rule] });
}
