import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { deepFreeze, hashPolicy } from '../../core/policy/compile/policy-hash.ts';
import type { Policy } from '../../core/types/index.ts';
import { makeFolder } from '../../platform/files/folder.ts';
import { hashText } from '../../platform/hash-text.ts';
import { readText } from '../config/read-text.ts';

/**
 * The number of saved policies to keep, newest first. A decision can be explained only while its policy is
 * saved.
 */
const KEPT_MAX = 100;
const POLICY_BYTES_MAX = 268_435_456;
const HASH = /^sha256:([0-9a-f]{64})$/;
const NAME = /^[0-9a-f]{64}\.json$/;

/**
 * Saves a compiled policy under its hash, so that other processes load it without compiling. The write is
 * atomic: a temporary file is flushed and renamed. Creates the folder (0700) if it is missing, and removes all
 * but the newest hundred policies. Returns the file name.
 */
export async function savePolicy(dir: string, policy: Policy): Promise<string> {
  const file = getFile(dir, policy.hash);
  makeFolder(dir);
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFlushed(temporary, JSON.stringify(policy));
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await flushFolder(dir);
  await removeOld(dir, file);
  return file;
}

/**
 * Loads a saved policy and checks that its hash matches. Rejects with a sentence if it is missing, damaged or
 * different.
 */
export async function readPolicy(dir: string, hash: string): Promise<Policy> {
  const read = await readText(getFile(dir, hash), POLICY_BYTES_MAX);
  if (!read.ok) throw new Error(`The saved policy ${hash} ${read.message}.`);
  const policy = parsePolicy(read.text);
  if (policy === null || policy.hash !== hash || hashPolicy(policy, hashText) !== hash) {
    throw new Error(`The saved policy ${hash} is damaged.`);
  }
  return deepFreeze(policy);
}

/**
 * Returns whether this policy is saved with the same guarded paths. The same documents in another folder have
 * the same hash.
 */
export async function isSaved(dir: string, policy: Policy): Promise<boolean> {
  const saved = await readPolicy(dir, policy.hash).catch(() => null);
  const pathsOf = ({ detection }: Policy) => JSON.stringify(detection.guarded_paths);
  return saved !== null && pathsOf(saved) === pathsOf(policy);
}

function getFile(dir: string, hash: string): string {
  const hex = HASH.exec(hash)?.[1];
  if (hex === undefined) throw new Error('A policy is named by `sha256:` and 64 hex digits.');
  return join(dir, `${hex}.json`);
}

function parsePolicy(text: string): Policy | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Policy) : null;
  } catch {
    return null;
  }
}

async function writeFlushed(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Removes all but the newest policies. Keeps `kept` regardless of its time. */
async function removeOld(dir: string, kept: string): Promise<void> {
  const names = (await readdir(dir)).filter((name) => NAME.test(name));
  const dated = await Promise.all(
    names.map(async (name) => ({ path: join(dir, name), ms: await readModifiedTime(join(dir, name)) })),
  );
  const old = dated
    .filter(({ path }) => path !== kept)
    .sort((a, b) => b.ms - a.ms)
    .slice(KEPT_MAX - 1);
  for (const { path } of old) await rm(path, { force: true });
}

async function readModifiedTime(path: string): Promise<number> {
  return stat(path).then(
    (stats) => stats.mtimeMs,
    () => 0,
  );
}
