/** Runs every command of the README and of three tutorials, and compares every answer that they show. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root, runShell } from './support/checkout.ts';
import { listCommands } from './support/page-commands.ts';
import { assertShown, getBlocks } from './support/pages.ts';
import { startTestService, type TestService } from './support/service.ts';
import { matchesShown } from './support/shown-output.ts';

/** Returns the commands of a block. A `\` at the end of a line joins it with the next one. */
function getCommands(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(Boolean);
}

/** Commands with tests of their own, and those that run this test. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'npm start': './customshouse serve',
  'npm test': 'scripts/run scripts/check/main.ts',
};

/** The first block: a new user's two commands. These tests clone the repository and set up a project. */
const FIRST_COMMANDS: Readonly<Record<string, string>> = {
  'git clone "$REPOSITORY" customshouse': 'tests/setup.fresh.test.ts',
  'cd your-project && ../customshouse/customshouse setup': 'tests/hook/first-use.test.ts',
};

const dir = mkdtempSync(join(tmpdir(), 'service-readme-'));
for (const name of ['service', 'customshouse']) symlinkSync(join(root, name), join(dir, name));
let service: TestService | null = null;
let mailbox: TestService | null = null;
after(async () => {
  await Promise.all([service?.stop(), mailbox?.stop()]);
  rmSync(dir, { recursive: true, force: true });
});

test('the commands of the README work', { timeout: 120_000 }, async () => {
  const markdown = readFileSync(join(root, 'README.md'), 'utf8');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const counts = { commands: 0, answers: 0 };
  let printed = '';
  for (const { language, text, line } of getBlocks(markdown)) {
    const place = `README.md:${line}`;
    if (language === 'json') {
      assertShown(JSON.parse(printed), JSON.parse(text), place);
      counts.answers += 1;
      continue;
    }
    assert.equal(language, 'sh', `${place}: a block of another language is not checked`);
    for (const command of getCommands(text)) {
      counts.commands += 1;
      if (counts.commands <= 2) {
        assert.ok(existsSync(join(root, FIRST_COMMANDS[command] ?? '-')), `${place}: ${command}`);
        continue;
      }
      const elsewhere = ELSEWHERE[command];
      if (elsewhere === undefined) {
        printed = await getAnswer(command, place);
        continue;
      }
      assert.ok(scripts[command.replace('npm ', '')]?.endsWith(elsewhere), command);
      if (command === 'npm start') service = await startTestService({ config: null, dir, keep: true });
    }
  }
  assert.deepEqual(counts, { commands: 9, answers: 3 });
});

/** Tutorials whose commands need nothing but a service, with how many commands and answers they have. */
const TUTORIALS = [
  ['docs/tutorial/llm-application.md', 4, 3],
  ['docs/tutorial/mcp-server.md', 3, 1],
] as const;

for (const [page, commands, answers] of TUTORIALS)
  test(`the commands of ${page} work`, { timeout: 120_000 }, async () => {
    service ??= await startTestService({ config: null, dir, keep: true });
    // The blocks are in list items.
    const blocks = getBlocks(readFileSync(join(root, page), 'utf8').replaceAll(/^ {3}/gm, ''));
    const counts = { commands: 0, answers: 0 };
    for (const [at, { language, text, line }] of blocks.entries()) {
      if (language !== 'sh') continue;
      const printed = await getAnswer(text, `${page}:${line}`);
      counts.commands += 1;
      const next = blocks[at + 1];
      if (next?.language !== 'json' || next.line !== line + text.split('\n').length + 3) continue;
      assertShown(JSON.parse(printed), JSON.parse(next.text), `${page}:${next.line}`);
      counts.answers += 1;
    }
    assert.deepEqual(counts, { commands, answers });
  });

test('the payment of an attacked mail is held as the tutorial shows', { timeout: 120_000 }, async () => {
  const page = readFileSync(join(root, 'docs/tutorial/attacked-mailbox.md'), 'utf8');
  mailbox = await startTestService({ config: {} });
  const { dir: cwd, url } = mailbox;
  symlinkSync(join(root, 'examples'), join(cwd, 'examples'));
  const more = { HOME: cwd, SERVICE_URL: url };
  let request = '';
  let commands = 0;
  for (const block of getBlocks(page.replaceAll(/^ {3}/gm, ''))) {
    if (block.language === 'yaml') {
      mkdirSync(join(cwd, 'contracts'), { recursive: true });
      writeFileSync(join(cwd, 'contracts/mailbox.yaml'), block.text);
      continue;
    }
    for (const { command, shown, line } of listCommands(block)) {
      commands += 1;
      if (/^customshouse (?:init|serve)\b/.test(command)) continue;
      const given = command.replace(/\bapr_\w+/, request);
      const { code, stdout, stderr } = await runShell(given, { cwd, bin: dir, more });
      const place = `line ${line}: ${command}\n${stdout}${stderr}`;
      assert.equal(code, 0, place);
      if (shown !== null) assert.ok(matchesShown(stdout, shown), `${place}\nshown:\n${shown}`);
      request = /\bapr_\w+/.exec(stdout)?.[0] ?? request;
    }
  }
  assert.equal(commands, 11);
});

async function getAnswer(command: string, place: string): Promise<string> {
  const given = command.replaceAll('http://127.0.0.1:8000', service?.url ?? 'http://127.0.0.1:8000');
  const ran = await runShell(given, { cwd: dir, bin: dir });
  assert.equal(ran.code, 0, `${place}: ${command}\n${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

test('an answer that differs is seen', () => {
  const actual = { decision: 'allow', violations: [], more: 1 };
  assertShown(actual, { decision: 'allow', violations: [] }, '');
  assert.throws(() => assertShown(actual, { decision: 'block' }, ''));
  assert.throws(() => assertShown(actual, { violations: [{ type: 'secret_detected' }] }, ''));
  assert.throws(() => assertShown(actual, { rule: 'a' }, ''));
  assertShown({ text: 'a secret (`x.y`).' }, { text: 'a secret ...' }, '');
  assert.throws(() => assertShown({ text: 'a card (`x.y`).' }, { text: 'a secret ...' }, ''));
});
