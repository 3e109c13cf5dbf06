import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Bucket } from '../../drivers/object-storage/s3.ts';
import { loadPublicKeys, verifyJournal } from '../../runtime/audit/index.ts';
import { buildLayout, buildLogsPrefix, getRestoredPath, isLogId, type LogLayout } from './layout.ts';
import { type RestoredLog, type ShippedLog, type ShippedLogReport, ShippingFailure } from './types.ts';

/** The place of shipped logs. */
export interface ShippedPlace {
  readonly bucket: Bucket;
  readonly prefix: string;
  readonly signal: AbortSignal;
}

/** Lists the logs under a prefix, by their IDs. @throws ShippingFailure `shipping_missing` if there is none */
export async function listShippedLogs({
  bucket,
  prefix,
  signal,
}: ShippedPlace): Promise<readonly ShippedLog[]> {
  const ids = (await bucket.listFolders(buildLogsPrefix(prefix), signal)).filter(isLogId).sort();
  if (ids.length === 0)
    throw new ShippingFailure(
      'shipping_missing',
      `There is no log in the bucket${prefix === '' ? '' : ` under \`${prefix}\``}. Name the prefix that \`audit.object_storage.prefix\` has.`,
    );
  const logs: ShippedLog[] = [];
  for (const logId of ids) {
    const { about } = buildLayout(prefix, logId);
    const isThere = (await bucket.readMetadata(about, signal)) !== null;
    logs.push({
      log_id: logId,
      node: isThere ? await readNode(await bucket.openObject(about, signal)) : null,
    });
  }
  return logs;
}

const ABOUT_BYTES_MAX = 4_096;

async function readNode(object: NodeJS.ReadableStream & AsyncIterable<Buffer>): Promise<string | null> {
  try {
    const { node } = JSON.parse((await text(object)).slice(0, ABOUT_BYTES_MAX)) as { node?: unknown };
    return typeof node === 'string' ? node.slice(0, 253) : null;
  } catch {
    return null;
  }
}

/**
 * Copies a shipped log into a new folder, as a state folder has it: `journal` and `keys`.
 *
 * @throws ShippingFailure `shipping_folder` if the folder has files, or the disk has too little space
 */
export async function restoreShippedLog(
  place: ShippedPlace,
  log: ShippedLog,
  folder: string,
  onProgress: (doneBytes: number, totalBytes: number) => void = () => {},
): Promise<RestoredLog> {
  await makeEmptyFolder(folder);
  const layout = buildLayout(place.prefix, log.log_id);
  const objects = await listRestorable(place, layout);
  const totalBytes = objects.reduce((sum, { bytes }) => sum + bytes, 0);
  await requireSpace(folder, totalBytes);
  let doneBytes = 0;
  for (const { key, path, bytes } of objects) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const source = await place.bucket.openObject(key, place.signal);
    await pipeline(source, createWriteStream(target, { flags: 'wx', mode: 0o600 }), { signal: place.signal });
    doneBytes += bytes;
    onProgress(doneBytes, totalBytes);
  }
  return { ...log, folder, files: objects.length, bytes: totalBytes };
}

interface RestorableObject {
  readonly key: string;
  readonly path: string;
  readonly bytes: number;
}

async function listRestorable(
  { bucket, signal }: ShippedPlace,
  layout: LogLayout,
): Promise<readonly RestorableObject[]> {
  const objects: RestorableObject[] = [];
  for await (const { key, bytes } of bucket.listObjects(layout.folder, signal)) {
    const path = getRestoredPath(layout, key);
    if (path !== null) objects.push({ key, path, bytes });
  }
  return objects;
}

async function makeEmptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length === 0) return;
  throw new ShippingFailure('shipping_folder', `\`${folder}\` has files. Name a new folder.`);
}

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize > bytes) return;
  throw new ShippingFailure(
    'shipping_folder',
    `\`${folder}\` has too little space: ${Math.ceil(bytes / 1_048_576)} MB are needed. Free some, or name another disk.`,
  );
}

/** Verifies logs in a bucket: copies each into a temporary folder, whose parent is `TMPDIR`. */
export async function verifyShippedLogs(
  place: ShippedPlace,
  options: {
    readonly log_id: string | null;
    readonly trusted_key_id: string | null;
    readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
  },
): Promise<readonly ShippedLogReport[]> {
  const reports: ShippedLogReport[] = [];
  for (const log of await findLogs(place, options.log_id)) {
    const folder = await mkdtemp(join(tmpdir(), 'verify-'));
    try {
      await restoreShippedLog(place, log, folder, options.onProgress);
      const report = await verifyJournal({
        dir: join(folder, 'journal'),
        public_keys: await loadPublicKeys(join(folder, 'keys')),
        trusted_key_id: options.trusted_key_id,
        is_partial: true,
        signal: place.signal,
      });
      reports.push({ ...log, report });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return reports;
}

/** Returns the logs under a prefix, or the one with that ID. @throws ShippingFailure `shipping_missing` */
export async function findLogs(place: ShippedPlace, logId: string | null): Promise<readonly ShippedLog[]> {
  const logs = await listShippedLogs(place);
  if (logId === null) return logs;
  const found = logs.filter(({ log_id }) => log_id === logId);
  if (found.length > 0) return found;
  const known = logs.map(({ log_id, node }) => `${log_id} (${node ?? 'unknown machine'})`).join(', ');
  throw new ShippingFailure('shipping_missing', `There is no log \`${logId}\` there. There is: ${known}.`);
}
