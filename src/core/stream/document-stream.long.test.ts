import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judge } from '../decision/judge.ts';
import { allDetectors } from '../detect/detectors/all.ts';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import { openStream } from './stream.ts';
import { cutText, findRunDifference, judgeWhole, MASKING, runStream, splitUnits } from './testing/pieces.ts';

const SEED = Number(process.env.DOCUMENTS_SEED ?? 11);
const RUNS = Number(process.env.DOCUMENTS ?? (process.env.NIGHTLY === undefined ? 8 : 60));

/** Secrets and personal data, each without a character that JSON escapes. */
const SECRETS: readonly string[] = [
  `${'sk'}-ABCDEF1234567890`,
  `${'ghp'}_${'wQ7nR2tY5uK8pL3sD6fG1hJ4kZ9xC0vB2nM5'}`,
  `${'AKIA'}QWERTYUIOP234567`,
  'ada.lovelace@posteo.de',
  '4242 4242 4242 4242',
  `postgres://app:${'s3cr3tPassw0rd'}@db.example.net/app`,
  `-----BEGIN ${'PRIVATE'} KEY-----\n${'Kq7x'.repeat(20)}\n-----END ${'PRIVATE'} KEY-----`,
];
const KEYS = [
  'name',
  'password',
  'api_key',
  'token',
  'data',
  'kind',
  'version',
  'note',
  'ssn',
  'a b',
  'items',
];
const WORDS = [
  'The review of our plan went well, and the team met again. ',
  'Zusage für Montag – „prima“ \ud83d\ude00. ',
  'line\nnext\ttab "quoted" back\\slash ',
  'Secret',
  'https://example.org/a?b=c%20d',
  'a b c d e f',
  '',
];

const hide: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => Buffer.from(secret).toString('base64'),
  (secret) => Buffer.from(`The value is ${secret} for now.`).toString('hex'),
  encodeURIComponent,
  (secret) => JSON.stringify({ password: secret, list: [secret] }),
  (secret) => JSON.stringify(JSON.stringify([secret])),
  (secret) => `{"note": "${secret}`,
  (secret) => `${secret.slice(0, 9)}\u200b${secret.slice(9)}`,
];

const examples = allDetectors
  .flatMap(({ examples: { hits, misses } }) => [...hits, ...misses])
  .map((text) => text.replace(/[«»]/g, '').toWellFormed())
  .filter((text) => text.length < 200);

const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 3 }).map((parts) => parts.join(''));
const planted = fc
  .tuple(words, fc.constantFrom(...SECRETS), fc.constantFrom(...hide), words)
  .map(([before, secret, hidden, after]) => `${before}${hidden(secret)}${after}`);
const text = fc.oneof(
  { weight: 4, arbitrary: words },
  { weight: 3, arbitrary: planted },
  { weight: 2, arbitrary: fc.constantFrom(...examples) },
);
const key = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...KEYS) }, { weight: 1, arbitrary: text });
const number = fc.constantFrom(0, -1.5, 7, 4242424242424242, 123456789, 1e21, 536900000);
const leaf = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 2, arbitrary: number },
  { weight: 1, arbitrary: fc.constantFrom(true, false, null) },
);
const { tree } = fc.letrec<{ tree: unknown; list: unknown; object: unknown }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, leaf, tie('list'), tie('object')),
  list: fc.array(tie('tree'), { maxLength: 4 }),
  object: fc
    .array(fc.tuple(key, tie('tree')), { maxLength: 5 })
    .map((members) => Object.fromEntries(members)),
}));
const root = fc.oneof(
  fc.array(tree, { minLength: 1, maxLength: 4 }),
  fc.dictionary(key, tree, { minKeys: 1, maxKeys: 5 }),
  text,
);

/** Ways to write a value as JSON. */
const WRITERS: readonly ((value: unknown) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => JSON.stringify(value).replaceAll('":', '" : ').replaceAll(',', ' ,\n'),
  (value) =>
    JSON.stringify(value).replace(/[a-z@](?=[a-z0-9.-])/g, (char, at: number) =>
      at % 5 === 0 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char,
    ),
  (value) =>
    JSON.stringify(value).replace(
      /[^\u0000-\u007f]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
];

/** Ways in which an answer differs from a complete document. */
const ENDINGS: readonly ((document: string, share: number) => string)[] = [
  (document) => document,
  (document) => document,
  (document) => `\n ${document}\n`,
  (document, share) => document.slice(0, Math.floor(share * document.length)),
  (document) => `${document} That is all.`,
  (document, share) => {
    const at = Math.floor(share * document.length);
    return `${document.slice(0, at)}"${document.slice(at)}`;
  },
];

const answer = fc
  .tuple(
    root,
    fc.constantFrom(...WRITERS),
    fc.constantFrom(...ENDINGS),
    fc.double({ min: 0, max: 1, noNaN: true }),
  )
  .map(([value, write, end, share]) => end(write(value), share));
const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
const TYPED = { ...MASKING, redaction: { ...MASKING.redaction, typed: true } };

const OVER_WORK = 'more than 8 times the work of clean text.';

test('a streamed document equals one that is judged whole, cut at every unit and in two', () => {
  const seen = { runs: 0, findings: 0, streamed: 0, over_work: 0 };
  fc.assert(
    fc.property(answer, shares, fc.boolean(), (document, places, isTyped) => {
      const policy = isTyped ? TYPED : MASKING;
      const expected = judgeWhole(document, policy);
      const cuts = places.map((share) => Math.floor(share * document.length)).sort((a, b) => a - b);
      const runs = [splitUnits(document), cutText(document, cuts)].map((pieces) => runStream(pieces, policy));
      const step = Math.max(1, Math.floor(document.length / 60));
      for (let at = 1; at < document.length; at += step)
        runs.push(runStream(cutText(document, [at]), policy));
      for (const run of runs) {
        const difference = findRunDifference(run, expected);
        // Text that is no document and has very many escapes and names is blocked for its work.
        if (difference?.endsWith(OVER_WORK)) {
          seen.over_work += 1;
          assert.throws(() => JSON.parse(document));
        } else assert.equal(difference, null, JSON.stringify(document));
      }
      const early = runs[0]!.released.slice(0, -1).filter(({ text }) => text !== '').length;
      seen.runs += runs.length;
      seen.findings += expected.verdict.findings.length;
      seen.streamed += early > 0 ? 1 : 0;
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  assert.ok(seen.over_work < seen.runs / 10, JSON.stringify(seen));
  assert.ok(
    seen.runs > 10 * RUNS && seen.findings > RUNS / 2 && seen.streamed > RUNS / 3,
    JSON.stringify(seen),
  );
});

const BLOCKING = buildTestPolicy({
  rules: [
    { name: 'no', boundary: 'input', data_tags: ['secret'], action: 'block' },
    { name: 'mask', boundary: 'input', data_tags: ['personal'], action: 'redact' },
  ],
});

test('of a document that is blocked nothing is released from its first secret on', () => {
  const seen = { blocked: 0, streamed: 0 };
  fc.assert(
    fc.property(answer, (document) => {
      const content = { kind: 'text', text: document } as const;
      const { decision, findings } = judge(buildTestCrossing({ content }), BLOCKING);
      if (decision !== 'block') return;
      const secretAt = Math.min(
        ...findings.filter(({ action }) => action === 'block').map(({ start }) => start),
      );
      const stream = openStream(BLOCKING, buildTestCrossing());
      let text = '';
      let releasedUntil = 0;
      let last = stream.push('');
      for (const unit of splitUnits(document)) {
        if (last.verdict === null) last = stream.push(unit);
        text += last.text;
        if (last.verdict === null) releasedUntil = stream.released_units();
      }
      if (last.verdict === null) last = stream.end();
      assert.equal(last.verdict?.decision, 'block', document);
      assert.equal(last.text, '', document);
      assert.ok(releasedUntil <= secretAt, document);
      assert.ok(judgeWhole(document).text.startsWith(text), document);
      seen.blocked += 1;
      seen.streamed += text === '' ? 0 : 1;
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  assert.ok(seen.blocked > RUNS / 5 && seen.streamed > RUNS / 10, JSON.stringify(seen));
});
