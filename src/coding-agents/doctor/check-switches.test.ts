import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { codingAgents } from '../coding-agents.ts';
import { checkSwitches } from './check-switches.ts';
import { readAgentFiles } from './find-hooks.ts';

interface Case {
  readonly coding_agent: string;
  /** Files below the folder of the test machine, which has `home` and `project`; `@` is replaced with that folder. */
  readonly files: Readonly<Record<string, string>>;
  /** Status and name of each check, such as `fail coding_agent.trusted`. */
  readonly found: readonly string[];
  /** The number of hooks that the agent does not run. */
  readonly off_count: number;
}

const command = 'service hook --config /service.yaml';
const grouped = (event: string, more: object = {}) =>
  JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: 'command', command, ...more }] }] } });
const CODEX = 'project/.codex/hooks.json';
const KEY = '"@/project/.codex/hooks.json:pre_tool_use:0:0"';
const TRUSTED = `[hooks.state.${KEY}]\ntrusted_hash = "sha256:0"\n`;
const PROJECT = '[projects."@/project"]\ntrust_level = "trusted"\n';

const CASES: readonly Case[] = [
  {
    coding_agent: 'codex',
    files: { [CODEX]: grouped('PreToolUse') },
    found: ['fail coding_agent.trusted', 'warn coding_agent.trusted'],
    off_count: 1,
  },
  {
    coding_agent: 'codex',
    files: { [CODEX]: grouped('PreToolUse'), 'home/.codex/config.toml': TRUSTED + PROJECT },
    found: [],
    off_count: 0,
  },
  {
    coding_agent: 'codex',
    files: { [CODEX]: grouped('PostToolUse'), 'home/.codex/config.toml': TRUSTED + PROJECT },
    found: ['fail coding_agent.trusted'],
    off_count: 1,
  },
  {
    coding_agent: 'codex',
    files: {
      [CODEX]: grouped('PreToolUse'),
      'home/.codex/config.toml': `${TRUSTED}enabled = false\n${PROJECT}`,
    },
    found: ['fail coding_agent.hooks_on'],
    off_count: 1,
  },
  {
    coding_agent: 'codex',
    files: {
      [CODEX]: grouped('PreToolUse'),
      'home/.codex/config.toml': `${TRUSTED}${PROJECT}[features]\nhooks = false\n`,
    },
    found: ['fail coding_agent.hooks_on'],
    off_count: 1,
  },
  {
    coding_agent: 'claude-code',
    files: {
      'project/.claude/settings.json': grouped('PreToolUse'),
      'home/.claude/settings.json': '{"disableAllHooks": true}',
    },
    found: ['fail coding_agent.hooks_on'],
    off_count: 1,
  },
  {
    coding_agent: 'claude-code',
    files: {
      'project/.claude/settings.json': grouped('PreToolUse'),
      'home/.claude/settings.json': '{"disableAllHooks": false}',
    },
    found: [],
    off_count: 0,
  },
  {
    coding_agent: 'gemini',
    files: {
      'project/.gemini/settings.json': grouped('BeforeTool', { name: 'guard' }),
      'home/.gemini/settings.json': '{"hooksConfig": {"disabled": ["guard"]}}',
    },
    found: ['fail coding_agent.hooks_on'],
    off_count: 1,
  },
  {
    coding_agent: 'gemini',
    files: {
      'project/.gemini/settings.json': grouped('BeforeTool'),
      'home/.gemini/settings.json': '{"hooksConfig": {"disabled": ["other"]}, // a comment\n}',
    },
    found: [],
    off_count: 0,
  },
  {
    coding_agent: 'codex',
    files: { 'home/.codex/config.toml': '[features]\nhooks = false\n' },
    found: [],
    off_count: 0,
  },
];

test('switches that disable hooks are reported, and other settings are not', async () => {
  for (const { coding_agent: name, files, found: expected, off_count } of expectRows(10, CASES)) {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'switches-')));
    const machine = { project: join(folder, 'project'), home: join(folder, 'home'), env: {} };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text.replaceAll('@', folder));
    }
    const agent = codingAgents.find((each) => each.name === name)!;
    const found = await readAgentFiles(agent, machine);
    assert.deepEqual(found.checks, []);
    const hooks = found.files.flatMap((file) => file.hooks.map((hook) => ({ file, hook })));
    const { checks, off } = checkSwitches(agent, hooks, found.files, machine);
    const report = checks.map((check) => `${check.status} ${check.name}`);
    assert.deepEqual([report, off.size], [expected, off_count], JSON.stringify([name, files]));
    await rm(folder, { recursive: true });
  }
});
