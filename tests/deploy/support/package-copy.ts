/** The npm package, built from a copy of this checkout, so that tests at the same time do not write to its folders. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ownNodeEnvironment, root, runProgram } from '../../support/checkout.ts';

export interface BuiltPackage {
  readonly copy: string;
  /** The packed archive. */
  readonly archive: string;
}

/** Copies all files of the checkout that git keeps or would add into an empty folder. */
export function copyTrackedFiles(copy: string): void {
  mkdirSync(copy, { recursive: true });
  const list = 'git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create';
  execFileSync('sh', ['-ec', `${list} | tar --extract --directory="$0"`, copy], { cwd: root });
}

/** Builds the package in a copy of the checkout, as a release does. */
export async function buildPackageCopy(
  copy: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<BuiltPackage> {
  copyTrackedFiles(copy);
  const env = ownNodeEnvironment(variables);
  for (const words of [
    ['scripts/run', '-e', ''],
    ['npm', 'run', '--silent', 'build:npm'],
  ]) {
    const built = await runProgram(words, { cwd: copy, env });
    if (built.code !== 0) throw new Error(`${words.join(' ')}:\n${built.stdout}${built.stderr}`);
  }
  return { copy, archive: await packCopy(copy, env) };
}

/** Packs the staged package again and returns the archive. */
export async function packCopy(copy: string, env: NodeJS.ProcessEnv = ownNodeEnvironment()): Promise<string> {
  const folder = join(copy, 'release');
  const words = ['npm', 'pack', '--silent', '--pack-destination', folder, './release/npm'];
  const packed = await runProgram(words, { cwd: copy, env });
  if (packed.code !== 0) throw new Error(packed.stdout + packed.stderr);
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!);
}
