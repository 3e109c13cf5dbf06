/** What the pages say of the tree is so. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { commands } from '../src/entry/cli/commands/index.ts';
import { operations } from '../src/operations/index.ts';
import { decides } from '../src/operations/operation.ts';
import { ownNodeEnvironment, root, runProgram } from './support/checkout.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

const allDependencies = {
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.devDependencies,
};

test('every dependency has its reason, and no reason is left of one that went', () => {
  const told = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]!);
  const there = Object.keys(allDependencies);
  assert.deepEqual(told.sort(), there.sort());
});

test('versions are exact, so that a lock file is not the only thing that holds them', () => {
  for (const [name, version] of Object.entries(allDependencies))
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
});

test('the changelog names this version', () => {
  assert.match(read('CHANGELOG.md'), new RegExp(`^## ${manifest.version.replaceAll('.', '\\.')}`, 'm'));
});

test('the page on HTTP names every route of a check', () => {
  const page = read('docs/http.md');
  const checks = operations.filter((each) => decides(each) && each.http !== undefined);
  assert.ok(checks.length >= 6);
  for (const { http } of checks) assert.ok(page.includes(`${http?.method} ${http?.path}\``), http?.path);
});

test('the changelog names every command', () => {
  const page = read('CHANGELOG.md');
  assert.ok(commands.length >= 12);
  for (const { name } of commands.filter((each) => each.name !== 'intelligence'))
    assert.ok(page.includes(`\`${name}`), name);
});

/** What the pages take from the environment. */
const SHOWN = {
  APPROVALS_SECRET: 'k'.repeat(32),
  CRM_KEY: 'k',
  GITHUB_TOKEN: 'a',
  OTLP_AUTHORIZATION: 'a',
  STORE_PASSWORD: 'p',
  MEMORY_KEY: 'k'.repeat(32),
  OPENAI_API_KEY: 'k',
  ANTHROPIC_KEY_A: 'k',
  ANTHROPIC_KEY_B: 'k',
  OLD_MEMORY_KEY: 'o'.repeat(32),
};

test('every YAML that a page shows is a valid configuration', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'service-docs-'));
  let shown = 0;
  for (const page of [
    'docs/approvals.md',
    'docs/gateway.md',
    'docs/memory.md',
    'docs/storage.md',
    'docs/telemetry.md',
    'docs/policies.md',
    'docs/proxy.md',
    'docs/configuration.md',
  ]) {
    for (const { 1: text = '' } of read(page).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)) {
      // Tests of policies are read by `service policy test`, and by its own tests.
      if (text.includes('/policy-test.schema.json')) continue;
      // A first line that names a document's file says that it is no configuration.
      const document = /^# (policies\/[\w-]+\.yaml)$/m.exec(text.split('\n', 1)[0]!)?.[1];
      rmSync(join(dir, 'policies'), { recursive: true, force: true });
      mkdirSync(join(dir, 'policies'));
      writeFileSync(join(dir, 'service.yaml'), document === undefined ? text : '');
      if (document !== undefined) writeFileSync(join(dir, document), text);
      const ran = await runProgram([join(root, 'service'), 'validate'], {
        cwd: dir,
        env: ownNodeEnvironment(SHOWN),
      });
      assert.equal(ran.code, 0, `${page}:\n${text}\n${ran.stdout}${ran.stderr}`);
      shown += 1;
    }
  }
  rmSync(dir, { recursive: true });
  assert.ok(shown >= 1);
});
