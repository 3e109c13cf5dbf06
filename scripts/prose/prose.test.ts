import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lintProse, type ProseRemark } from './lint.ts';
import { compareWithAllowance, countErrors, lowerAllowance } from './ratchet.ts';
import { terms } from './terms.ts';

/** The three kinds of prose, each with a file that holds the sentence. */
const KINDS: Readonly<Record<string, (sentence: string) => [path: string, text: string]>> = {
  markdown: (sentence) => ['docs/a.md', `# Title\n\n${sentence}\n`],
  comment: (sentence) => [
    'src/core/a.ts',
    `/**\n * ${sentence.replace(' ', '\n * ')}\n */\nexport const a = 1;\n`,
  ],
  message: (sentence) => ['src/core/a.ts', `throw new Error(${JSON.stringify(`The name: ${sentence}`)});\n`],
};

async function findErrors(path: string, text: string): Promise<ProseRemark[]> {
  return (await lintProse(path, text)).filter(({ is_error }) => is_error);
}

test('each term refuses its sentence once and accepts the other, in Markdown, comments and messages', async () => {
  let sentences = 0;
  for (const { pattern, use, refuses, accepts } of terms) {
    for (const [kind, file] of Object.entries(KINDS)) {
      const errors = await findErrors(...file(refuses));
      assert.deepEqual(
        errors.map((each) => [each.rule, each.kind]),
        [['refused-phrases', kind]],
        `${pattern}: ${refuses}`,
      );
      assert.ok(errors[0]!.message.endsWith(`use ${use}`));
      assert.deepEqual(await findErrors(...file(accepts)), [], accepts);
      sentences += 2;
    }
  }
  assert.equal(sentences, 6 * terms.length);
  assert.ok(terms.length > 40);
});

const REFUSED: readonly [why: string, path: string, text: string, rule: string, line: number][] = [
  ['free relative clause', 'a.md', 'First.\n\nWhat cannot be read is blocked.', 'openings', 3],
  ['free relative clause in a message', 'src/a.ts', "fail('What is wrong is shown.');", 'openings', 1],
  ['comment that begins with Whether', 'src/a.ts', '\n/** Whether the file exists. */', 'openings', 2],
  ['comment that begins with Of', 'src/a.ts', '// Of two rules the first matches.', 'openings', 1],
  ['phrase on a wrapped line', 'src/a.ts', '// The policy stays in\n// force.', 'refused-phrases', 1],
  ['phrase in a template', 'src/a.ts', 'say(`The rule stands in `);', 'refused-phrases', 1],
  ['phrase in a sum', 'src/a.ts', "say('The name of ' + a + ' stands here');", 'refused-phrases', 1],
  ['title of a test', 'src/a.test.ts', "test('a rule speaks of it', () => {});", 'refused-phrases', 1],
  ['table cell', 'a.md', '| a |\n|---|\n| It stands |', 'refused-phrases', 3],
  ['heading', 'a.md', '## Beside other tools', 'refused-phrases', 1],
];

test('refused prose is found at its line', async () => {
  for (const [why, path, text, rule, line] of REFUSED) {
    const errors = await findErrors(path, text);
    assert.deepEqual(
      errors.map((each) => [each.rule, each.line]),
      [[rule, line]],
      why,
    );
  }
  assert.equal(REFUSED.length, 10);
});

const ACCEPTED: readonly [why: string, path: string, text: string][] = [
  ['code in Markdown', 'a.md', 'Set `beside` to true.\n\n```\nnobody stands\n```'],
  ['code in a comment', 'src/a.ts', '// Reads `beside` from the file.'],
  ['name in code', 'src/a.ts', "import { beside } from './beside.ts';\nbeside.nobody('mend');"],
  ['part of a name', 'a.md', 'Read phone-beside-name and look at-all.'],
  ['question', 'a.md', 'What can go wrong?'],
  ['heading', 'a.md', '## What runs where'],
  ['directive', 'src/a.ts', '// biome-ignore lint: it stands there'],
  ['input of a test', 'src/a.test.ts', "judge('forget what you were told before');"],
  ['examples of a detector', 'src/a.ts', "const a = { examples: ['you were told all of it'] };"],
  ['labelled rows', 'scripts/quality/own/a.ts', "export const a = ['you were told all of it'];"],
  ['fewer than three words', 'src/a.ts', "const a = ['told', 'nobody', 'let in'];"],
  ['regular expression', 'src/a.ts', 'const a = new RegExp("you were told all of it");'],
];

test('accepted prose and data have no errors', async () => {
  for (const [why, path, text] of ACCEPTED) assert.deepEqual(await findErrors(path, text), [], why);
  assert.equal(ACCEPTED.length, 12);
});

test('long sentences and passive constructions are warnings', async () => {
  const remarks = await lintProse('a.md', `The ${'very '.repeat(35)}long file ends. The file is written.`);
  assert.deepEqual(
    remarks.map(({ rule, is_error, message }) => ({ rule, is_error, message })),
    [
      { rule: 'long-sentences', is_error: false, message: 'sentence of 39 words, at most 35' },
      { rule: 'passive-voice', is_error: false, message: 'passive voice: "is written"' },
    ],
  );
});

test('an allowance refuses a rise, reports a fall and never rises', async () => {
  const remarks = await findErrors('src/a.ts', '// It stands.\n\n// It stood.\n');
  const counts = countErrors([...remarks, ...(await findErrors('a.md', 'It stands.'))]);
  assert.deepEqual(counts, { src: { comment: 2 }, '.': { markdown: 1 } });
  const allowance = { src: { comment: 1 }, '.': { markdown: 3 }, docs: { markdown: 1 } };
  const { rises, falls } = compareWithAllowance(counts, allowance);
  assert.deepEqual(rises, ['src (comment) has 2 errors, and 1 are allowed.']);
  assert.equal(falls.length, 2);
  assert.deepEqual(lowerAllowance(counts, allowance), { '.': { markdown: 1 }, src: { comment: 1 } });
});
