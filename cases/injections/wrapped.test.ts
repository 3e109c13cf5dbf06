/**
 * An injection in JSON, in a list of documents, in a fence or in base64 has the verdict of the bare text, whatever
 * is next to it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listContentMarks } from '../../src/core/decision/content-marks.ts';
import { judge } from '../../src/core/decision/judge.ts';
import { buildTestCrossing, buildTestPolicy } from '../../src/core/testing/policies.ts';
import type { Content } from '../../src/core/types/index.ts';
import { injections, neighbours, talk, WRAPPINGS } from './wrappings.ts';

const POLICY = buildTestPolicy();

/** Returns 2 if a tool result is blocked, 1 if an injection is flagged and marked as data, else 0. */
function grade(content: Content): number {
  const crossing = buildTestCrossing({ boundary: 'action', phase: 'response', tool: 'fetch', content });
  const verdict = judge(crossing, POLICY);
  if (verdict.decision === 'block') return 2;
  return listContentMarks(crossing, verdict).includes('data') ? 1 : 0;
}

const gradeText = (text: string): number => grade({ kind: 'text', text });

test('a wrapped injection keeps its verdict', () => {
  const weaker: string[] = [];
  let tried = 0;
  for (const text of injections) {
    const bare = gradeText(text);
    assert.ok(bare > 0, text);
    for (const near of [...neighbours, ...talk])
      for (const [name, wrap] of Object.entries(WRAPPINGS)) {
        tried += 1;
        const wrapped = wrap(text, near);
        if (gradeText(wrapped) < bare) weaker.push(`${name}, ${near}: ${text}`);
      }
    for (const near of neighbours)
      if (grade({ kind: 'json', value: { title: near, body: text } }) < bare)
        weaker.push(`parsed, ${near}: ${text}`);
  }
  assert.deepEqual(weaker, []);
  assert.ok(tried > 4_000, `${tried} wrapped texts`);
});

test('only words that name attacks lower a quotation', () => {
  for (const text of injections) {
    const bare = gradeText(text);
    for (const near of neighbours)
      assert.ok(gradeText(`In the ${near} it says "${text}" there.`) >= bare, `${near}: ${text}`);
    for (const near of talk) assert.equal(gradeText(`${near}: "${text}" is one.`), 1, `${near}: ${text}`);
  }
});

test('harmless text in the same wrappings has no finding', () => {
  for (const near of [...neighbours, ...talk])
    for (const wrap of Object.values(WRAPPINGS))
      assert.equal(gradeText(wrap('The parcel has arrived.', near)), 0);
});
