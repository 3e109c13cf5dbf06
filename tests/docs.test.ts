/** Statements of the documentation about the source tree are true. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { listCommands } from '../src/entry/cli/program.ts';
import { runInProcess } from '../src/entry/cli/testing/run.ts';
import { isDecisionOperation } from '../src/operations/operation.ts';
import { operations } from '../src/server/operations.ts';
import { root } from './support/checkout.ts';
import { getAnchors, getLinks, markdownFiles } from './support/pages.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  version: string;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

const guide = JSON.parse(read('docs/package.json')) as { devDependencies: Record<string, string> };
const webConsole = JSON.parse(read('console/package.json')) as Pick<
  typeof manifest,
  'dependencies' | 'devDependencies'
>;

const allDependencies = {
  ...guide.devDependencies,
  ...webConsole.dependencies,
  ...webConsole.devDependencies,
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.devDependencies,
};

test('every dependency has its reason, and no reason is left of one that went', () => {
  // The first cell of a row names one package, several, or a family: `@codemirror/*`.
  const rows = [...read('docs/reference/dependencies.md').matchAll(/^\| (`[^|]+`) \|/gm)];
  const described = rows.flatMap(([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!));
  const covers = (row: string, name: string) =>
    row.endsWith('*') ? name.startsWith(row.slice(0, -1)) : row === name;
  const names = Object.keys(allDependencies);
  assert.deepEqual(
    names.filter((name) => !described.some((row) => covers(row, name))),
    [],
  );
  assert.deepEqual(
    described.filter((row) => !names.some((name) => covers(row, name))),
    [],
  );
  assert.ok(described.length >= 60, String(described.length));
});

test('versions are exact, so that a lock file is not the only thing that holds them', () => {
  for (const [name, version] of Object.entries(allDependencies))
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
});

test('the changelog names this version', () => {
  assert.match(read('CHANGELOG.md'), new RegExp(`^## ${manifest.version.replaceAll('.', '\\.')}`, 'm'));
});

test('the page on HTTP names every route of a check', () => {
  const page = read('docs/reference/http.md');
  const checks = operations.filter((each) => isDecisionOperation(each) && each.http !== undefined);
  assert.ok(checks.length >= 6);
  for (const { http } of checks) assert.ok(page.includes(`${http?.method} ${http?.path}\``), http?.path);
});

test('the changelog names every command', () => {
  const page = read('CHANGELOG.md');
  const commands = listCommands();
  assert.ok(commands.length >= 12);
  for (const { name } of commands.filter((each) => each.name !== 'intelligence'))
    assert.ok(page.includes(`\`${name}`), name);
});

/** Variables that the pages read from the environment. */
const SHOWN = {
  ALERT_SECRET: 'k'.repeat(32),
  APPROVALS_SECRET: 'k'.repeat(32),
  CHAT_URL: 'https://chat.example.com/hook',
  CRM_KEY: 'k',
  GITHUB_TOKEN: 'a',
  OTLP_AUTHORIZATION: 'a',
  STORE_PASSWORD: 'p',
  CLUSTER_SECRET: 'c'.repeat(32),
  MEMORY_KEY: 'k'.repeat(32),
  OPENAI_API_KEY: 'k',
  ANTHROPIC_KEY_A: 'k',
  ANTHROPIC_KEY_B: 'k',
  OIDC_SECRET: 's',
  ENTRA_SECRET: 's',
  OLD_MEMORY_KEY: 'o'.repeat(32),
};

/** Folders of documents. The folder of identities is only read if the configuration names it. */
const DOCUMENT_FOLDERS = ['policies', 'contracts', 'agents', 'schemas'];
const AGENTS_READ = 'paths: {identity_files: [agents/*.yaml]}\n';

test('every YAML that a page shows is a valid configuration', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'service-docs-'));
  const pages = markdownFiles().filter((path) => path.startsWith('docs/'));
  writeFileSync(join(dir, 'prices.yaml'), 'prices: []\n');
  const wrong: string[] = [];
  let shown = 0;
  for (const page of pages) {
    for (const { 1: text = '' } of read(page).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)) {
      // `customshouse policy test` reads these files, and has its tests.
      if (text.includes('/policy-test.schema.json')) continue;
      // A first line with a file below one of these folders marks a separate document.
      const document = /^# ((policies|contracts|agents|schemas)\/[\w-]+\.yaml)$/m.exec(
        text.split('\n', 1)[0]!,
      );
      for (const folder of DOCUMENT_FOLDERS) {
        rmSync(join(dir, folder), { recursive: true, force: true });
        mkdirSync(join(dir, folder));
      }
      writeFileSync(join(dir, 'service.yaml'), document === null ? text : AGENTS_READ);
      if (document !== null) writeFileSync(join(dir, document[1]!), text);
      const ran = await runInProcess(['validate'], { cwd: dir, env: SHOWN });
      if (ran.code !== 0) wrong.push(`${page}:\n${text}\n${ran.stdout}${ran.stderr}`);
      shown += 1;
    }
  }
  rmSync(dir, { recursive: true });
  assert.deepEqual(wrong, []);
  assert.ok(shown >= 30, `only ${shown} documents were read`);
});

test('every link between the pages leads to a file and to a heading in it', () => {
  const files = markdownFiles();
  assert.ok(files.length >= 45, `only ${files.length} pages`);
  const broken: string[] = [];
  let links = 0;
  for (const page of files) {
    for (const { path, anchor, line } of getLinks(read(page))) {
      links += 1;
      const target = path === '' ? page : posix.join(posix.dirname(page), path);
      const exists = existsSync(join(root, target));
      const hasAnchor =
        anchor === '' || (target.endsWith('.md') && exists && getAnchors(read(target)).has(anchor));
      if (!exists || !hasAnchor) broken.push(`${page}:${line}: ${path}${anchor === '' ? '' : `#${anchor}`}`);
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(links >= 150, `only ${links} links were followed`);
});

test('the link check finds headings as they are linked, and no links in code', () => {
  const page =
    '# Who may call?\n\n## `a` and b\n\n## `a` and b\n\n```md\n[no](no.md)\n# no\n```\n`[no](no.md)` [yes](yes.md#x)\n';
  assert.deepEqual([...getAnchors(page)], ['who-may-call', 'a-and-b', 'a-and-b-1']);
  assert.deepEqual(getLinks(page), [{ path: 'yes.md', anchor: 'x', line: 11 }]);
});

test('the index lists every page of the guide', () => {
  const listed = new Set([
    ...getLinks(read('docs/README.md')).map(({ path }) => `docs/${path}`),
    // The pages of detector families are listed on a page of their own.
    ...getLinks(read('docs/reference/detectors.md')).map(({ path }) => `docs/reference/${path}`),
  ]);
  const unlisted = markdownFiles().filter(
    (path) => path.startsWith('docs/') && path !== 'docs/README.md' && !listed.has(path),
  );
  assert.deepEqual(unlisted, []);
});
