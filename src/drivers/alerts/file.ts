import { constants } from 'node:fs';
import { chmod, type FileHandle, open as openFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Static } from 'typebox';
import { escapeLineEnds } from '../../core/json/line-json.ts';
import { buildSection, Type } from '../../core/schema.ts';
import { findDiskProblem } from '../../platform/disk.ts';
import { makeFolder } from '../../platform/files/folder.ts';
import { openSerialQueue } from '../../platform/queue/serial-queue.ts';
import type { AlertChannel, AlertChannelDriver, AlertMessage, DeliveryResult } from './channel.ts';

const schema = buildSection(
  {
    path: Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'The file, relative to this one. Only its owner can read it.',
    }),
    max_size_mb: Type.Integer({
      minimum: 1,
      maximum: 10_240,
      default: 100,
      description: 'Size in MB (2^20 bytes) before rotation.',
    }),
    max_files: Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 10,
      description: 'Rotated files that are kept, `PATH.1` (the newest) and so on.',
    }),
  },
  { description: 'A file of JSON lines.' },
);

export type FileChannelSettings = Static<typeof schema>;

/** A file of JSON lines with mode 0600. Rotated files are `PATH.1`, the newest, to `PATH.N`. */
export const fileChannel = {
  name: 'file',
  docs: { receiver: 'a file of JSON lines, rotated', ends: 'another line with its `kind`' },
  schema,
  open,
} as const satisfies AlertChannelDriver<FileChannelSettings>;

const MIB = 1_048_576;

function open(settings: FileChannelSettings): AlertChannel {
  const inTurn = openSerialQueue();
  return {
    send: (message, signal) => inTurn(() => appendMessage(message, settings, signal)),
    close: () => {},
  };
}

async function appendMessage(
  message: AlertMessage,
  settings: FileChannelSettings,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  if (signal.aborted) return { sent: false, reason: 'There was no time left to write it.', permanent: false };
  const line = Buffer.from(`${escapeLineEnds(JSON.stringify(message))}\n`);
  try {
    makeFolder(dirname(settings.path));
    await rotateIfFull(settings, line.length);
    await writeLine(settings.path, line);
    return { sent: true };
  } catch (fault) {
    return { sent: false, ...describeFailure(fault) };
  }
}

/** Appends and syncs. Opens the file each time, because another program may have moved it away. */
async function writeLine(path: string, line: Buffer): Promise<void> {
  // `O_NONBLOCK`, because opening a pipe without a reader waits for one.
  const flags =
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await openFile(path, flags, 0o600);
  try {
    await restrictFile(handle);
    await handle.appendFile(line);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Refuses what is not a regular file, and removes the rights of others from an existing file. */
async function restrictFile(handle: FileHandle): Promise<void> {
  const status = await handle.stat();
  if (!status.isFile()) throw new NoRegularFile();
  if ((status.mode & 0o077) !== 0) await handle.chmod(0o600);
}

async function rotateIfFull(settings: FileChannelSettings, bytes: number): Promise<void> {
  const { path, max_files, max_size_mb } = settings;
  const status = await stat(path).catch(() => null);
  if (status === null || status.size === 0 || status.size + bytes <= max_size_mb * MIB) return;
  if (!status.isFile()) throw new NoRegularFile();
  await rm(`${path}.${max_files}`, { force: true });
  for (let at = max_files - 1; at >= 1; at--)
    await rename(`${path}.${at}`, `${path}.${at + 1}`).catch(ignoreMissing);
  await chmod(path, 0o600);
  await rename(path, `${path}.1`);
}

function ignoreMissing(fault: NodeJS.ErrnoException): void {
  if (fault.code !== 'ENOENT') throw fault;
}

class NoRegularFile extends Error {}

function describeFailure(fault: unknown): { reason: string; permanent: boolean } {
  const { code } = fault as { code?: unknown };
  if (fault instanceof NoRegularFile || code === 'ENXIO' || code === 'EISDIR')
    return { reason: 'Its path is no regular file.', permanent: true };
  if (code === 'ELOOP') {
    const reason = 'Its path is a symbolic link; configure the path that the link points to.';
    return { reason, permanent: true };
  }
  const disk = findDiskProblem(fault);
  const reason =
    disk === null ? 'It could not be written.' : `It could not be written: ${disk.what}. ${disk.fix}.`;
  return { reason, permanent: false };
}
