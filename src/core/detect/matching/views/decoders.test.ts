import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { DETECTION, POLICY_SETTINGS } from '../../../testing/policies.ts';
import { detect } from '../../detect.ts';
import { sampleBody } from '../sample-text.ts';
import { findBlobs } from './blobs.ts';
import { inflate } from './inflate.ts';

function findRuleIds(text: string): readonly string[] {
  const { findings, coverage } = detect({ kind: 'text', text }, DETECTION, POLICY_SETTINGS.limits);
  assert.equal(coverage.status, 'full');
  return findings.map(({ rule_id }) => rule_id);
}

const rotate = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const first = letter < 'a' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
const reverse = (text: string): string => [...text].reverse().join('');

test('compressed data is decompressed as zlib does it', () => {
  let runs = 0;
  const part = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.constantFrom('abcabcabc', 'x'.repeat(300), '\0\u00ff'),
  );
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 30 }),
      fc.constantFrom(0, 1, 6, 9),
      (parts, level) => {
        const content = Buffer.from(`a${parts.join('')}`);
        for (const packed of [gzipSync(content, { level }), deflateSync(content, { level })])
          assert.deepEqual(Buffer.from(inflate([...packed], 1 << 20)!), content);
        runs += 1;
      },
    ),
    { numRuns: 100 },
  );
  assert.ok(runs >= 100);
});

test('the expansion is bounded, and data that is broken or ends early does no harm', () => {
  const bomb = gzipSync(Buffer.alloc(1 << 22, 97), { level: 9 });
  assert.ok(bomb.length < 10_000);
  assert.equal(inflate([...bomb], 1 << 15)!.length, 1 << 15);
  const packed = [...gzipSync('The quick brown fox jumps over the lazy dog')];
  for (let length = 0; length < packed.length; length++) inflate(packed.slice(0, length), 1 << 15);
  for (let at = 0; at < packed.length; at++) inflate(packed.with(at, packed[at]! ^ 0x55), 1 << 15);
  assert.equal(inflate([...deflateRawSync('no header at all')], 1 << 15), null);
  assert.equal(inflate([], 1 << 15), null);
});

/** Tokens whose prefix is known in reverse and with exchanged letters. */
const TOKENS: readonly (readonly [rule: string, token: string])[] = [
  ['github.token', `${'ghp'}_${sampleBody(36)}`],
  ['gitlab.token', `${'glpat'}-${sampleBody(20)}`],
  ['stripe.secret_key', `${'sk'}_live_${sampleBody(24)}`],
  ['npm.token', `${'npm'}_${sampleBody(36)}`],
  ['huggingface.token', `${'hf'}_${sampleBody(34)}`],
];

test('tokens of known vendors are found in reverse and with exchanged letters', () => {
  for (const [rule, token] of TOKENS) {
    for (const written of [reverse(token), rotate(token)]) {
      assert.ok(findRuleIds(`see ${written} .`).includes(rule), `${rule} ${written}`);
      assert.ok(findRuleIds(written).includes(rule), `${rule} ${written} alone`);
    }
  }
});

/** Text with the signs of an encoding that decodes to nothing. */
const ORDINARY: readonly string[] = [
  'int primes[] = {101, 103, 107, 109, 113, 127, 37, 41, 43, 47, 53, 59, 61, 67, 71};',
  'ages: 34, 45, 56, 67, 78, 89, 90, 34, 45, 56, 67, 78',
  'SHA1 2a:3b:4c:5d:6e:7f:20:31:42:53:64:75:66:77',
  '20 30 40 50 60 70 20 30 40 50 60 70',
  '01000001 01000010 01000011 01000100 01000101 01000110 01000111 01001000 01001001 01001010',
  'CONFIGURATIONDIRECTORY MAINTENANCEWINDOWS ABCDEFGHIJKLMNOP',
  '<~ see above ~> and a <~!!!!!~> b',
  'https://a.test/?a=41&b=42&c=43',
  'H4sIAAAAAAAA eJwtruncated 4oCL',
  'my_phg is a name, and so is on_fh or the_yek',
  'tuc_nam furthermore cebqhpg',
  'dates 2024-01-02-03-04-05 and 1.2.3.4.5.6.7.8.9 and a-b-c-d',
  '12345678AB 1234DE 00112233445566AT',
];

test('ordinary text has nothing in any of these readings', () => {
  for (const text of ORDINARY) assert.deepEqual(findRuleIds(text), [], text);
  assert.equal(ORDINARY.length, 13);
});

/** Texts in which every place may begin an encoding. */
const DENSE: readonly string[] = [
  '67 68 70 ',
  '0x67, ',
  '103, 104, 105, 300, ',
  '0110011101101000',
  '=67=68=70',
  'M5UHAXZS',
  '<~B4u6k1/*',
  'H4sIAAAAAAAAA/',
  'eJwr/',
  'a_phg.',
  'tuc_a1.',
  'AAAA12BB-',
  'DE12',
  `${'ghp'}_abc12\n`,
  'a-b-c-d-e-f-',
  'ZwBoAHAAXwA/',
];

/** Returns the processor time of this process alone, in milliseconds, the least of three runs. */
function measureTime(dense: string, units: number): number {
  const text = dense.repeat(Math.ceil(units / dense.length));
  const starts = Array.from({ length: Math.floor(text.length / dense.length) }, (_, at) => at * dense.length);
  const times = [1, 2, 3].map(() => {
    const from = process.cpuUsage();
    findBlobs(text, starts);
    detect({ kind: 'text', text }, DETECTION, POLICY_SETTINGS.limits);
    const { user, system } = process.cpuUsage(from);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

test('the work stays linear in the text', () => {
  for (const dense of DENSE) {
    // A floor, because the clock of the processor is coarse. Quadratic work would take 64 times as long.
    const short = Math.max(10, measureTime(dense, 1 << 12));
    assert.ok(
      measureTime(dense, 1 << 15) < 40 * short,
      `${dense}: eight times the text takes over 40 times as long`,
    );
  }
  assert.equal(DENSE.length, 16);
});
