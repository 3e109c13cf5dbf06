import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeBase64 } from '../../text/base64.ts';
import { isLuhn, isMod97 } from './checksums.ts';
import { computeCrc32, encodeBase62 } from './crc32.ts';
import { measureEntropy } from './entropy.ts';
import { isCodeName, isDocumentedExample, isPlaceholder, isUnmasked, isWordLike } from './placeholders.ts';
import { sampleBody } from './sample-text.ts';
import { countUtf8Bytes, truncateUtf8 } from './text-size.ts';

test('Luhn and mod 97 tell right numbers from wrong ones', () => {
  for (const right of ['4111111111111111', '378282246310005', '79927398713']) assert.ok(isLuhn(right), right);
  for (const wrong of ['4111111111111112', '378282246310006', '0', '']) assert.ok(!isLuhn(wrong), wrong);
  for (const right of ['DE89370400440532013000', 'GB29NWBK60161331926819', 'NO9386011117947'])
    assert.ok(isMod97(right));
  for (const wrong of ['DE88370400440532013000', 'GB29NWBK60161331926818']) assert.ok(!isMod97(wrong));
});

test('entropy is that of the characters', () => {
  assert.equal(measureEntropy(''), 0);
  assert.equal(measureEntropy('aaaa'), 0);
  assert.equal(measureEntropy('abcd'), 2);
});

test('placeholders are known, values are not taken for them', () => {
  const placeholders = [
    ...[
      'changeme',
      'CHANGE_ME',
      '<your-key>',
      `\${VAR}`,
      '$VAR',
      '{{ secret }}',
      'process.env.API_KEY',
      'xxxxxxxx',
    ],
    ...[
      '********',
      'password',
      'password123',
      'your-api-key-here',
      'getSecret()',
      '[REDACTED]',
      '__API_KEY__',
      '...',
    ],
  ];
  const values = ['hunter2', 'p4ssw0rd', 'correct-horse', 's3cr3tValue!', 'Tr0ub4dor', 'kJ8s-d92k-aa71'];
  for (const value of placeholders) assert.ok(isPlaceholder(value), value);
  for (const value of values) assert.ok(!isPlaceholder(value), value);
  assert.equal(placeholders.length + values.length, 22);
  assert.ok(!isUnmasked(`ghp_${'x'.repeat(36)}`));
  assert.ok(isUnmasked(`ghp_${sampleBody(36)}`));
});

test('base64 in both alphabets decodes to bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = String.fromCharCode(...bytes);
      assert.equal(decodeBase64(Buffer.from(bytes).toString('base64')), text);
      assert.equal(decodeBase64(Buffer.from(bytes).toString('base64url')), text);
    }),
  );
  for (const wrong of ['a', 'ab*d', 'é', 'abcde']) assert.equal(decodeBase64(wrong), null, wrong);
});

test('sizes are those of the encoded text, and a head is whole characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), fc.nat(60), (text, bytes) => {
      assert.equal(countUtf8Bytes(text), Buffer.byteLength(text));
      const head = truncateUtf8(text, bytes);
      assert.ok(text.startsWith(head) && Buffer.byteLength(head) <= bytes);
      const longer = text.slice(0, head.length + (text.codePointAt(head.length)! > 0xffff ? 2 : 1));
      assert.ok(head === text || Buffer.byteLength(longer) > bytes);
    }),
  );
  assert.equal(countUtf8Bytes('\ud800x'), 4);
});

test('the CRC-32 is that of the standard, and base 62 has the digits first', () => {
  assert.equal(computeCrc32('123456789'), 0xcbf43926);
  assert.equal(computeCrc32(''), 0);
  assert.deepEqual(
    [encodeBase62(0, 6), encodeBase62(61, 2), encodeBase62(62, 1), encodeBase62(0xffffffff, 6)],
    ['000000', '0z', '10', '4gfFC3'],
  );
});

test('documented example keys are known with and without their prefix', () => {
  const jwt = `e30.e30.${'SflKxwRJSMeKKF2QT4fw'}pMeJf36POk6yJV_adQssw5c`;
  const documented = [`${'AKIA'}IOSFODNN7EXAMPLE`, `${'sk_test'}_4eC39HqLyjWD${'arjtT1zdp7dc'}`, jwt];
  for (const value of documented) assert.ok(isDocumentedExample(value), value);
  for (const value of ['sk-ABCDEF1234567890', sampleBody(40), ''])
    assert.ok(!isDocumentedExample(value), value);
});

test('names in code and natural words are distinguished from random text', () => {
  for (const name of [
    'cryptography.x509.Certificate',
    '_Ed25519PrivateKey',
    'chain_Anvil2_Key',
    'base64.b32encode',
  ])
    assert.ok(isCodeName(name), name);
  for (const name of ['cmp2-qat-1208358310', 'SalesResults-1.2', '/etc/app/key', '2026-01-31T10'])
    assert.ok(isWordLike(name), name);
  let random = 0;
  for (let length = 16; length < 64; length++) {
    assert.ok(!isCodeName(sampleBody(length)) && !isWordLike(sampleBody(length)), sampleBody(length));
    random += 1;
  }
  assert.equal(random, 48);
});
