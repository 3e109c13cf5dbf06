/**
 * The files that `customshouse setup` writes for frameworks.
 */
import assert from 'node:assert/strict';
import {
  copyFileSync,
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
import { after, test } from 'node:test';
import { locateComponent } from '../../scripts/components/components.ts';
import { agentFrameworks } from '../../src/operations/agent-frameworks.ts';
import { ownNodeEnvironment, root, runProgram } from '../support/checkout.ts';

const folder = mkdtempSync(join(tmpdir(), 'frameworks-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const setup = (...words: string[]) =>
  runProgram([join(root, 'service'), 'setup', ...words], { cwd: folder, env: ownNodeEnvironment({}) });

const missing = (component: string) =>
  locateComponent(component) === null
    ? `${component} is not installed (scripts/run scripts/components/main.ts ${component})`
    : false;

test('the files of TypeScript import the SDK and have the types of their frameworks', {
  skip: missing('frameworks-node'),
}, async () => {
  const modules = join(root, 'tests/frameworks/light/node_modules');
  const app = join(folder, 'app');
  mkdirSync(join(app, 'node_modules', 'customshouse'), { recursive: true });
  for (const name of readdirSync(modules)) symlinkSync(join(modules, name), join(app, 'node_modules', name));
  const exported = { './sdk': './src/sdk/index.ts', './sdk/*': './src/sdk/adapters/*.ts' };
  const manifest = { name: 'customshouse', type: 'module', exports: exported };
  writeFileSync(join(app, 'node_modules/customshouse/package.json'), JSON.stringify(manifest));
  symlinkSync(join(root, 'src'), join(app, 'node_modules/customshouse/src'));
  writeFileSync(join(app, 'package.json'), '{"type": "module"}');
  const files = agentFrameworks.filter(({ file }) => file.endsWith('.ts'));
  assert.equal(files.length, 8);
  for (const { name, file } of files) {
    assert.match((await setup(name, '--force')).stdout, new RegExp(`${file}\\n`), name);
    copyFileSync(join(folder, file), join(app, file));
    const text = readFileSync(join(app, file), 'utf8');
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('//'));
    assert.ok(lines.length <= 14, `${file} has ${lines.length} lines`);
  }
  // In one process, because most frameworks load for seconds.
  const program = files.map(({ file }) => `await import('./${file}');`).join('\n');
  const words = [process.execPath, '--input-type=module', '-e', program];
  const ran = await runProgram(words, { cwd: app, env: ownNodeEnvironment({}) });
  assert.equal(ran.code, 0, ran.stderr);
  const compilerOptions = {
    noEmit: true,
    exactOptionalPropertyTypes: false,
    lib: ['ES2024', 'DOM', 'DOM.AsyncIterable', 'ESNext.Disposable'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const extended = { extends: join(root, 'tsconfig.base.json'), compilerOptions, include: ['*.ts'] };
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify(extended));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const checked = await runProgram([process.execPath, tsc, '-p', app], { cwd: app });
  assert.equal(checked.code, 0, checked.stdout);
});

test('every file can be read by its language, alone', async () => {
  const files = agentFrameworks.map(({ file }) => file).filter((file) => file.endsWith('.py'));
  assert.equal(files.length, 13);
  for (const { name } of agentFrameworks) assert.equal((await setup(name, '--force')).code, 0, name);
  const compiled = await runProgram(
    [
      'python3',
      '-c',
      'import sys\nfor each in sys.argv[1:]: compile(open(each).read(), each, "exec")',
      ...files,
    ],
    { cwd: folder },
  );
  assert.equal(compiled.code, 0, compiled.stderr);
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    assert.match(text, /^from customshouse\.adapters\.\w+ import /m);
    assert.ok(text.split('\n').length <= 20, file);
  }
});

test('a changed file is kept, unless an option says otherwise', async () => {
  await setup('crewai', '--force');
  const path = join(folder, 'service_crewai.py');
  const text = readFileSync(path, 'utf8');
  assert.match((await setup('crewai')).stdout, /^Nothing to change\./);
  writeFileSync(path, '# mine\n');
  for (const words of [[], ['--uninstall']]) {
    const kept = await setup('crewai', ...words);
    assert.deepEqual([kept.code, /was kept/.test(kept.stderr)], [1, true]);
    assert.equal(readFileSync(path, 'utf8'), '# mine\n');
  }
  assert.match((await setup('crewai', '--force')).stdout, /^changed {2}service_crewai\.py/);
  assert.equal(readFileSync(path, 'utf8'), text);
  assert.match((await setup('crewai', '--uninstall')).stdout, /^deleted/);
  assert.match((await setup('crewai', '--scope', 'user')).stderr, /--scope is for coding agents only/);
});
