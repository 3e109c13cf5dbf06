/** Runs the how-to pages' commands against the program, and compares what the pages show. */
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { runInProcess } from '../src/entry/cli/testing/run.ts';
import { root, runProgram, runShell } from './support/checkout.ts';
import { listCommands, type PageCommand } from './support/page-commands.ts';
import { CONFIG, LEFT_PAGES, WALKS } from './support/page-walks.ts';
import { getBlocks } from './support/pages.ts';
import { startTestService, type TestService } from './support/service.ts';
import { matchesShown } from './support/shown-output.ts';
import { until } from './support/until.ts';

let service: TestService;
let bin: string;
before(async () => {
  bin = mkdtempSync(join(tmpdir(), 'service-pages-'));
  symlinkSync(join(root, 'customshouse'), join(bin, 'customshouse'));
  const dir = mkdtempSync(join(tmpdir(), 'service-pages-'));
  const made = await runInProcess(['init', '--non-interactive'], { cwd: dir, env: { HOME: dir } });
  assert.equal(made.code, 0, made.stderr);
  const config = { ...parse(readFileSync(join(dir, 'service.yaml'), 'utf8')), ...CONFIG };
  const getYaml = (page: string) =>
    getBlocks(readPage(`docs/how-to/${page}.md`)).find(({ language }) => language === 'yaml')!.text;
  Object.assign(config, parse(getYaml('restrict-data-flows')));
  const files = { 'schemas/memory.yaml': getYaml('keep-memory') };
  service = await startTestService({ dir, config, files, workers: 1 });
});
after(async () => {
  await service?.stop();
  rmSync(bin, { recursive: true, force: true });
});

/** The newest printed ID by its prefix. A page cannot know the ID that its reader will see. */
const ids = new Map<string, string>();
const ID = /\b(alr|apr|cap|dlv|evt|hold|key)_[0-9a-f]{20,}/g;

async function run(command: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const given = command
    .replaceAll('http://127.0.0.1:8000', service.url)
    .replaceAll(ID, (id, kind: string) => ids.get(kind) ?? id);
  const ran = await runLine(given);
  for (const [id, kind] of `${ran.stdout}${ran.stderr}`.matchAll(ID)) ids.set(kind!, id);
  return ran;
}

/** Runs the program's own commands in this process, and all else in a shell. */
async function runLine(command: string) {
  const words = /^customshouse [^|<>$`;\n]*$/.test(command) ? await splitWords(command) : null;
  if (words !== null) return runInProcess(words.slice(1), { cwd: service.dir, env: { HOME: service.dir } });
  return runShell(command, { cwd: service.dir, bin, more: { HOME: service.dir } });
}

async function splitWords(command: string): Promise<string[]> {
  const { stdout } = await runProgram(['/bin/sh', '-c', `printf '%s\\0' ${command}`]);
  return stdout.split('\0').slice(0, -1);
}

const readPage = (path: string) => readFileSync(join(root, path), 'utf8').replaceAll(/^ {3}(?=\S)/gm, '');

function getPageCommands(path: string): PageCommand[] {
  return getBlocks(readPage(path))
    .filter(({ language }) => language === 'sh' || language === 'console')
    .flatMap(listCommands);
}

for (const [name, { prepare = [], repeated = [], left = {} }] of Object.entries(WALKS))
  test(`the commands of ${name} do what it shows`, { timeout: 120_000 }, async () => {
    const page = `docs/how-to/${name}.md`;
    for (const command of prepare) {
      const ran = await run(command);
      assert.equal(ran.code, 0, `${command}\n${ran.stdout}${ran.stderr}`);
    }
    const commands = getPageCommands(page);
    const used = new Set<string>();
    for (const { command, shown, line } of commands) {
      const reason = Object.keys(left).find((each) =>
        [`${command}$`, shown ?? ''].some((text) => text.startsWith(each)),
      );
      if (reason !== undefined) {
        used.add(reason);
        continue;
      }
      let ran = await run(command);
      if (repeated.includes(command))
        await until(async () => {
          ran = await run(command);
          return ran.stdout.search(ID) >= 0;
        }, command);
      const { code, stdout, stderr } = ran;
      const place = `${page}:${line}: ${command}\n${stdout}${stderr}`;
      assert.equal(code === 0, !/^(?:error:|broken)|\bINEFFECTIVE\b/m.test(shown ?? ''), place);
      if (shown !== null) {
        // A terminal shows both, in the order in which they come.
        const orders = [`${stdout}${stderr}`, `${stderr}${stdout}`];
        assert.ok(
          orders.some((printed) => matchesShown(printed, shown)),
          `${place}\nshown:\n${shown}`,
        );
      }
    }
    assert.deepEqual([...used].sort(), Object.keys(left).sort(), 'a command that is left out is on the page');
  });

test('every page with commands has a test', () => {
  const pages = globSync('docs/{how-to,tutorial}/*.md', { cwd: root }).filter(
    (path) => getPageCommands(path).length > 0,
  );
  const named = [...Object.keys(WALKS).map((name) => `docs/how-to/${name}.md`), ...Object.keys(LEFT_PAGES)];
  assert.deepEqual(pages.sort(), named.sort());
  const reasons = [
    ...Object.values(WALKS).flatMap(({ left = {} }) => Object.values(left)),
    ...Object.values(LEFT_PAGES),
  ];
  const tests = reasons.flatMap((reason) => reason.match(/[\w/.-]+\.test\.ts/g) ?? []);
  assert.ok(tests.length >= 20);
  assert.deepEqual(
    tests.filter((path) => !existsSync(join(root, path))),
    [],
  );
});

test('an output that differs from the page is seen', () => {
  const printed = 'intact  12 events\n  worker-1: 4 records, evt_1a2092e326681e88533d91ee\n';
  assert.ok(matchesShown(printed, 'intact  5 events\n...'));
  assert.ok(matchesShown(printed, 'intact  5 events\n  worker-1: 13 records, ...'));
  assert.ok(!matchesShown(printed, 'broken  5 events\n...'));
  assert.ok(!matchesShown(printed, 'intact  5 events'));
  assert.ok(!matchesShown(printed, 'intact  5 events\n  worker-1: 13 records, apr_1a2092e326681e88533d91ee'));
});
