import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { type RunOptions, runInProcess, runProcess, withFolder } from './testing/run.ts';

// Concatenated, so that secret scanners of code hosts do not report it.
const KEY = ['sk-', 'ABCDEF1234567890'].join('');
const SSN = ['123', '45', '6789'].join('-');
const CONFIG_LINE = 'Here is the config: DATABASE_URL=postgresql://admin:p4ssw0rd@db.internal:5432/prod';

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly options?: Omit<RunOptions, 'cwd'>;
  readonly code: number;
  readonly stdout?: readonly RegExp[];
  readonly stderr?: readonly RegExp[];
  readonly forbidden?: readonly string[];
}

const CASES: readonly Case[] = [
  { name: 'clean text', args: ['good morning'], code: 0, stdout: [/^allow /m, /default\.allow/] },
  {
    name: 'a key is blocked and not repeated',
    args: [`Use key ${KEY}`],
    code: 1,
    stdout: [/^block /m, /critical api_key.* at 8-27/, /^event {2}evt_[0-9a-f]{24}$/m],
    forbidden: [KEY],
  },
  { name: 'standard input', args: [], options: { stdin: `Use key ${KEY}` }, code: 1, stdout: [/^block /m] },
  {
    name: 'a dash is standard input',
    args: ['-'],
    options: { stdin: 'hello' },
    code: 0,
    stdout: [/^allow /m],
  },
  { name: 'an empty standard input is a mistake', args: [], code: 2, stderr: [/Standard input is empty/] },
  {
    name: 'personal data in a prompt',
    args: [`My number is ${SSN}.`],
    code: 0,
    stdout: [/^modify /m, /high ssn/, /My number is \[REDACTED\]\./],
    forbidden: [SSN],
  },
  {
    name: 'an answer',
    args: ['--boundary', 'output', CONFIG_LINE],
    code: 0,
    stdout: [/^modify /m, /connection_string/, /DATABASE_URL=\[REDACTED\]$/m],
    forbidden: ['p4ssw0rd'],
  },
  {
    name: 'structured',
    args: ['--structured'],
    options: { stdin: JSON.stringify({ user: { note: `key ${KEY}` } }) },
    code: 1,
    stdout: [/in \$\.user\.note/],
    forbidden: [KEY],
  },
  {
    name: 'structured, not JSON',
    args: ['--structured'],
    options: { stdin: `{"note": ${KEY}` },
    code: 2,
    stderr: [/is not valid JSON/],
    forbidden: [KEY],
  },
  {
    name: 'structured output',
    args: ['--structured', '--boundary', 'output', '{}'],
    code: 2,
    stderr: [/input/],
  },
  { name: 'text and file', args: ['--file', 'notes.md', 'text'], code: 2, stderr: [/not both/] },
  { name: 'quiet without a file', args: ['--quiet', 'text'], code: 2, stderr: [/--file only/] },
  { name: 'a file', args: ['--file', 'notes.md'], code: 1, stdout: [/^block /m], forbidden: [KEY] },
  {
    name: 'a file of JSON',
    args: ['--file', 'data.json'],
    code: 1,
    stdout: [/in \$\.key/],
    forbidden: [KEY],
  },
  {
    name: 'a file that is not there',
    args: ['--file', 'none.md'],
    code: 2,
    stderr: [/`none\.md` is not there/],
  },
  { name: 'a folder', args: ['--file', '.'], code: 2, stderr: [/is a folder/] },
  { name: 'a file that is no text', args: ['--file', 'bytes.bin'], code: 2, stderr: [/UTF-8/] },
  {
    name: 'an answer that is no text',
    args: ['--boundary', 'output', '--file', 'bytes.bin'],
    code: 2,
    stderr: [/UTF-8/],
  },
  {
    name: 'a configuration that is not there',
    args: ['hi', '--config', 'none.yaml'],
    code: 2,
    stderr: [/none\.yaml/],
  },
  { name: 'controls are shown', args: [`\u001b[2J ${SSN}`], code: 0, stdout: [/\\u001b\[2J \[REDACTED\]/] },
];

test('scan answers as the service does, and never repeats what it found', async () => {
  await withFolder(async (cwd) => {
    await writeFile(join(cwd, 'notes.md'), `a key: ${KEY}\n`);
    await writeFile(join(cwd, 'data.json'), JSON.stringify({ key: KEY }));
    await writeFile(join(cwd, 'bytes.bin'), Buffer.from([0xff, 0xfe, 0x00, 0xc3]));
    for (const { name, args, options, code, stdout = [], stderr = [], forbidden = [] } of expectRows(
      CASES.length,
      CASES,
    )) {
      const result = await runInProcess(['scan', ...args], { ...options, cwd });
      const all = result.stdout + result.stderr;
      assert.equal(result.code, code, `${name}\n${all}`);
      for (const pattern of stdout) assert.match(result.stdout, pattern, name);
      for (const pattern of stderr) assert.match(result.stderr, pattern, name);
      for (const text of [...forbidden, '\u001b', '    at '])
        assert.ok(!all.includes(text), `${name}\n${all}`);
    }
  });
});

test('scan reads several files and prints no content', async () => {
  await withFolder(async (cwd) => {
    await writeFile(join(cwd, 'a.md'), 'Good morning\n');
    await writeFile(join(cwd, 'b.md'), `a key: ${KEY}\n`);
    await writeFile(join(cwd, 'c.md'), `${SSN}\n`);
    await writeFile(join(cwd, 'd.bin'), Buffer.from([0xff, 0xfe]));
    const scan = async (...names: string[]) => {
      const words = names.flatMap((name) => (name.startsWith('-') ? [name] : ['--file', name]));
      return runInProcess(['scan', ...words], { cwd });
    };
    const allowed = await scan('a.md', 'a.md');
    assert.deepEqual([allowed.code, allowed.stderr], [0, '']);
    const blocked = await scan('b.md', 'a.md', 'c.md');
    assert.equal(blocked.code, 1, blocked.stderr);
    assert.match(blocked.stdout, /^b\.md\nblock [\s\S]*^c\.md\nmodify /m);
    assert.match(blocked.stdout, /^3 files: 1 allowed, 1 with redactions, 1 blocked, 0 unreadable$/m);
    const quiet = await scan('c.md', '--quiet');
    assert.match(quiet.stdout, /^c\.md\nmodify [\s\S]*^1 file: 0 allowed, 1 with redactions/m);
    const unreadable = await scan('d.bin', 'none.md', 'b.md');
    assert.equal(unreadable.code, 2);
    assert.match(unreadable.stderr, /^d\.bin: .*UTF-8.*\nnone\.md: /m);
    assert.match(unreadable.stdout, /1 blocked, 2 unreadable$/m);
    const json = await scan('b.md', 'd.bin', '--json');
    const rows = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      rows.map(({ file, decision, error }) => [file, decision, typeof error]),
      [
        ['b.md', 'block', 'undefined'],
        ['d.bin', undefined, 'string'],
      ],
    );
    for (const { stdout, stderr } of [blocked, quiet, unreadable, json])
      for (const text of [KEY, 'REDACTED', 'a key']) assert.ok(!`${stdout}${stderr}`.includes(text), text);
    const misconfigured = await scan('a.md', 'b.md', '--config=none.yaml');
    assert.equal(misconfigured.code, 2);
    assert.equal(misconfigured.stderr.match(/is not valid/g)?.length, 1, misconfigured.stderr);
  });
});

test('scan --json gives the reply of the route', async () => {
  await withFolder(async (cwd) => {
    const blocked = await runProcess(['scan', '--json', `Use key ${KEY}`], { cwd });
    assert.equal(blocked.code, 1);
    const reply = JSON.parse(blocked.stdout);
    assert.equal(reply.decision, 'block');
    assert.equal(reply.violations.length, 1);
    assert.equal(reply.violations[0].match, KEY);
    const refused = await runProcess(['scan', '--json', '--structured', '{'], { cwd });
    assert.equal(refused.code, 2);
    assert.equal(JSON.parse(refused.stdout).code, 'invalid_request');
  });
});

test('scan --structured keeps the digits of numbers, on one line', async () => {
  await withFolder(async (cwd) => {
    const stdin = `{\n  "id": 1234567890123456789,\n  "price": 1.0,\n  "note": "a  b ${SSN}"\n}\n`;
    const { code, stdout } = await runProcess(['scan', '--structured', '--json', '--agent', 'bot'], {
      cwd,
      stdin,
    });
    assert.equal(code, 0);
    assert.ok(
      stdout.includes('"modified_payload":{"id":1234567890123456789,"price":1.0,"note":"a  b [REDACTED]"}'),
      stdout,
    );
    assert.equal(stdout.trimEnd().split('\n').length, 1);
    assert.equal(JSON.parse(stdout).decision, 'modify');
    const twins = await runProcess(['scan', '--structured', '--json'], { cwd, stdin: '{"a":1,"a":2}' });
    assert.equal(JSON.parse(twins.stdout).code, 'invalid_request');
    const closing = await runProcess(['scan', '--structured', '--json'], {
      cwd,
      stdin: '1,"agent_id":"root"',
    });
    assert.equal(closing.code, 2);
  });
});
