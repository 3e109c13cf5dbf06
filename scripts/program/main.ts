/**
 * Builds the program of a checkout into `node_modules/.cache/service-program`, where `./service` looks for it: a
 * few files start in less time and memory than a thousand sources. `scripts/program.sh` runs this when a source is
 * newer than the build.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { bundleProgram } from './bundle.ts';

const CACHE = join('node_modules', '.cache', 'service-program');
/** A service may run from an old build for long, and loads parts of it on demand. */
const BUILT_KEPT_MS = 30 * 86_400_000;
const SCRIPTS = [
  'package-lock.json',
  ...globSync('scripts/{program/{main,bundle,groups},build/{current-tree,lazy-modules}}.ts'),
];

const started = new Date();
const began = join(CACHE, `began-${process.pid}`);
try {
  const inputs = [...new Set([...(await bundleProgram(began)), ...SCRIPTS])].sort();
  const digest = createHash('sha256').update(`${process.cwd()}\n`);
  for (const path of inputs) digest.update(`${path}\n`).update(readFileSync(path));
  const own = digest.digest('hex').slice(0, 16);
  const built = join(CACHE, own);
  if (!existsSync(built)) renameSync(began, built);
  const facts = [`program=${own}`, `built_for=${quote(process.cwd())}`, `inputs=${quote(inputs.join('\n'))}`];
  writeFileSync(join(CACHE, `${own}.sh`), `${facts.join('\n')}\n`);
  // A source that changes during the build is newer than it.
  utimesSync(join(CACHE, `${own}.sh`), started, started);
  renameSync(join(CACHE, `${own}.sh`), join(CACHE, 'built.sh'));
  removeOld(own);
} finally {
  rmSync(began, { recursive: true, force: true });
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Deletes builds that no service can be running from. */
function removeOld(own: string): void {
  for (const path of globSync(join(CACHE, '*/'))) {
    const stats = statSync(path, { throwIfNoEntry: false });
    const isOld = stats !== undefined && Date.now() - stats.mtimeMs > BUILT_KEPT_MS;
    if (isOld && !path.includes(own)) rmSync(path, { recursive: true, force: true });
  }
}
