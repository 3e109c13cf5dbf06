import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runInProcess, runProcess, withFolder } from './testing/run.ts';

// Concatenated, so that secret scanners of code hosts do not report it.
const KEY = ['sk-', 'ABCDEF1234567890'].join('');
const TEXTS = [`Use key ${KEY}`, 'the colour of the sky', `also ${KEY}`, 'nothing to see'];

const ROWS = [
  {
    id: 'a',
    text: TEXTS[0],
    label: 'secret',
    labels: [{ start: 8, end: 27, type: 'openai' }],
    source: 'tickets',
  },
  {
    id: 'b',
    text: TEXTS[1],
    label: 'secret',
    labels: [{ start: 4, end: 10, type: 'colour' }],
    source: 'mails',
  },
  { id: 'c', text: TEXTS[2], label: 'benign', labels: [], source: 'mails' },
  { id: 'd', text: TEXTS[3], label: 'benign', labels: [], source: 'mails' },
];
const JSONL = ROWS.map((row) => JSON.stringify(row)).join('\n');

test('a file of labelled texts is measured by the real program, and none of its text is repeated', async () => {
  await withFolder(async (cwd) => {
    await writeFile(join(cwd, 'rows.jsonl.gz'), gzipSync(JSONL));
    const args = [
      'bench',
      '--category',
      'secrets',
      '--corpus',
      'rows.jsonl.gz',
      '--predictions',
      'out.jsonl',
    ];
    const { code, stdout, stderr } = await runProcess(args, { cwd });
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, /^all +secrets +50\.00 % +2 +50\.00 % +2 +50\.00 % +50\.00 %$/m);
    assert.match(stdout, /^source +tickets +100\.00 % +1$/m);
    assert.match(stdout, /^type +colour +0\.00 % +1$/m);
    assert.match(stdout, /^Missed: 1\nmails +colour +b$/m);
    assert.match(stdout, /^False positives: 1\nmails +by [a-z_.]+ +c$/m);
    for (const text of TEXTS) assert.ok(!stdout.includes(text));
    assert.ok(!stdout.includes(KEY));
    const lines = (await readFile(join(cwd, 'out.jsonl'), 'utf8')).trimEnd().split('\n');
    const [first, second] = lines.map((line) => JSON.parse(line));
    assert.equal(lines.length, ROWS.length);
    assert.deepEqual([first.id, first.hits.length, first.hits[0].start, first.hits[0].end], ['a', 1, 8, 27]);
    assert.deepEqual(second, { id: 'b', hits: [] });
    assert.deepEqual((await readdir(cwd)).sort(), ['out.jsonl', 'rows.jsonl.gz']);
  });
});

test('the figures are available as JSON, and can be limited to a severity', async () => {
  await withFolder(async (cwd) => {
    const commands = ['rm -rf /', 'ls -la', 'git reset --hard'].map((text, at) =>
      JSON.stringify({ id: `c${at}`, text, label: at === 1 ? 'benign' : 'attack' }),
    );
    await writeFile(join(cwd, 'rows.jsonl'), commands.join('\n'));
    const bench = async (...more: string[]) => {
      const words = [
        'bench',
        '--category',
        'commands',
        '--corpus',
        'rows.jsonl',
        '--json',
        '--predictions',
        'p.jsonl',
      ];
      const { code, stdout, stderr } = await runInProcess([...words, ...more], { cwd });
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout);
    };
    const all = await bench();
    assert.deepEqual(
      [all.category, all.rows, all.positives, all.found, all.negatives, all.alarms, all.recall, all.f1],
      ['commands', 3, 2, 2, 1, 0, 1, 1],
    );
    const [first, second] = (await readFile(join(cwd, 'p.jsonl'), 'utf8'))
      .split('\n')
      .map((line) => line && JSON.parse(line));
    assert.deepEqual([first.flagged, second.flagged, second.hits], [true, false, []]);
    const worst = await bench('--severity', 'critical');
    assert.deepEqual([worst.found, worst.misses.map((each: { id: string }) => each.id)], [1, ['c2']]);
  });
});

interface RefusedCorpus {
  readonly args: readonly string[];
  readonly rows?: string;
  readonly stderr: RegExp;
}

const CASES: readonly RefusedCorpus[] = [
  { args: ['--corpus', 'rows.jsonl'], stderr: /--category/ },
  { args: ['--category', 'pii'], stderr: /--corpus/ },
  { args: ['--category', 'weather', '--corpus', 'rows.jsonl'], stderr: /secrets, pii, injection, commands/ },
  { args: ['--category', 'pii', '--corpus', 'nothing.jsonl'], stderr: /`nothing\.jsonl` is not there/ },
  { args: ['--category', 'pii', '--corpus', '.'], stderr: /`\.` is a folder; name a file/ },
  {
    args: ['--category', 'pii', '--corpus', 'rows.jsonl'],
    stderr: /rows\.jsonl:1: `label` must be `pii` or `benign`/,
  },
  {
    args: ['--category', 'secrets', '--corpus', 'rows.jsonl', '--predictions', './rows.jsonl'],
    stderr: /would overwrite the corpus/,
  },
  {
    args: ['--category', 'secrets', '--corpus', 'rows.jsonl', '--predictions', 'none/out.jsonl'],
    stderr: /is not there/,
  },
  {
    args: ['--category', 'secrets', '--corpus', 'rows.jsonl', '--predictions', 'out.jsonl'],
    rows: `${JSONL}\n{"id": "${KEY}`,
    stderr: /rows\.jsonl:5: The line is not one JSON value/,
  },
  {
    args: ['--category', 'secrets', '--corpus', 'rows.jsonl', '--config', 'other.yaml'],
    stderr: /other\.yaml/,
  },
];

test('an unusable row is reported with its line, and no file is left', async () => {
  for (const { args, rows = JSONL, stderr } of CASES) {
    await withFolder(async (cwd) => {
      await mkdir(join(cwd, 'kept'));
      await writeFile(join(cwd, 'rows.jsonl'), rows);
      const result = await runInProcess(['bench', ...args], { cwd });
      assert.equal(result.code, 2, args.join(' '));
      assert.match(result.stderr, stderr);
      assert.equal(result.stdout, '');
      assert.ok(!result.stderr.includes(KEY));
      assert.deepEqual((await readdir(cwd)).sort(), ['kept', 'rows.jsonl']);
      assert.equal(await readFile(join(cwd, 'rows.jsonl'), 'utf8'), rows);
    });
  }
});
