/** Runs the examples of the TypeScript SDK with the packages of a folder of tests. */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownNodeEnvironment, root, runProgram } from '../support/checkout.ts';

const EXPORTED = { './sdk': './src/sdk/index.ts', './sdk/*': './src/sdk/adapters/*.ts' };
const SECRET = 'sk-ABCDEF1234567890';

/**
 * Runs an example: it must print what its README shows, and fail if its call holds no secret, because then the tool runs.
 *
 * @param modules - the folder with the packages of the framework
 */
export async function runExample(name: string, modules: string): Promise<void> {
  const app = mkdtempSync(join(tmpdir(), 'sdk-example-'));
  try {
    const packages = join(app, 'node_modules');
    mkdirSync(join(packages, 'customshouse'), { recursive: true });
    for (const each of readdirSync(modules)) symlinkSync(join(modules, each), join(packages, each));
    const manifest = { name: 'customshouse', type: 'module', exports: EXPORTED };
    writeFileSync(join(packages, 'customshouse/package.json'), JSON.stringify(manifest));
    symlinkSync(join(root, 'src'), join(packages, 'customshouse/src'));
    const folder = join(root, 'examples', `typescript-${name}`);
    const run = (secret: string) => {
      for (const file of readdirSync(folder).filter((each) => each.endsWith('.mjs')))
        writeFileSync(join(app, file), readFileSync(join(folder, file), 'utf8').replaceAll(SECRET, secret));
      const words = [process.execPath, join(app, 'agent.mjs')];
      return runProgram(words, { cwd: app, env: ownNodeEnvironment({}) });
    };
    const ran = await run(SECRET);
    assert.equal(ran.code, 0, `${name}: ${ran.stderr}`);
    const shown = /```text\n([\s\S]*?)```/.exec(readFileSync(join(folder, 'README.md'), 'utf8'))?.[1];
    // The path of the journal differs in each run.
    assert.equal(ran.stdout.replace(/\S+\.jsonl/, 'journal.jsonl'), shown, name);
    const control = await run('none');
    assert.notEqual(control.code, 0, `${name} does not notice a tool that runs`);
    assert.match(control.stderr, /AssertionError/);
  } finally {
    rmSync(app, { recursive: true, force: true });
  }
}
