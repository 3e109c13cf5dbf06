import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { loadPublicKeys, openSigningKey } from '../../runtime/audit/keys.ts';
import { buildPack, type PackOptions } from './build-pack.ts';
import { EvidenceFailure } from './failure.ts';

/** A request for a pack: plain data, because another process builds it. */
export interface PackRequest
  extends Pick<PackOptions, 'window' | 'tenant_id' | 'framework' | 'report' | 'service_version'> {
  readonly state_dir: string;
  /** The file to write. It appears when it is complete. */
  readonly target: string;
  readonly bytes_max?: number;
}

/** A pack that was written. */
export interface PackSummary {
  readonly window: { readonly since: string; readonly until: string };
  readonly tenant_id: string | null;
  readonly framework: string | null;
  readonly events: number;
  /** Records whose content was left out. */
  readonly omitted: number;
  readonly files: number;
  /** The size of the archive. */
  readonly bytes: number;
  /** SHA-256 of the archive, 64 hex digits. */
  readonly sha256: string;
  /** The key that signed the pack. */
  readonly key_id: string;
  /** Policies of events that are not in the pack. */
  readonly policies_left_out: number;
}

/**
 * Builds a pack from a state folder and writes it to a file.
 *
 * @throws EvidenceFailure
 */
export async function makePack(
  request: PackRequest,
  control: Pick<PackOptions, 'signal' | 'onProgress'> = {},
): Promise<PackSummary> {
  const { state_dir, target, ...options } = request;
  const keysDir = join(state_dir, 'keys');
  // Opening the signing key would create one, and a new key proves nothing about old records.
  if ((await loadPublicKeys(keysDir)).length === 0)
    throw new EvidenceFailure('key_missing', `There is no key of an audit log in \`${keysDir}\`.`);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const workDir = await mkdtemp(join(dirname(target), '.evidence-'));
  try {
    const { manifest, archive } = await buildPack({
      ...options,
      ...control,
      journal_dir: join(state_dir, 'journal'),
      policies_dir: join(state_dir, 'policies'),
      keys_dir: keysDir,
      work_dir: workDir,
      signing_key: await openSigningKey({ dir: keysDir, now_ms: Date.now }),
    });
    const written = await writeArchive(archive(), join(workDir, 'pack'), control.signal);
    await rename(join(workDir, 'pack'), target);
    const { window, tenant_id, framework, events, key_id } = manifest;
    return {
      ...{ window, tenant_id, framework, events, key_id, ...written },
      omitted: manifest.writers.reduce((sum, { omitted }) => sum + omitted, 0),
      files: manifest.files.length,
      policies_left_out: manifest.policies.left_out.length,
    };
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function writeArchive(
  archive: AsyncGenerator<Buffer>,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Pick<PackSummary, 'bytes' | 'sha256'>> {
  const digest = createHash('sha256');
  let bytes = 0;
  async function* countParts() {
    for await (const part of archive) {
      digest.update(part);
      bytes += part.length;
      yield part;
    }
  }
  const options = signal === undefined ? {} : { signal };
  await pipeline(countParts(), createWriteStream(path, { mode: 0o600, flush: true }), options);
  return { bytes, sha256: digest.digest('hex') };
}
