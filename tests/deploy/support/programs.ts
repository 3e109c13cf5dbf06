/** Programs that check the files in `deploy`, as components. */
import { execFileSync, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { ensureComponents, locateComponent } from '../../../scripts/components/components.ts';
import { root } from '../../support/checkout.ts';

/** The folder of what the tests read. */
export const DEPLOY = join(root, 'deploy');

/** Returns the path of a component's program, or of another program in its folder. Installs it for nightly tests. */
export function needProgram(component: string, program?: string): string {
  const found = locateComponent(component);
  if (found === null) throw new Error(`scripts/run scripts/components/main.ts ${component}`);
  return program === undefined ? found : join(dirname(found), program);
}

/** Returns why a component is missing, for `skip`; `false` if it is there. */
export function explainMissing(component: string): string | false {
  return (
    locateComponent(component) === null &&
    `${component} is not installed (scripts/run scripts/components/main.ts ${component})`
  );
}

/** Installs the components of tests that run on demand. */
export function installForTests(...names: readonly string[]): void {
  const missing = ensureComponents(names, () => {});
  if (missing.length > 0) throw new Error(`${missing.join(', ')} cannot be installed`);
}

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program and returns its exit code with both outputs. */
export function run(program: string, words: readonly string[], input?: string): Ran {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    cwd: root,
    encoding: 'utf8',
    ...(input !== undefined && { input }),
  });
  if (error !== undefined) throw error;
  return { code: status, output: `${stdout}${stderr}` };
}

/** Runs a program in a folder and returns its standard output. Throws if it fails. */
export function runIn(cwd: string, program: string, ...words: readonly string[]): string {
  return execFileSync(program, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
