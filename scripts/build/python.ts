/**
 * Writes the script of the core into the Python package: `python/customshouse/_core/core.js`. The wheel ships it; it is
 * not committed.
 */
import { mkdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { getPackageVersion } from '../../src/platform/version.ts';
import { bundleEmbedded } from './embedded.ts';

/** Builds the script and returns its size in bytes. */
export async function buildPythonCore(): Promise<number> {
  const folder = resolve(import.meta.dirname, '../../python/customshouse/_core');
  mkdirSync(folder, { recursive: true });
  // Renamed when it is whole, because tests that run at the same time read the script.
  const written = join(folder, `core.${process.pid}.js`);
  const bytes = await bundleEmbedded(written, getPackageVersion());
  renameSync(written, join(folder, 'core.js'));
  return bytes;
}

if (import.meta.main)
  console.log(`wrote python/customshouse/_core/core.js, ${await buildPythonCore()} bytes`);
