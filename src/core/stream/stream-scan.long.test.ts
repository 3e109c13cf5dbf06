import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkMeter } from '../detect/matching/compiled-detector.ts';
import { DETECTION } from '../testing/policies.ts';
import { findReleasableEnd, releaseText, scanPiece, startStreamScan } from './stream-scan.ts';

/** Returns the work of scanning a text in pieces of `units` units. */
function getWork(text: string, units: number): number {
  const meter: WorkMeter = { work: 0, allowed: Number.POSITIVE_INFINITY };
  const look = startStreamScan(DETECTION, () => true, meter);
  for (let at = 0; at < text.length; at += units) {
    scanPiece(look, text.slice(at, at + units), false);
    releaseText(look, findReleasableEnd(look));
  }
  scanPiece(look, '', true);
  return meter.work;
}

const PROSE =
  'Don\u2019t ask \u201cwhy\u201d: the token for the build is in the vault, and my number is 12-34. ';
const CODE = 'const url = `https://a.test/?q=` + encodeURIComponent("a b") + "x%20y\\u0041"; // `rm -rf x`\n';
const BLOB = `${Buffer.from('The review of our plan went well. '.repeat(9)).toString('base64')}\n`;
const APART = 'a b c d e f g h i j ';
const PIECES: readonly (readonly [what: string, piece: string])[] = [
  ['prose', PROSE],
  ['code', CODE],
  ['blobs', BLOB],
  ['letters apart', APART],
  ['openings', '-----BEGIN PRIVATE KEY-----'],
  ['addresses', 'a.b@c.'],
  ['escapes', '%41&#65;\\x41'],
  ['commands', 'echo "rm -rf `'],
  ['names', 'token '],
];

/**
 * The maximum work per unit, for a finding or an escape in every line, each of which makes the scan read the text
 * around it again.
 */
const WORK_MAX = 120;

test('the work grows with the text, and is the same in large pieces and in single units', () => {
  for (const [what, piece] of PIECES) {
    const [half, text] = [10_000, 20_000].map((units) => piece.repeat(units).slice(0, units)) as [
      string,
      string,
    ];
    for (const units of [1, text.length]) {
      const work = getWork(text, units);
      assert.ok(
        work < 2.5 * getWork(half, Math.min(units, half.length)) + 20_000,
        `${what} by ${units}: ${work}`,
      );
      assert.ok(work < WORK_MAX * text.length, `${what} by ${units}: ${work}`);
    }
    assert.ok(getWork(text, 1) < 3 * getWork(text, text.length), what);
  }
  assert.equal(PIECES.length, 9);
});
