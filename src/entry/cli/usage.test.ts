import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { commands } from './commands/index.ts';
import { runInProcess, runProcess, withFolder } from './testing/run.ts';

interface Case {
  readonly args: readonly string[];
  readonly code: number;
  readonly stdout?: readonly RegExp[];
  readonly stderr?: readonly RegExp[];
}

const CASES: readonly Case[] = [
  { args: ['--version'], code: 0, stdout: [/^\d+\.\d+\.\d+\n$/] },
  { args: ['-V'], code: 0, stdout: [/^\d+\.\d+\.\d+\n$/] },
  { args: ['--help'], code: 0, stdout: [/Usage: customshouse/, /Start here:/, /validate/] },
  { args: ['help'], code: 0, stdout: [/Usage: customshouse/] },
  { args: ['help', 'scan'], code: 0, stdout: [/Usage: customshouse scan/, /Examples:/] },
  { args: [], code: 2, stderr: [/Usage: customshouse/] },
  {
    args: ['scna'],
    code: 2,
    stderr: [/unknown command 'scna'/, /Did you mean scan\?/, /See `customshouse help`/],
  },
  { args: ['hook', '--dialect', 'other'], code: 2, stderr: [/Allowed choices are claude-code, codex/] },
  { args: ['doctor', '--since', 'yesterday'], code: 2, stderr: [/s, m, h, d, w/] },
  { args: ['doctor', '--coding-agent', 'emacs'], code: 2, stderr: [/Allowed choices are claude-code/] },
  { args: ['scan', '--hepl'], code: 2, stderr: [/unknown option/, /See `customshouse scan --help`/] },
  { args: ['scan', 'one', 'two'], code: 2, stderr: [/too many arguments/] },
  { args: ['scan', 'x', '--boundary', 'sideways'], code: 2, stderr: [/Allowed choices are input, output/] },
  { args: ['logs', '--tail', 'many'], code: 2, stderr: [/whole number/] },
  { args: ['logs', '--newest-first', '--oldest-first'], code: 2, stderr: [/cannot be used with/] },
  { args: ['serve', '--port', '70000'], code: 2, stderr: [/0 to 65535/] },
  { args: ['serve', '--mode', 'both'], code: 2, stderr: [/sidecar, gateway/] },
  { args: ['completion', 'tcsh'], code: 2, stderr: [/bash, zsh, fish/] },
  { args: ['policy', 'evaluate'], code: 2, stderr: [/--boundary/] },
  { args: ['token', 'create'], code: 2, stderr: [/missing required argument/] },
  { args: ['token', 'create', '../x'], code: 2, stderr: [/1 to 64 letters/] },
  {
    args: ['token', 'create', 'ci', '--permission', 'policy:reload'],
    code: 2,
    stderr: [/permissions are check/],
  },
  {
    args: ['intelligence', 'compliance', '--framework', 'iso'],
    code: 2,
    stderr: [/hipaa, pci-dss, soc2, gdpr/],
  },
  { args: ['policy', 'lint', '--strct'], code: 2, stderr: [/See `customshouse policy lint --help`/] },
  // Control characters in a word are escaped, so that they do not move the cursor.
  { args: ['\u001b[2Jscan'], code: 2, stderr: [/\\u001b\[2Jscan/] },
];

test('wrong use is reported and ends with 2, and help and version end with 0', async () => {
  await withFolder(async (cwd) => {
    for (const { args, code, stdout = [], stderr = [] } of CASES) {
      const result = await runInProcess(args, { cwd });
      const where = `service ${args.join(' ')}\n${result.stdout}${result.stderr}`;
      assert.equal(result.code, code, where);
      for (const pattern of stdout) assert.match(result.stdout, pattern, where);
      for (const pattern of stderr) assert.match(result.stderr, pattern, where);
      if (code === 2) assert.equal(result.stdout, '', where);
      assert.doesNotMatch(result.stdout + result.stderr, /\u001b|\n {4}at /, where);
    }
  });
});

test('wrong use is JSON for a program that asked for JSON', async () => {
  await withFolder(async (cwd) => {
    const cases: readonly (readonly [args: readonly string[], error: RegExp, code: string])[] = [
      [['logs', '--tail', 'many', '--json'], /whole number/, 'usage'],
      [['scan', '--hepl', '--json'], /unknown option '--hepl'/, 'usage'],
      [['scna', '--json'], /unknown command 'scna'/, 'usage'],
      [['setup', 'emacs', '--json'], /emacs/, 'unknown_name'],
    ];
    for (const [args, error, code] of expectRows(4, cases)) {
      const result = await runInProcess(args, { cwd });
      const report = JSON.parse(result.stdout);
      assert.equal(result.code, 2, result.stdout);
      assert.match(report.error, error);
      assert.doesNotMatch(report.error, /^error:/);
      assert.deepEqual([report.code, report.details], [code, []]);
    }
  });
});

test('every command and subcommand has examples in its help', async () => {
  await withFolder(async (cwd) => {
    let ran = 0;
    for (const { name } of commands) {
      const { stdout, code } = await runInProcess([name, '--help'], { cwd });
      assert.equal(code, 0, name);
      assert.match(stdout, /\nExamples:\n {2}\$ /, name);
      ran += 1;
      const children = /\nCommands:\n([\s\S]*?)\n\n/.exec(stdout)?.[1]?.matchAll(/^ {2}([a-z-]+)/gm) ?? [];
      for (const [, child] of children) {
        if (child === 'help') continue;
        const inner = await runInProcess([name, child!, '--help'], { cwd });
        assert.match(inner.stdout, /\nExamples:\n {2}\$ /, `${name} ${child}`);
        ran += 1;
      }
    }
    assert.ok(ran >= 20, `only ${ran} helps were looked at`);
  });
});

test('commands are named as they were typed', async () => {
  await withFolder(async (cwd) => {
    const env = { SERVICE_NAME: './customshouse' };
    const help = await runProcess(['scan', '--help'], { cwd, env });
    assert.match(help.stdout, /^Usage: \.\/customshouse scan[\s\S]*\n {2}\$ \.\/customshouse scan /);
    const hint = await runProcess(['policy', 'reload'], { cwd, env });
    assert.match(hint.stderr, /`\.\/customshouse serve`/);
    assert.match((await runProcess(['init'], { cwd, env })).stdout, /\n {2}\.\/customshouse validate\n/);
    const other = await runProcess(['policy', 'reload'], { cwd, env: { SERVICE_NAME: 'other' } });
    assert.match(other.stderr, /`customshouse serve`/);
  });
});

test('the real program parses, answers and ends as the tables say', async () => {
  await withFolder(async (cwd) => {
    const version = await runProcess(['--version'], { cwd });
    assert.deepEqual([version.code, version.stderr], [0, '']);
    assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/);
    const wrong = await runProcess(['scna'], { cwd });
    assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
    assert.match(wrong.stderr, /Did you mean scan/);
  });
});
