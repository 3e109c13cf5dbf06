import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countUtf8Bytes, truncateUtf8 } from './text-size.ts';

const TEXTS = [
  ...['', 'a', '\x7f', '\x80', '\u07ff', '\u0800', '\uffff', '\u{10000}', '\u{10ffff}', 'plain text'],
  ...[
    'é',
    'aé',
    'éa',
    'a\u{1f600}b',
    '\ud800',
    'a\ud800b',
    '\udc00\ud800',
    '\ud800\ud800\udc00',
    'x'.repeat(999),
  ],
];

test('a text is as large as its UTF-8 bytes, wherever what is not ASCII begins', () => {
  const encoder = new TextEncoder();
  for (const text of TEXTS) {
    for (const before of ['', 'plain ', 'ü']) {
      const whole = before + text;
      assert.equal(countUtf8Bytes(whole), encoder.encode(whole).length, JSON.stringify(whole));
    }
  }
  assert.equal(TEXTS.length, 19);
});

test('the head of a text has at most so many bytes, and no half of a pair', () => {
  for (const text of TEXTS) {
    for (let bytes = 0; bytes < 8; bytes++) {
      const head = truncateUtf8(text, bytes);
      assert.ok(text.startsWith(head) && countUtf8Bytes(head) <= bytes);
      assert.ok(!/[\ud800-\udbff]$/.test(head) || !/^[\udc00-\udfff]/.test(text.slice(head.length)));
    }
  }
});
