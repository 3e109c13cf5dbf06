// @ts-check
// Makes a checkout ready to run: a Node that is new enough, the packages of the lock file, and a stamp that
// names that Node. With `--dev` development packages too; without it only those that the program needs.
// Plain JavaScript without packages, for it runs on Node 20 and before anything is installed.
import { spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 24;
const NODE_MAJOR_SETUP_MIN = 20;
/** How long a lock without an owner's name is taken for one that is just being made. */
const LOCK_NAMELESS_MS_MAX = 5_000;
const LOCK_WAIT_MS_MAX = 15 * 60_000;
const PROGRESS_EVERY_MS = 2_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.service-node');
const devStamp = `${stamp}-dev`;
// An installation without development packages would delete a developer's.
const isDev = process.argv.includes('--dev') || existsSync(devStamp);
const wantedStamp = isDev ? devStamp : stamp;
const lock = join(root, '.setup-lock');
const brought = join('scripts', 'node', 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');

class SetupError extends Error {}

try {
  requireSetupNode();
  await withLock(setUp);
} catch (error) {
  console.error(`error: ${error instanceof SetupError ? error.message : getSentence(error)}`);
  process.exitCode = 2;
}

function requireSetupNode() {
  if (getMajor(process.versions.node) >= NODE_MAJOR_SETUP_MIN) return;
  throw new SetupError(
    `set-up needs Node ${NODE_MAJOR_SETUP_MIN} or later, and this is Node ${process.versions.node}. ` +
      'Install a newer one: https://nodejs.org',
  );
}

async function setUp() {
  if (isReady()) return;
  const beganMs = Date.now();
  const ownNode = getMajor(process.versions.node) >= NODE_MAJOR_MIN;
  const isThere = isInstalled(root, isDev);
  const wanted = listWanted();
  if (!isThere) say(`Setting up, once: installing packages (${wanted.length}) into ${root} ...`);
  const stopProgress = isThere ? () => {} : showProgress(wanted, beganMs);
  try {
    // Both mostly wait for the network.
    await Promise.all([ownNode ? null : bringNode(), isThere ? null : npm(root, { dev: isDev })]);
  } finally {
    stopProgress();
  }
  if (!isThere) say(`Set up in ${getSeconds(beganMs)} s.`);
  const node = ownNode ? process.execPath : brought;
  writeStamp(stamp, node);
  if (isDev) writeStamp(devStamp, node);
}

/** Returns the package folders that this machine needs. */
function listWanted() {
  const wanted = Object.entries(getPackages(join(root, 'package-lock.json')) ?? {});
  return wanted.flatMap(([path, { dev, os, cpu }]) => {
    const isNeeded = path !== '' && (isDev || !dev);
    const fits = (os?.includes(process.platform) ?? true) && (cpu?.includes(process.arch) ?? true);
    return isNeeded && fits ? [join(root, path)] : [];
  });
}

/**
 * Says every two seconds how many packages npm has unpacked. Returns a function that ends it.
 * @param {readonly string[]} wanted
 * @param {number} began_ms
 */
function showProgress(wanted, beganMs) {
  const timer = setInterval(() => {
    const present = wanted.filter((folder) => existsSync(join(folder, 'package.json'))).length;
    say(`  ${getSeconds(beganMs)} s: ${present} of ${wanted.length} packages unpacked`);
  }, PROGRESS_EVERY_MS);
  return () => clearInterval(timer);
}

/** @param {number} began_ms */
function getSeconds(beganMs) {
  return Math.round((Date.now() - beganMs) / 1000);
}

async function bringNode() {
  const folder = join(root, 'scripts', 'node');
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    throw new SetupError(
      `this program needs Node ${NODE_MAJOR_MIN} or later, and this is Node ${process.versions.node}. ` +
        'Install a newer one: https://nodejs.org',
    );
  }
  if (isInstalled(folder) && existsSync(join(root, brought))) return;
  say(`Setting up: bringing Node ${NODE_MAJOR_MIN} along, this machine has ${process.versions.node} ...`);
  const binary = join(root, brought);
  // npm passes over a failing optional package without a word: a second try tells why.
  let said = '';
  for (const level of ['error', 'verbose']) if (!existsSync(binary)) said += await npm(folder, { level });
  if (existsSync(binary)) return deleteUnused(folder);
  const causes = said.split('\n').filter((line) => /failed|error|ERR|E[A-Z]{4,}|omit/.test(line));
  throw new SetupError(
    `npm did not install Node ${NODE_MAJOR_MIN} in ${folder}.\n${causes.slice(-10).join('\n')}\n` +
      `Check that \`npm config get omit\` names nothing, or install Node ${NODE_MAJOR_MIN}: https://nodejs.org`,
  );
}

/**
 * Deletes Node's headers and manual, a third of its size, which only compilers and people read.
 * @param {string} folder
 */
function deleteUnused(folder) {
  for (const name of ['include', 'share', 'CHANGELOG.md'])
    rmSync(join(folder, 'node_modules', `node-linux-${process.arch}`, name), {
      recursive: true,
      force: true,
    });
}

/** Whether the stamp is there, newer than both lock files, and names a Node that is there. */
function isReady() {
  if (!existsSync(wantedStamp)) return false;
  const stampedMs = statSync(wantedStamp).mtimeMs;
  const locks = [join(root, 'package-lock.json'), join(root, 'scripts', 'node', 'package-lock.json')];
  if (locks.some((file) => statSync(file).mtimeMs > stampedMs)) return false;
  const node = readFileSync(wantedStamp, 'utf8').trim();
  return existsSync(isAbsolute(node) ? node : join(root, node));
}

/**
 * Whether what npm wrote down as installed is what the lock file asks for, so that a changed date alone, or an
 * `npm install` by hand, costs no second installation.
 * @param {string} folder
 * @param {boolean} dev whether development packages count
 */
function isInstalled(folder, dev = false) {
  const wanted = getPackages(join(folder, 'package-lock.json'));
  const present = getPackages(join(folder, 'node_modules', '.package-lock.json'));
  if (wanted === null || present === null) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || (entry.dev === true && !dev)) return true;
    const found = present[path];
    if (found === undefined) return entry.optional === true;
    return (
      found.version === entry.version && found.integrity === entry.integrity && existsSync(join(folder, path))
    );
  });
}

/**
 * @param {string} file
 * @returns {Record<string, {version?: string, integrity?: string, optional?: boolean, dev?: boolean, os?: string[], cpu?: string[]}> | null}
 */
function getPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}

/**
 * Installs what the lock file of `folder` names and leaves the file alone. Not `npm ci`: that refuses a lock
 * file from which the optional packages of other platforms are missing, and it empties `node_modules` under a
 * service that runs. No package here needs an install script, so none runs.
 * @param {string} folder
 * @param {{dev?: boolean, level?: string}} options whether to install development packages, and npm's log level
 * @returns {Promise<string>} what npm said
 */
async function npm(folder, { dev = false, level = 'error' }) {
  // What npm wrote down would let it overlook a folder that was deleted by hand.
  rmSync(join(folder, 'node_modules', '.package-lock.json'), { force: true });
  const words = [
    'install',
    '--no-save',
    '--prefix',
    folder,
    '--ignore-scripts',
    `--${dev ? 'include' : 'omit'}=dev`,
    '--include=optional',
    // The packages may need the Node that is only just being brought along.
    '--no-engine-strict',
  ];
  const quiet = ['--no-audit', '--no-fund', `--loglevel=${level}`];
  const cache = homeIsOurs() ? null : mkdtempSync(join(tmpdir(), 'npm-cache-'));
  const { error, status, said } = await runToEnd('npm', [...words, ...quiet], {
    cwd: folder,
    env: { ...process.env, ...(cache === null ? {} : { npm_config_cache: cache }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (cache !== null) rmSync(cache, { recursive: true, force: true });
  if (error !== null) {
    throw new SetupError(
      error.code === 'ENOENT'
        ? 'there is no npm on this machine. Install Node together with npm: https://nodejs.org'
        : `npm could not be started: ${error.message}.`,
    );
  }
  if (status === 0 && isInstalled(folder, dev)) return said;
  if (status === 0) {
    throw new SetupError(
      `package.json and package-lock.json in ${folder} do not agree. Run \`npm install\` there.`,
    );
  }
  const tail = said.trim().split('\n').slice(-15).join('\n');
  throw new SetupError(
    `npm could not install the packages (exit code ${status}).\n${tail}\n` +
      'Check that this machine reaches the npm registry (`npm ping`; behind a proxy `npm config set proxy URL`) ' +
      `and that ${folder} can be written to and its disk is not full; then run the same command again.`,
  );
}

/**
 * Runs a program to its end.
 * @param {string} program
 * @param {readonly string[]} words
 * @param {import('node:child_process').SpawnOptions} options
 * @returns {Promise<{error: NodeJS.ErrnoException | null, status: number | null, said: string}>}
 */
function runToEnd(program, words, options) {
  return new Promise((resolve) => {
    const child = spawn(program, words, options);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk) => {
        said += chunk;
      });
    child.once('error', (error) => resolve({ error, status: null, said }));
    child.once('close', (status) => resolve({ error: null, status, said }));
  });
}

/** Users that run services often have no home; npm needs one, or a cache elsewhere. */
function homeIsOurs() {
  try {
    accessSync(homedir(), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} file
 * @param {string} node
 */
function writeStamp(file, node) {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${node}\n`);
  renameSync(draft, file);
  // A lock file from the future (a wrong clock, an unpacked archive) must not make every start a set-up.
  const newestMs = Math.max(
    Date.now(),
    statSync(join(root, 'package-lock.json')).mtimeMs,
    statSync(join(root, 'scripts', 'node', 'package-lock.json')).mtimeMs,
  );
  utimesSync(file, newestMs / 1000 + 1, newestMs / 1000 + 1);
}

/**
 * Holds a folder as a lock while `work` runs; others wait. A lock whose owner is gone is taken over.
 * @param {() => Promise<void>} work
 */
async function withLock(work) {
  await takeLock();
  process.on('exit', dropLock);
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => process.exit(2));
  await work();
}

function dropLock() {
  rmSync(lock, { recursive: true, force: true });
}

async function takeLock() {
  const untilMs = Date.now() + LOCK_WAIT_MS_MAX;
  let told = false;
  while (!makeLock()) {
    const owner = getOwner();
    if (owner === null) {
      if (Date.now() - madeAt() > LOCK_NAMELESS_MS_MAX) setAside(null);
    } else if (!isAlive(owner)) {
      setAside(owner);
    } else if (!told) {
      say(`Setting up: another process (${owner}) is at it, waiting ...`);
      told = true;
    }
    if (Date.now() > untilMs) {
      throw new SetupError(
        `process ${getOwner()} holds ${lock} for too long. End it, remove that folder, try again.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** @returns {boolean} whether the lock is ours now */
function makeLock() {
  try {
    mkdirSync(lock);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(lock, 'pid'), `${process.pid}\n`);
  return true;
}

function getOwner(folder = lock) {
  try {
    return readFileSync(join(folder, 'pid'), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

function madeAt() {
  return statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}

/** @param {string} pid */
function isAlive(pid) {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * Moves a dead owner's lock out of the way. Two may have seen the same dead owner: what was moved is looked at
 * again, and a lock that someone has taken since is put back.
 * @param {string | null} owner
 */
function setAside(owner) {
  const aside = `${lock}.${process.pid}`;
  try {
    if (getOwner() !== owner) return;
    renameSync(lock, aside);
    if (getOwner(aside) !== owner) return renameSync(aside, lock);
  } catch {
    return; // Someone else was faster.
  }
  rmSync(aside, { recursive: true, force: true });
}

/** @param {string} version */
function getMajor(version) {
  return Number(version.split('.')[0]);
}

/** @param {string} line */
function say(line) {
  console.error(line);
}

/** @param {unknown} error */
function getSentence(error) {
  const code = /** @type {NodeJS.ErrnoException} */ (error).code;
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return `set-up must write to ${root}, and this user may not. Run it once as the folder's owner.`;
  }
  if (code === 'ENOSPC') return 'the disk is full. Free some space and run the same command again.';
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
