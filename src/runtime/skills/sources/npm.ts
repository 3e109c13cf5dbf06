import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SkillFailure } from '../../packages/failure.ts';
import type { Archive } from '../../packages/package.ts';
import { openTarball } from './tarball.ts';

/** The time limit of one npm command, in milliseconds. */
const NPM_MS_MAX = 120_000;
const ANSWER_BYTES_MAX = 8_388_608;

/** The keyword of skill packages in a registry. */
export const NPM_KEYWORD = 'customshouse-skill';

const SPEC =
  /^((?:@[a-z0-9][a-z0-9._-]{0,100}\/)?[a-z0-9][a-z0-9._-]{0,200})(?:@([0-9A-Za-z][0-9A-Za-z.+-]{0,100}))?$/;

/**
 * The folder and environment in which npm runs. npm's own configuration files define the registry and the
 * credentials.
 */
export interface NpmContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Fetches a package with npm and the user's own settings (registry, credentials, proxy, cache), and compares it
 * with the SHA-512 of the registry. Runs no code of the package.
 * @param spec - `name`, `name@1.0.0` or `name@tag`
 * @throws SkillFailure `not_found`, `source_unusable`, `skill_invalid`
 */
export async function openNpm(spec: string, place: NpmContext): Promise<Archive> {
  const match = SPEC.exec(spec);
  if (match === null)
    throw new SkillFailure(
      'not_found',
      `\`${spec}\` is not a package name: write \`npm:name\`, \`npm:name@1.0.0\` or \`npm:name@tag\`.`,
    );
  const [, name = '', wanted = 'latest'] = match;
  const { version, integrity } = await lookUp(name, wanted, place);
  const folder = await mkdtemp(join(tmpdir(), 'service-skill-'));
  try {
    const exact = `${name}@${version}`;
    await runNpm(['pack', exact, '--json', '--pack-destination', folder], place);
    const [tarball] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
    if (tarball === undefined) throw buildUnusableFailure(`npm gave no archive of \`${exact}\``);
    const archive = await openVerified(join(folder, tarball), `npm:${exact}`, integrity);
    return archive;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function openVerified(path: string, source: string, integrity: string): Promise<Archive> {
  const archive = await openTarball(path, source);
  if (archive.integrity !== integrity)
    throw new SkillFailure(
      'skill_invalid',
      'The archive is not the one that the registry names: its SHA-512 is another.',
    );
  return archive;
}

async function lookUp(
  name: string,
  wanted: string,
  place: NpmContext,
): Promise<{ version: string; integrity: string }> {
  const reported = await runNpm(['view', `${name}@${wanted}`, 'version', 'dist.integrity', '--json'], place);
  // If a package has only one of the two fields, npm prints its value without its name.
  const fields = typeof reported === 'string' ? { version: reported } : reported;
  const { version, 'dist.integrity': integrity } = (fields ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof version !== 'string' || !SPEC.test(`${name}@${version}`))
    throw new SkillFailure('not_found', `There is no version \`${wanted}\` of the package \`${name}\`.`);
  const sha512 = String(integrity ?? '')
    .split(/\s+/)
    .find((each) => each.startsWith('sha512-'));
  if (sha512 === undefined)
    throw buildUnusableFailure(
      `the registry names no SHA-512 of \`${name}@${version}\`, so it cannot be checked`,
    );
  return { version, integrity: sha512 };
}

/** A search result: a package with the keyword for skills. */
export interface NpmSearchResult {
  readonly name: string;
  readonly version: string;
  readonly description: string;
}

/** Searches the registry for packages with the keyword for skills and these words. Returns at most 20. */
export async function searchNpm(
  words: readonly string[],
  place: NpmContext,
): Promise<readonly NpmSearchResult[]> {
  const request = [`keywords:${NPM_KEYWORD}`, ...words.map((word) => word.replace(/^-+/, ''))];
  const reported = await runNpm(['search', '--json', '--searchlimit=20', '--', ...request], place);
  return (Array.isArray(reported) ? reported : []).flatMap(({ name, version, description = '' }) =>
    typeof name === 'string' && typeof version === 'string'
      ? [{ name, version, description: String(description) }]
      : [],
  );
}

/** Limits npm to one quick retry, because an invalid archive stays invalid. */
const PATIENCE = ['--fetch-retries=1', '--fetch-retry-mintimeout=200', '--fetch-retry-maxtimeout=1000'];

async function runNpm(words: readonly string[], { cwd, env }: NpmContext): Promise<unknown> {
  const quiet = [
    '--ignore-scripts',
    '--loglevel=error',
    '--no-update-notifier',
    '--no-fund',
    '--no-audit',
    ...PATIENCE,
  ];
  const [command = '', ...rest] = words;
  try {
    const { stdout } = await promisify(execFile)('npm', [command, ...quiet, ...rest], {
      cwd,
      env,
      timeout: NPM_MS_MAX,
      killSignal: 'SIGKILL',
      maxBuffer: ANSWER_BYTES_MAX,
    });
    return stdout.trim() === '' ? null : JSON.parse(stdout);
  } catch (error) {
    throw getFailure(error as NodeJS.ErrnoException & { stdout?: string; killed?: boolean });
  }
}

function getFailure(error: NodeJS.ErrnoException & { stdout?: string; killed?: boolean }): SkillFailure {
  if (error.code === 'ENOENT')
    return buildUnusableFailure(
      'there is no `npm` on this machine. Install it, or add the package as a folder or a `.tgz`',
    );
  if (error.killed) return buildUnusableFailure(`npm took more than ${NPM_MS_MAX / 1000} seconds`);
  const reported = /"code":\s*"([A-Z0-9_]{1,40})"/.exec(error.stdout ?? '')?.[1];
  if (reported === 'E404') return new SkillFailure('not_found', 'The registry has no such package.');
  return buildUnusableFailure(
    `npm ended with ${reported === undefined ? 'an error' : `\`${reported}\``}; \`npm ping\` shows more`,
  );
}

function buildUnusableFailure(why: string): SkillFailure {
  return new SkillFailure('source_unusable', `The package cannot be had: ${why}.`);
}
