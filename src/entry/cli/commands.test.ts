import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { runInProcess as run, withFolder } from './testing/run.ts';

interface Case {
  readonly args: readonly string[];
  readonly code: number;
  readonly stdout?: RegExp;
  readonly stderr?: RegExp;
}

const CASES: readonly Case[] = [
  {
    args: ['policy', 'evaluate', '--boundary', 'input', '--data-tag', 'secret.credential'],
    code: 1,
    stdout: /^block\n$/,
  },
  {
    args: ['policy', 'evaluate', '--boundary', 'input', '--data_tag', 'secret'],
    code: 1,
    stdout: /^block\n$/,
  },
  {
    args: ['policy', 'evaluate', '--boundary', 'output', '--data-tag', 'secret'],
    code: 0,
    stdout: /^redact\n$/,
  },
  {
    args: ['policy', 'evaluate', '--boundary', 'output', '--data-tag=personal.pii,secret'],
    code: 0,
    stdout: /^redact\n$/,
  },
  {
    args: ['policy', 'evaluate', '--boundary', 'input', '--data-tag', 'personal', '--data-tag', 'secret'],
    code: 1,
    stdout: /^block\n$/,
  },
  {
    args: ['policy', 'evaluate', '--boundary', 'input', '--data-tag', 'personal', '--json'],
    code: 0,
    stdout: /^\{"action":"redact"\}\n$/,
  },
  {
    args: ['policy', 'evaluate', '--boundary', 'input', '--data-tag', 'un/known'],
    code: 2,
    stderr: /data_tags\[0\]/,
  },
  { args: ['policy', 'reload'], code: 2, stderr: /No service runs[\s\S]*customshouse serve/ },
  { args: ['templates', 'list'], code: 0, stdout: /^NAME +SOURCE +ABOUT\n[\s\S]*^healthcare +builtin/m },
  { args: ['templates', 'list', '--json'], code: 0, stdout: /"name":"coding-agent"/ },
  { args: ['templates', 'show', 'finance'], code: 0, stdout: /^policies:$/m },
  { args: ['templates', 'show', '--name', 'Support'], code: 0, stdout: /^policies:$/m },
  { args: ['templates', 'show', 'finance', '--format', 'json'], code: 0, stdout: /^\{\n/ },
  { args: ['templates', 'show', 'finance', '--name', 'support'], code: 2, stderr: /one template/ },
  { args: ['templates', 'show'], code: 2, stderr: /templates list/ },
  { args: ['templates', 'show', 'nuclear'], code: 1, stderr: /no template of that name/ },
  { args: ['plugins', 'list'], code: 0, stdout: /no plug-ins/ },
  { args: ['plugins', 'list', '--json'], code: 0, stdout: /^\{"count":0/ },
  {
    args: ['intelligence', 'auto-config', '--path', '.', '--apply'],
    code: 1,
    stderr: /disabled[\s\S]*intelligence\.enabled/,
  },
  { args: ['intelligence', 'recommend', '--since', '7d', '--output-dir', 'x'], code: 1, stderr: /disabled/ },
  { args: ['intelligence', 'explain', 'evt_1'], code: 1, stderr: /disabled/ },
  {
    args: ['intelligence', 'explain', 'evt_1', '--json'],
    code: 1,
    stdout: /^\{"error":"The intelligence layer is disabled\.","code":"not_configured"/,
    stderr: /disabled/,
  },
  { args: ['intelligence', 'compliance', '--framework', 'HIPAA'], code: 1, stderr: /disabled/ },
  { args: ['intelligence', 'integrate', '--target', 'langchain'], code: 1, stderr: /disabled/ },
  { args: ['validate'], code: 0, stdout: /^valid[\s\S]*0 agent identity documents/ },
  { args: ['cost', 'summary'], code: 0, stdout: /^\$0\.00 from [\s\S]*^0 calls/m },
  { args: ['cost', 'budget'], code: 0, stdout: /^No budget concerns this/ },
  { args: ['cost', 'report'], code: 0, stdout: /^Nothing was spent\.$/m },
  { args: ['cost', 'summary', '--last', 'yesterday'], code: 2, stderr: /not a period/ },
  { args: ['cost', 'prices', 'gpt-4o-mini'], code: 0, stdout: /^gpt-4o-mini +0\.15 +0\.6 /m },
  { args: ['cost', 'prices', 'mystery'], code: 0, stdout: /^\* +5 +25 .*no price is known/m },
  { args: ['token', 'show'], code: 1, stderr: /no agent token yet/ },
];

test('commands without a service and without a configuration', async () => {
  await withFolder(async (cwd) => {
    for (const { args, code, stdout, stderr } of CASES) {
      const result = await run(args, { cwd });
      const where = `service ${args.join(' ')}\n${result.stdout}${result.stderr}`;
      assert.equal(result.code, code, where);
      if (stdout !== undefined) assert.match(result.stdout, stdout, where);
      if (stderr !== undefined) assert.match(result.stderr, stderr, where);
      if (code === 2) assert.equal(result.stdout, '', where);
    }
  });
});

test('validate reports every problem with its file and path', async () => {
  await withFolder(async (cwd) => {
    await writeFile(join(cwd, 'service.yaml'), 'server:\n  prot: 80\npolicy:\n  default_action: maybe\n');
    const { code, stdout, stderr } = await run(['validate'], { cwd });
    assert.equal(code, 1);
    assert.match(stdout, /^invalid {2}service\.yaml: 2 problems$/m);
    assert.match(stderr, /service\.yaml:2: .*`server\.prot`.*`port`/);
    assert.match(stderr, /service\.yaml:4: .*`policy\.default_action`/);
    const json = await run(['validate', '--json'], { cwd });
    assert.equal(json.code, 1);
    assert.equal(JSON.parse(json.stdout).problems.length, 2);
    const scan = await run(['scan', 'hello'], { cwd });
    assert.equal(scan.code, 2);
    assert.match(scan.stderr, /not valid:\n {2}service\.yaml:2/);
  });
});

test('a template can be sent into the folder of policies, and is valid there', async () => {
  await withFolder(async (cwd) => {
    await run(['init'], { cwd });
    // A shell with `>` creates the empty file before the command starts.
    const target = join(cwd, 'policies/finance.yaml');
    await writeFile(target, '');
    const { code, stdout } = await run(['templates', 'show', 'finance'], { cwd });
    assert.equal(code, 0);
    await writeFile(target, stdout);
    const valid = await run(['validate'], { cwd });
    assert.equal(valid.code, 0, valid.stderr);
  });
});

test('tokens are made, shown and renewed, for their owner alone', async () => {
  await withFolder(async (cwd) => {
    const made = await run(['token', 'rotate', 'operator'], { cwd });
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^svc_operator_\S{43}\n$/);
    const path = join(cwd, '.service/operator-token');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal(await readFile(path, 'utf8'), made.stdout);
    assert.equal((await run(['token', 'show', 'operator'], { cwd })).stdout, made.stdout);
    assert.notEqual((await run(['token', 'rotate', 'operator'], { cwd })).stdout, made.stdout);
    const json = await run(['token', 'rotate', '--json'], { cwd });
    assert.equal(JSON.parse(json.stdout).kind, 'agent');
  });
});

test('a key that token create makes is valid in the configuration that it prints', async () => {
  await withFolder(async (cwd) => {
    const args = [
      'token',
      'create',
      'ci',
      '--tenant',
      'acme',
      '--agent',
      'a,b',
      '--permission',
      'check',
      '--expires-in',
      '30d',
    ];
    const { code, stdout, stderr } = await run(args, { cwd });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^svc_key_\S{43}\n$/);
    assert.ok(!stderr.includes(stdout.trim()), 'the key stands apart from the configuration');
    const lines = stderr.slice(stderr.indexOf('auth:'));
    const [key] = parse(lines).auth.api_keys;
    assert.deepEqual(
      [key.id, key.tenants, key.agents, key.permissions],
      ['ci', ['acme'], ['a', 'b'], ['check']],
    );
    await writeFile(join(cwd, 'service.yaml'), lines);
    const valid = await run(['validate'], { cwd });
    assert.equal(valid.code, 0, valid.stderr);
  });
});
