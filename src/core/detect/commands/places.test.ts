import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DETECTION } from '../../testing/policies.ts';
import type { Content, Detection, Json } from '../../types/index.ts';
import { detect } from '../detect.ts';
import { commandTextDetectors, findSevereRules } from './in-text.ts';

const LIMITS = { text_bytes_max: 1 << 20, depth_max: 64, nodes_max: 10_000, findings_max: 100 };

function detectDangerousCommands(content: Content): readonly string[] {
  return detect(content, DETECTION, LIMITS)
    .findings.filter(({ type }) => type === 'dangerous_command')
    .map(({ rule_id, severity, path, start, end }) => `${rule_id} ${severity} ${path} ${start}-${end}`);
}

const VALUES: readonly { says: string; value: Json; expected: readonly string[] }[] = [
  {
    says: 'a command',
    value: { command: 'rm -rf /' },
    expected: ['filesystem.delete_whole critical $.command 0-8'],
  },
  {
    says: 'a part of a command',
    value: { cmd: 'ls && git stash drop' },
    expected: ['git.stash_drop medium $.cmd 6-20'],
  },
  {
    says: 'a program and its arguments',
    value: { command: 'git', args: ['reset', '--hard'] },
    expected: ['git.reset_hard medium $.args[0] 0-5'],
  },
  {
    says: 'a list',
    value: { argv: ['git', 'commit', '-m', 'git reset --hard'] },
    expected: [],
  },
  {
    says: 'a list of a shell',
    value: { cmd: ['bash', '-c', 'git reset --hard'] },
    expected: ['git.reset_hard medium $.cmd[0] 0-4'],
  },
  {
    says: 'code',
    value: { code: "import shutil\nshutil.rmtree('/srv')" },
    expected: ['filesystem.delete_whole critical $.code 0-35'],
  },
  {
    says: 'a sentence under a key of commands',
    value: { input: 'Please rm -rf / is not what I want to see here.' },
    expected: [],
  },
  { says: 'a document', value: { body: 'Never run rm -rf / on a server.' }, expected: [] },
  {
    says: 'a block in a document: flagged and never critical',
    value: { body: 'Do not:\n```\nrm -rf /\n```\n' },
    expected: ['command.in_text high $.body 12-20'],
  },
  { says: 'a tame command', value: { command: 'npm test -- --watch=false' }, expected: [] },
  { says: 'what is quoted', value: { command: 'git commit -m "drop table users; rm -rf /"' }, expected: [] },
];

test('commands are found where arguments hold them', () => {
  for (const { says, value, expected } of VALUES)
    assert.deepEqual(detectDangerousCommands({ kind: 'json', value }), expected, says);
  assert.equal(VALUES.length, 11);
});

test('in a text, commands are found only at the beginning of a line, a quotation or code', () => {
  const [detector] = commandTextDetectors;
  for (const marked of detector!.examples.hits) {
    const text = marked.replace(/[«»]/g, '');
    assert.deepEqual(detectDangerousCommands({ kind: 'text', text }), [
      `command.in_text high null ${marked.indexOf('«')}-${marked.indexOf('»') - 1}`,
    ]);
  }
  for (const text of detector!.examples.misses)
    assert.deepEqual(detectDangerousCommands({ kind: 'text', text }), [], text);
});

test('a rule that is switched off by its id is off in texts too', () => {
  const text = '$ git push --force origin main';
  const foundIn = (detectors: Detection['detectors']): readonly string[] =>
    detect({ kind: 'text', text }, { ...DETECTION, detectors }, LIMITS).findings.map(
      ({ rule_id }) => rule_id,
    );
  const off = { enabled: false, severity: null, entropy_min: null };
  assert.deepEqual(foundIn([]), ['command.in_text']);
  assert.deepEqual(foundIn([{ ...off, name: 'git.reset_hard' }]), ['command.in_text']);
  const rules = findSevereRules('git push --force origin main').map(({ id }) => ({ ...off, name: id }));
  assert.ok(rules.length > 0);
  assert.deepEqual(foundIn(rules), []);
});

test('a command that is nested too deep is found', () => {
  const countNested = (levels: number, command: string): number => {
    const text = `$ echo ${'$('.repeat(levels)}${command}${')'.repeat(levels)}`;
    return detectDangerousCommands({ kind: 'text', text }).length;
  };
  for (const levels of [1, 11, 150]) assert.equal(countNested(levels, 'rm -rf /'), 1, `${levels} levels`);
  assert.equal(countNested(5, 'date'), 0);
});

test('personal data inside a command is found as well', () => {
  const { findings } = detect({ kind: 'text', text: 'rm -rf /srv/x +44 20 7946 0958' }, DETECTION, LIMITS);
  assert.deepEqual(findings.map(({ type }) => type).sort(), ['dangerous_command', 'pii_detected']);
});

test('a script that is too long or too deep is not passed', () => {
  const deep = `${'$('.repeat(30)}rm -rf /${')'.repeat(30)}`;
  for (const command of ['x'.repeat(131_073), deep]) {
    const { coverage } = detect({ kind: 'json', value: { command } }, DETECTION, LIMITS);
    assert.equal(coverage.status, 'partial');
  }
});
