import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPath } from './problem-path.ts';
import { readYaml } from './yaml-documents.ts';

async function findProblems(text: string): Promise<string[]> {
  const read = await readYaml(text);
  return read.ok ? [] : read.problems.map((p) => `${p.line ?? '-'} ${formatPath(p.steps)} ${p.message}`);
}

const SECRET = 'hunter2-marker';

const wrong: readonly (readonly [string, string, readonly RegExp[]])[] = [
  ['unclosed list', 'a: [1,\nb: 2', [/^\d /]],
  ['tab as indent', 'a:\n\tb: 1', [/^2 .*line 2, column 1/]],
  ['key twice', 'a: 1\nb: 2\na: 3', [/^3 a is a duplicate key/]],
  ['key twice, in depth', 'x:\n  - {a: 1, a: 2}', [/^2 x\[0\]\.a is a duplicate key/]],
  ['number and name, one key', '1: a\n"1": b', [/^2 \["1"\] is a duplicate key/]],
  ['prototype', '__proto__: {polluted: true}', [/^1 __proto__ cannot be a key/]],
  ['prototype, in depth', 'a: {b: [{"__proto__": 1}]}', [/^1 a\.b\[0\]\.__proto__ cannot/]],
  ['merge', 'x-a: &a {b: 1}\nc:\n  <<: *a', [/^3 c\["<<"\] is no merge/]],
  ['a list as key', '? [a, b]\n: c', [/^1 {2}has a key that is neither/]],
  ['no key at all', '? \n: c', [/has a key that is neither/]],
  ['own tag', 'a: !run ls', [/^1 .*tag/]],
  ['binary', 'a: !!binary aGk=', [/tag/]],
  ['set', 'a: !!set {b, c}', [/tag/]],
  ['older YAML', '%YAML 1.1\n---\na: yes', [/must be YAML 1\.2/]],
  ['infinite', 'a: .inf\nb: .nan', [/^1 a is not a finite/, /^2 b is not a finite/]],
  ['unknown alias', 'a: *nowhere', [/^1 a is an alias of an anchor that is not defined/]],
  ['alias of itself', 'a: &a [*a]', [/^1 a\[0\] is an alias of a node that contains it/]],
  ['alias of itself, in depth', 'a: &a {b: {c: *a}}', [/^1 a\.b\.c is an alias/]],
  ['all of them', 'a: 1\na: 2\nb: .inf\nb: 1', [/^2 a/, /^3 b/, /^4 b/]],
  ['a credential beside the mistake', `a: ${SECRET} : ${SECRET}: [${SECRET}`, [/^1 /]],
  ['a credential behind the quote', `a: "x" ${SECRET}\nb: @${SECRET}\nc: %${SECRET}`, [/^1 /, /^2 /]],
];

test('an error in a text has its line, and never its values', async () => {
  for (const [name, text, expected] of wrong) {
    const problems = await findProblems(text);
    assert.ok(problems.length >= expected.length, `${name}: ${problems.join(' | ')}`);
    expected.forEach((pattern, i) => {
      assert.match(problems[i] ?? '', pattern, name);
    });
    assert.ok(!problems.join().includes(SECRET), name);
  }
  assert.equal(wrong.length, 21);
  assert.equal((Object.prototype as Record<string, unknown>).polluted, undefined);
});

const laughs = Array.from({ length: 12 }, (_, i) =>
  i === 0 ? 'l0: &l0 ha' : `l${i}: &l${i} [${`*l${i - 1},`.repeat(9)}]`,
).join('\n');

const hostile: readonly (readonly [string, string])[] = [
  ['billion laughs', laughs],
  ['flow, 50,000 deep', '['.repeat(50_000)],
  ['flow, 100 deep', '['.repeat(100) + ']'.repeat(100)],
  ['mappings, 20,000 deep', '{a: '.repeat(20_000)],
  ['sequences, 20,000 deep', '- '.repeat(20_000)],
  ['block, 200 deep', Array.from({ length: 200 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ['40 times 10,000 values', `- &a [${'1,'.repeat(10_000)}]\n${'- *a\n'.repeat(40)}`],
  ['20,000 aliases', `- &a x\n${'- *a\n'.repeat(20_000)}`],
  ['2,000 documents', '--- 1\n'.repeat(2_000)],
  ['220,000 values', `[${'1,'.repeat(220_000)}]`],
];

test('a text that nests or grows without bound is refused', async () => {
  for (const [name, text] of hostile) assert.notDeepEqual(await findProblems(text), [], name);
  assert.equal(hostile.length, 10);
});

test('twenty thousand keys are read, and one that is there twice is found', async () => {
  const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: ${i}`).join('\n');
  assert.deepEqual(await findProblems(keys), []);
  assert.deepEqual((await findProblems(`${keys}\nk7: 1`)).length, 1);
});

test('every document of a text is read, with the lines of its parts', async () => {
  const read = await readYaml(
    '# one\na: 1\nb:\n  - x\n  - c: &z {d: 2}\n---\n---\n{"e": "ü", "f": [1, 2]}\n',
  );
  assert.ok(read.ok);
  assert.deepEqual(
    read.documents.map((document) => document.value),
    [{ a: 1, b: ['x', { c: { d: 2 } }] }, null, { e: 'ü', f: [1, 2] }],
  );
  const [first] = read.documents;
  assert.deepEqual(
    [[], ['a'], ['b', 0], ['b', 1, 'c', 'd'], ['b', 1, 'c', 'nope'], ['b', 9], ['nope']].map((p) =>
      first?.lineOf(p),
    ),
    [2, 2, 4, 5, 5, 3, 2],
  );
  assert.deepEqual(read.documents[2]?.lineOf(['f', 1]), 8);
});

test('an alias is replaced by its anchor, a limited number of times', async () => {
  const read = await readYaml('x-a: &a {b: [1]}\nc: *a\nd: [*a, *a]');
  assert.ok(read.ok);
  assert.deepEqual(read.documents[0]?.value, {
    'x-a': { b: [1] },
    c: { b: [1] },
    d: [{ b: [1] }, { b: [1] }],
  });
  assert.equal(read.documents[0]?.lineOf(['d', 1, 'b', 0]), 1);
});

test('nothing, comments and YAML 1.1 words are what YAML 1.2 says they are', async () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['a: yes\nb: 0o17\nc: 1_000\nd: 2026-01-01', { a: 'yes', b: 15, c: '1_000', d: '2026-01-01' }],
    ['\uFEFFa: 1', { a: 1 }],
    ['a:', { a: null }],
    ['%YAML 1.2\n---\na: yes', { a: 'yes' }],
    ['a: !!str 1', { a: '1' }],
  ];
  for (const [text, value] of cases) {
    const read = await readYaml(text);
    assert.ok(read.ok, text);
    assert.deepEqual(read.documents[0]?.value, value);
  }
  const empty = await readYaml('# nothing\n');
  assert.ok(empty.ok);
  assert.equal(empty.documents.length, 0);
});
