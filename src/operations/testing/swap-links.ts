import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';

/**
 * Runs in a thread until it is terminated. Makes `inner` alternately a folder and a link out of it, as fast as
 * possible.
 */
const { roots } = workerData as { readonly roots: string };
const at = (name: string): string => join(roots, name);
for (;;) {
  renameSync(at('inner'), at('folder'));
  renameSync(at('link'), at('inner'));
  renameSync(at('inner'), at('link'));
  renameSync(at('folder'), at('inner'));
}
