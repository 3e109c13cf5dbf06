import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { EARLIER_NAME } from '../../core/names.ts';
import { codingAgents } from '../coding-agents.ts';
import { formatHookCommand, quoteArg, splitCommand } from '../record/hook-command.ts';
import { readDocument } from './settings-document.ts';
import { listSettingsFiles } from './settings-locations.ts';

const MACHINE = { project: '/p', home: '/h', env: {} };
const CONFIG = '/etc/a b/service.yaml';

test('what is entered is read back as it was entered, in every agent and format', () => {
  let ran = 0;
  for (const { name, settings } of codingAgents) {
    const { hook_format: shape, wanted_hooks: wanted, guards_exit, locations: places } = settings;
    const command = formatHookCommand({
      program: ['/opt/x y/service'],
      config: CONFIG,
      dialect: name,
      event: null,
      guards_exit,
    });
    const hooks = Object.fromEntries(wanted.map((each) => [each.event, [shape.entry(each, command)]]));
    const format = places(MACHINE)[0]!.format;
    const agent = codingAgents.find((each) => each.name === name)!;
    const found = agent.settings.hook_format.list(readDocument(JSON.stringify({ other: 1, hooks }), format));
    assert.deepEqual(
      found.map(({ event, matcher }) => ({ event, matcher })),
      wanted,
      name,
    );
    for (const each of found) {
      assert.deepEqual([each.command, each.is_ours, each.timeout_ms], [command, true, 30_000], name);
      assert.equal(each.fails_closed, name === 'cursor');
      ran += 1;
    }
  }
  assert.equal(ran, 23);
});

test('hooks of Codex are found in TOML, those of Copilot in each of their forms', () => {
  const codex = codingAgents.find(({ name }) => name === 'codex')!;
  const toml =
    '[[hooks.PreToolUse]]\nmatcher = "^Bash$"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "/x/service hook"\n';
  const [hook] = codex.settings.hook_format.list(readDocument(toml, 'toml'));
  assert.deepEqual([hook?.matcher, hook?.timeout_ms, hook?.is_ours], ['^Bash$', null, true]);
  const copilot = codingAgents.find(({ name }) => name === 'copilot')!;
  const forms = { exec: '/x/service', args: ['hook', '--event', 'preToolUse'] };
  const text = JSON.stringify({
    hooks: { preToolUse: [forms, { command: 'lint' }, { url: 'https://x' }, 7] },
  });
  assert.deepEqual(
    copilot.settings.hook_format.list(readDocument(text, 'json')).map(({ is_ours }) => is_ours),
    [true, false],
  );
});

const COMMANDS: readonly (readonly [command: string, is_ours: boolean])[] = [
  ['service hook', true],
  ['/opt/bin/service hook --dialect claude-code || exit 2', true],
  ["'/opt/a b/service' hook --config '/x y/service.yaml'", true],
  ['"/opt/a b/customshouse" hook', true],
  [`/opt/${EARLIER_NAME} hook`, true],
  ['/opt/a\\ b/service hook', true],
  ['npx -y -p customshouse customshouse hook --config x', true],
  ['node /r/dist/entry/cli/bin.js hook', true],
  ['SERVICE_HOOK_DAEMON=off service hook --profile claude-code --event pre_tool_use', true],
  ['service mcp', false],
  ['my-service hook', false],
  ['lint --hook service', false],
  ['echo x; service hook', false],
  ['/x/main.ts hook', false],
  ['service', false],
  ["'service hook'", false],
];

test('hooks of this program are distinguished from those of other programs', () => {
  const agent = codingAgents[0]!;
  for (const [command, isOurs] of COMMANDS) {
    const text = JSON.stringify({
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }, command] },
    });
    const found = agent.settings.hook_format.list(readDocument(text, 'json'));
    assert.deepEqual(
      found.map((each) => each.is_ours),
      [isOurs, isOurs],
      command,
    );
  }
});

test('what is quoteWord is one word, for a shell and for the reader of commands', () => {
  const word = fc
    .string({ unit: 'grapheme', minLength: 0, maxLength: 20 })
    .filter((text) => !text.includes('\0'));
  let ran = 0;
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 3 }), (words) => {
      assert.deepEqual(splitCommand(words.map(quoteArg).join(' ')), words);
      ran += 1;
    }),
    { numRuns: 300 },
  );
  assert.equal(ran, 300);
  const odd = ["it's", 'a b', '$(touch /tmp/x)', '"', '\\', '`id`', '', 'ü', '!', '~', '#x'];
  const output = execFileSync('/bin/sh', ['-c', `printf '%s|' ${odd.map(quoteArg).join(' ')}`], {
    encoding: 'utf8',
  });
  assert.equal(output, `${odd.join('|')}|`);
});

test('a file that is not in its format is refused with the line', () => {
  for (const [text, format, pattern] of [
    ['{\n "a": 1,\n}', 'json', /not JSON at line 3/],
    ['{\n // x\n "a": 1}', 'json', /not JSON at line 2/],
    ['{"a": ', 'jsonc', /not JSON with comments at line 1/],
    ['a = \n', 'toml', /not TOML at line 1/],
    ['{"a": 1} {}', 'json', /not JSON/],
  ] as const)
    assert.throws(() => readDocument(text, format), pattern, text);
  assert.equal(readDocument(' \n', 'json'), null);
  const read = readDocument('\ufeff{// x\n"a": [1,],}', 'jsonc') as { a: unknown };
  assert.deepEqual(read.a, [1]);
});

test('folders are opened, in the order of names, and one that is missing is empty', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agents-'));
  try {
    const copilot = codingAgents.find(({ name }) => name === 'copilot')!;
    await mkdir(join(folder, '.github/hooks'), { recursive: true });
    for (const name of ['b.json', 'a.json', 'c.txt'])
      await writeFile(join(folder, '.github/hooks', name), '{}');
    const files = await listSettingsFiles(
      copilot.settings.locations({ project: folder, home: folder, env: {} }),
    );
    assert.deepEqual(
      files.filter(({ path }) => path.includes('.github/hooks')).map(({ path }) => path.slice(-6)),
      ['a.json', 'b.json'],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
