/** The parser of answers: reasoning, markers, and answers of a hostile size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAnswer, stripReasoning } from './answer.ts';
import { DOCUMENT_PATH } from './instructions.ts';

const RULES = { path: DOCUMENT_PATH, expects: 'a policy', unnamed: 'policies/recommended.yaml' };

test('reasoning is removed in each form in which servers send it', () => {
  const rows: readonly (readonly [answer: string, rest: string])[] = [
    ['<think>\nLet me see.\n</think>\nCategory: other', 'Category: other'],
    ['Let me see.\n</think>\n\nCategory: other', 'Category: other'],
    ['<THINKING>a</thinking><reasoning>b</reasoning> Category: other', 'Category: other'],
    ['<think>\nLet me see, and then the answer was cut', ''],
    ['I <think> so', 'I <think> so'],
  ];
  for (const [answer, rest] of rows) assert.equal(stripReasoning(answer), rest);
  assert.equal(rows.length, 5);
});

test('a marker is found as models write it', () => {
  const markers = [
    '--- FILE: policies/a.yaml ---',
    '  ---- file:policies/a.yaml',
    '-- FILE: `policies/a.yaml` --',
    '--- FILE: **policies/a.yaml** ---  ',
    '--- FILE: "./policies/a.yaml" ----',
  ];
  for (const marker of markers) {
    const { files, problems } = parseAnswer(`Text.\n${marker}\na: 1\n--- END ---\nMore.`, RULES);
    assert.deepEqual([files, problems], [[{ path: 'policies/a.yaml', text: 'a: 1\n' }], []], marker);
  }
  assert.equal(markers.length, 5);
});

test('the time is linear in an answer that a hostile model writes', () => {
  // With a step that is quadratic in one of these, this test would take hours.
  const units = 1_000_000;
  const answers = [
    `--- FILE: a${' '.repeat(units)}x`,
    `--- FILE: ${'`'.repeat(units)}x ---`,
    `--- FILE: ${'- '.repeat(units / 2)}x`,
    `\`\`\`${' '.repeat(units)}!`,
    `${'`'.repeat(units)}!`,
    '<think>'.repeat(units / 7),
    `${'\n'.repeat(units)}x`,
    '```\n'.repeat(units / 4),
    '--- FILE: policies/a.yaml ---\n```\n'.repeat(units / 34),
  ];
  const files = answers.map((answer) => parseAnswer(answer, RULES).files.length);
  assert.deepEqual(files, [0, 0, 0, 0, 0, 0, 0, 0, 0]);
});

test('a file with characters that a diff does not show is refused', () => {
  const hidden = [
    ...['\u0000', '\u0007', '\u000c', '\u001b[2J', '\u0085', '\u00ad', '\u061c', '\u115f', '\u180e'],
    ...['\u200b', '\u200d', '\u200e', '\u2028', '\u202e', '\u2060', '\u2066', '\u3164', '\ufe00', '\ufeff'],
    ...['\u{e0041}', '\ud800', '\udc00'],
  ];
  const read = (mark: string) => parseAnswer(`--- FILE: policies/a.yaml ---\n# a${mark}b\n`, RULES);
  for (const mark of hidden) {
    const { files, problems } = read(mark);
    const name = JSON.stringify(mark);
    assert.deepEqual([files.length, /control or invisible/.test(problems.join())], [0, true], name);
  }
  const shown = ['\t', 'é', '⚠️', '日本', '–', '\u{1f600}'];
  for (const mark of shown) assert.equal(read(mark).files.length, 1, mark);
  assert.deepEqual([hidden.length, shown.length], [22, 6]);
});
