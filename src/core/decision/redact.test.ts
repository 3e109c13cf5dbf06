import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { detect } from '../detect/detect.ts';
import { DETECTION } from '../testing/policies.ts';
import type { Content, Finding, Json, ScanLimits, Severity } from '../types/index.ts';
import { redact } from './redact.ts';

const LIMITS: ScanLimits = { text_bytes_max: 1e6, depth_max: 50, nodes_max: 1e5, findings_max: 1e4 };
const MARKER = '[REDACTED]';

function buildTestFinding(
  start: number,
  end: number,
  detector = 'ssn',
  severity: Severity = 'high',
): Finding {
  const tags: [string] = ['personal.pii.x'];
  return { rule_id: 'a.b', detector, type: 'pii_detected', severity, tags, start, end, leaf: 0, path: null };
}

function redactText(text: string, findings: readonly Finding[], typed = false): string {
  const content = redact({ kind: 'text', text }, findings, typed);
  assert.equal(content.kind, 'text');
  return (content as { text: string }).text;
}

const CASES: readonly (readonly [string, readonly Finding[], string, string])[] = [
  ['nothing', [], '0123456789', '0123456789'],
  ['one', [buildTestFinding(2, 4)], '0123456789', '01[REDACTED:ssn]456789'],
  [
    'apart',
    [buildTestFinding(6, 8), buildTestFinding(2, 4)],
    '0123456789',
    '01[REDACTED:ssn]45[REDACTED:ssn]89',
  ],
  ['touching', [buildTestFinding(2, 4), buildTestFinding(4, 6)], '0123456789', '01[REDACTED:ssn]6789'],
  [
    'overlapping',
    [buildTestFinding(2, 6), buildTestFinding(4, 8, 'key', 'critical')],
    '0123456789',
    '01[REDACTED:key]89',
  ],
  [
    'inside',
    [buildTestFinding(2, 8), buildTestFinding(3, 4, 'email', 'medium')],
    '0123456789',
    '01[REDACTED:ssn]89',
  ],
  ['all', [buildTestFinding(0, 10)], '0123456789', '[REDACTED:ssn]'],
  [
    'a number in a document',
    [buildTestFinding(8, 12)],
    '{"pin": 1234, "a": 1}',
    '{"pin": "[REDACTED:ssn]", "a": 1}',
  ],
  ['part of a number', [buildTestFinding(8, 10)], '{"pin": 1234}', '{"pin": [REDACTED:ssn]34}'],
];

test('findings are masked, merged where they overlap or touch', () => {
  for (const [says, findings, text, expected] of CASES)
    assert.equal(redactText(text, findings, true), expected, says);
  assert.equal(CASES.length, 9);
});

test('no masked character remains and all others do, in their order', () => {
  const spans = fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 9 })), { maxLength: 8 });
  fc.assert(
    fc.property(spans, (given) => {
      // Every character is distinct, so the result shows the position of each.
      const text = String.fromCharCode(...Array.from({ length: 50 }, (_, at) => 0x4e00 + at));
      const findings = given.map(([start, length]) => buildTestFinding(start, start + length));
      const masked = (at: number): boolean => findings.some(({ start, end }) => at >= start && at < end);
      const expected = [...text].filter((_, at) => !masked(at)).join('');
      const changed = redactText(text, findings);
      assert.equal(changed.replaceAll(MARKER, ''), expected);
      const masks = [...text].filter((_, at) => masked(at) && !(at > 0 && masked(at - 1))).length;
      assert.equal(changed.split(MARKER).length - 1, masks);
    }),
  );
});

/** Parts that contain findings, and parts that do not. */
const SAMPLES = [
  'Use key sk-ABCDEF1234567890',
  '123-45-6789',
  'bob@acme.io',
  '4111 1111 1111 1111',
  '(415) 555-0132',
];
const part = fc.oneof(
  fc.constantFrom(...SAMPLES),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(' ', '\n', '"', '\\'),
);
const anyText = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(' '));
const anyValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    anyText,
    fc.constantFrom<Json>(4111111111111111, 7, null, true),
    anyText.map((text) => JSON.stringify({ inner: text, again: JSON.stringify([text]) })),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyText, tie('value'), { maxKeys: 3 }),
  ),
})).value;

test('what was masked is not found again, in texts and in values', () => {
  let found = 0;
  const content = fc.oneof(
    anyText.map((text): Content => ({ kind: 'text', text })),
    anyValue.map((value): Content => ({ kind: 'json', value })),
  );
  fc.assert(
    fc.property(content, fc.boolean(), (before, typed) => {
      const { findings } = detect(before, DETECTION, LIMITS);
      found += findings.length;
      const after = redact(before, findings, typed);
      assert.deepEqual(detect(after, DETECTION, LIMITS).findings, []);
    }),
    { numRuns: 300 },
  );
  assert.ok(found > 200, `${found} findings`);
});

test('JSON inside strings stays JSON, and all else in it stays as it is', () => {
  fc.assert(
    fc.property(anyValue, (inner) => {
      const note = JSON.stringify([inner], null, 1);
      const content: Content = { kind: 'json', value: { note } };
      const { findings } = detect(content, DETECTION, LIMITS);
      const changed = redact(content, findings, false) as unknown as { value: { note: string } };
      assert.doesNotThrow(() => JSON.parse(changed.value.note));
      assert.equal(reduceToShape(changed.value.note), reduceToShape(note));
    }),
    { numRuns: 200 },
  );
});

/**
 * Returns a JSON text without its strings and numbers. The test compares text and not the result of `JSON.parse`,
 * because two masked keys of one object have the same name and a parser keeps only one.
 */
function reduceToShape(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, '_');
}

test('the number of findings does not make masking slow', () => {
  const text = 'x'.repeat(400_000);
  const findings = Array.from({ length: 100_000 }, (_, at) => buildTestFinding(at * 4, at * 4 + 2));
  assert.equal(redactText(text, findings).length, 200_000 + 100_000 * MARKER.length);
});
