import { randomBytes } from 'node:crypto';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isForeignEntry, readOwnFile } from '../../platform/files/own-file.ts';
import { cleanNames, isAuditEvent } from './event-shape.ts';
import { AuditFailure, getSystemCode } from './failure.ts';
import { makeDir, SPOOL_NAME, syncDir, writeFileDurably } from './files.ts';
import type { Journal } from './journal.ts';
import { isSelfTestEvent, markSelfTest } from './self-test.ts';
import { hashContext } from './service-event.ts';
import type { AuditEvent } from './types.ts';

/** The maximum size of a file. A short-lived process writes only a few events. */
const SPOOL_BYTES_MAX = 16_777_216;
/** Ends the name of a file that a drain has refused. */
export const REFUSED_END = '.refused';
const SPOOL_NAME_PATTERN = /^\d{13}-[0-9a-f]{16}\.jsonl$/;

/**
 * Writes events to the spool, for the owner of the journal to append. Short-lived processes use it because they have no
 * chain of their own. Resolves when the events are durable.
 *
 * @param options.dir - the folder of all writers, `<state>/journal`
 */
export async function writeSpool(options: {
  dir: string;
  events: readonly AuditEvent[];
  now_ms: () => number;
}): Promise<void> {
  if (options.events.length === 0) return;
  const spool = join(options.dir, SPOOL_NAME);
  await makeDir(spool);
  if (!(await isFolder(spool))) throw buildSpoolFailure(spool);
  const time = String(Math.max(0, options.now_ms())).padStart(13, '0').slice(-13);
  const name = `${time}-${randomBytes(8).toString('hex')}.jsonl`;
  const lines = options.events.map((event) => `${JSON.stringify(event)}\n`);
  await writeFileDurably(join(spool, name), lines.join(''));
}

export interface DrainReport {
  readonly files: number;
  readonly events: number;
  /**
   * Files that contain anything but events, and whatever else has the name of such a file. They are renamed to
   * `<name>.refused` and skipped from then on.
   */
  readonly refused: readonly string[];
}

/**
 * Appends the events that short-lived processes left, oldest file first. Deletes a file when its events are durable in
 * the journal. After a stop between these two steps its events are appended twice, with the same `event_id`.
 */
export async function drainSpool(options: { dir: string; journal: Journal }): Promise<DrainReport> {
  const spool = join(options.dir, SPOOL_NAME);
  const names = (await isFolder(spool)) ? await readdir(spool).catch(() => [] as string[]) : [];
  const refused: string[] = [];
  let files = 0;
  let events = 0;
  for (const name of names.filter((each) => SPOOL_NAME_PATTERN.test(each)).sort()) {
    const path = join(spool, name);
    const found = await readSpool(path);
    if (found === null) {
      // An entry that cannot be moved is refused again the next time, and never stops the other files.
      await rename(path, `${path}${REFUSED_END}`).then(
        () => refused.push(name),
        () => {},
      );
      continue;
    }
    await Promise.all(found.map((event) => options.journal.append(dropMark(cleanNames(event)))));
    await rm(path);
    files += 1;
    events += found.length;
  }
  if (files + refused.length > 0) await syncDir(spool);
  return { files, events, refused };
}

/** Removes the mark of a self-test, because agents of the same user can write files here. Self-tests write none. */
function dropMark(event: AuditEvent): AuditEvent {
  if (!isSelfTestEvent(event)) return event;
  const unmarked = { ...event, metadata: markSelfTest(event.metadata, false) ?? {} };
  return { ...unmarked, context_hash: hashContext(unmarked) };
}

/** Returns `null` for anything but a file of events. */
async function readSpool(path: string): Promise<AuditEvent[] | null> {
  try {
    const text = await readOwnFile(path, SPOOL_BYTES_MAX);
    const events = text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as AuditEvent);
    return events.every(isAuditEvent) ? events : null;
  } catch (error) {
    const isForbidden = ['EACCES', 'EPERM'].includes(getSystemCode(error));
    if (error instanceof SyntaxError || isForeignEntry(error) || isForbidden) return null;
    throw error;
  }
}

/** A link to a folder elsewhere is none. */
async function isFolder(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => null);
  return entry?.isDirectory() ?? false;
}

function buildSpoolFailure(spool: string): AuditFailure {
  return new AuditFailure('spool_unusable', `\`${spool}\` is not a folder. Move it away.`);
}
