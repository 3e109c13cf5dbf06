/**
 * An injection in JSON, in a list of documents, in a fence or in base64 has the verdict of the bare text, whatever
 * is next to it.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { listContentMarks } from '../../src/core/decision/content-marks.ts';
import { judge } from '../../src/core/decision/judge.ts';
import { buildTestCrossing, buildTestPolicy } from '../../src/core/testing/policies.ts';
import type { Content } from '../../src/core/types/index.ts';

const { injections, neighbours, talk } = JSON.parse(
  readFileSync(new URL('wrapped.json', import.meta.url), 'utf8'),
) as Record<'injections' | 'neighbours' | 'talk', readonly string[]>;

const POLICY = buildTestPolicy();
const json = (value: unknown, indent?: number): string => JSON.stringify(value, null, indent);

/** The text with an injection and its neighbour. Escapes of the second half show that they hide nothing. */
const WRAPPINGS: Readonly<Record<string, (text: string, near: string) => string>> = {
  value: (text, near) => json({ title: near, body: text }),
  before: (text, near) => json({ body: text, title: near }),
  key: (text, near) => json({ [text]: near }),
  'below a key': (text, near) => json({ [near]: text }),
  nested: (text, near) => json({ a: { b: [{ title: near }, { body: text }] } }),
  array: (text, near) => json([near, text, near]),
  'pretty-printed': (text, near) => json({ title: near, body: text }, 2),
  escaped: (text, near) => json({ path: 'a\\b\n', title: near, body: `${text}\n` }),
  'in JSON': (text, near) => json({ payload: json({ title: near, body: text }) }),
  'in JSON in JSON': (text, near) => json({ payload: json({ payload: json({ title: near, body: text }) }) }),
  'per line': (text, near) =>
    [{ title: near }, { title: near, body: `x\n${text}` }].map((each) => json(each)).join('\n'),
  'in JSON per line': (text, near) =>
    [{ title: near }, { p: json({ title: near, body: text }) }].map((each) => json(each)).join('\n'),
  fenced: (text, near) => `Here:\n\`\`\`json\n${json({ title: near, body: `x\n${text}` }, 2)}\n\`\`\`\n`,
  'in prose': (text, near) => `The result of ${near}: ${json({ title: near, body: text })} That is all.`,
  base64: (text, near) => `data ${Buffer.from(json({ title: near, body: `x\n${text}` })).toString('base64')}`,
};

/** Returns 2 if a tool result is blocked, 1 if an injection is flagged and marked as data, else 0. */
function grade(content: Content): number {
  const crossing = buildTestCrossing({ boundary: 'action', phase: 'response', tool: 'fetch', content });
  const verdict = judge(crossing, POLICY);
  if (verdict.decision === 'block') return 2;
  return listContentMarks(crossing, verdict).includes('data') ? 1 : 0;
}

const gradeText = (text: string): number => grade({ kind: 'text', text });

test('a wrapped injection has at least the verdict of the bare one', () => {
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

test('only words that name attacks lower a quotation, and never to nothing', () => {
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
