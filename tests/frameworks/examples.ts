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
 * Runs an example: it must end with 0, and must fail if its call holds no secret, because then the tool runs.
 *
 * @param modules - the folder with the packages of the framework
 */
export async function runExample(name: string, modules: string): Promise<void> {
  const app = mkdtempSync(join(tmpdir(), 'sdk-example-'));
  try {
    const packages = join(app, 'node_modules');
    mkdirSync(join(packages, 'agent-safety'), { recursive: true });
    for (const each of readdirSync(modules)) symlinkSync(join(modules, each), join(packages, each));
    const manifest = { name: 'agent-safety', type: 'module', exports: EXPORTED };
    writeFileSync(join(packages, 'agent-safety/package.json'), JSON.stringify(manifest));
    symlinkSync(join(root, 'src'), join(packages, 'agent-safety/src'));
    const text = readFileSync(join(root, 'examples', `typescript-${name}`, 'agent.mjs'), 'utf8');
    writeFileSync(join(app, 'agent.mjs'), text);
    writeFileSync(join(app, 'control.mjs'), text.replaceAll(SECRET, 'none'));
    const run = (file: string) =>
      runProgram([process.execPath, join(app, file)], { cwd: app, env: ownNodeEnvironment({}) });
    const ran = await run('agent.mjs');
    assert.equal(ran.code, 0, `${name}: ${ran.stderr}`);
    assert.match(ran.stdout, /The secret was blocked/);
    assert.notEqual((await run('control.mjs')).code, 0, `${name} does not notice a tool that runs`);
  } finally {
    rmSync(app, { recursive: true, force: true });
  }
}
