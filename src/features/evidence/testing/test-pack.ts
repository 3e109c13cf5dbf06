import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TestContext } from 'node:test';
import { Parser } from 'tar';
import { openSigningKey } from '../../../runtime/audit/keys.ts';
import {
  type AuditLog,
  makeAuditLog,
  START_MS,
  sampleEvent,
} from '../../../runtime/audit/testing/audit-log.ts';
import { packArchive } from '../archive.ts';
import { type BuiltPack, buildPack, type PackOptions } from '../build-pack.ts';
import { loadVerifier } from '../verify-pack.ts';

/** The window that the tests use: events 20 to 40 of each writer, which are a second apart. */
export const TEST_WINDOW = { since_ms: START_MS + 20_000, until_ms: START_MS + 40_000 };

export const TENANTS = ['acme', 'globex'] as const;

/** Makes a closed journal of two workers and a parent, whose events belong to two tenants in turn. */
export async function makeEvidenceLog(test: TestContext, events = 60): Promise<AuditLog> {
  const trail = await makeAuditLog(test, { max_size_bytes: 12_000, compress_rotated: true });
  const parent = await trail.open({ writer: 'parent', witness: true, checkpoint_ms: 20 });
  const journals = [await trail.open({ writer: 'worker-1' }), await trail.open({ writer: 'worker-2' })];
  for (let index = 0; index < events; index++) {
    trail.clock.now_ms = START_MS + index * 1_000;
    for (const [at, journal] of journals.entries()) {
      const tenantId = TENANTS[(index + at) % 2]!;
      const fields = { tenant_id: tenantId, reason: `MARKER-${tenantId}-${index}` };
      await journal.append(sampleEvent(index * 10 + at, { ...fields, timestamp: getTime(trail) }));
    }
  }
  for (const journal of [...journals, parent]) await journal.close();
  return trail;
}

function getTime({ clock }: AuditLog): string {
  return new Date(clock.now_ms).toISOString();
}

/** Builds a pack of the test window from a trail. */
export async function buildTestPack(trail: AuditLog, fields: Partial<PackOptions> = {}): Promise<BuiltPack> {
  const keysDir = join(trail.state, 'keys');
  return buildPack({
    journal_dir: trail.dir,
    keys_dir: keysDir,
    policies_dir: join(trail.state, 'policies'),
    work_dir: await mkdtemp(join(trail.state, 'work-')),
    signing_key: await openSigningKey({ dir: keysDir, now_ms: () => START_MS }),
    service_version: '0.0.0-test',
    window: TEST_WINDOW,
    tenant_id: null,
    framework: null,
    report: [],
    ...fields,
  });
}

/** Writes a pack to a file and returns its path. */
export async function writeTestPack(trail: AuditLog, fields: Partial<PackOptions> = {}): Promise<string> {
  const pack = await buildTestPack(trail, fields);
  const path = join(await mkdtemp(join(trail.state, 'pack-')), 'pack.tar.gz');
  await pipeline(Readable.from(pack.archive()), createWriteStream(path));
  return path;
}

/** A file of a pack. */
export interface PackedFile {
  readonly path: string;
  readonly content: Buffer;
}

/** Unpacks an archive into memory, in its order. */
export async function unpack(path: string): Promise<PackedFile[]> {
  const files: PackedFile[] = [];
  const parser = new Parser({
    onReadEntry: (entry) => {
      const parts: Buffer[] = [];
      entry.on('data', (part) => void parts.push(part));
      entry.on('end', () => void files.push({ path: entry.path, content: Buffer.concat(parts) }));
    },
  });
  const done = new Promise<void>((resolve, reject) => {
    parser.on('end', resolve);
    parser.on('error', reject);
  });
  parser.end(await readFile(path));
  await done;
  return files;
}

/** Packs files again, as the service does. */
export async function repack(files: readonly PackedFile[], path: string): Promise<void> {
  const entries = files.map(({ path: name, content }) => ({ path: name, bytes: content.length, content }));
  await pipeline(Readable.from(packArchive(entries)), createWriteStream(path));
}

/** Writes the files of a pack into a folder, as an auditor extracts them. */
export async function extractTo(folder: string, files: readonly PackedFile[]): Promise<void> {
  for (const { path, content } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** Verifies a pack with its own key. */
export async function verifyTestPack(path: string) {
  const { verifyPack } = await loadVerifier();
  return verifyPack(path, { public_key: null });
}
