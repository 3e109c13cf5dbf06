import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { decryptValue, deriveMasterKey, encryptValue } from './encryption.ts';

const KEY = deriveMasterKey('k'.repeat(43));
const OWNER = { tenant_id: 'default', agent_id: 'support-bot' };
const BOUND = ['hdl_0', 'session', 'sess-1', 7];

test('every text comes out as it went in, and no two encryptions are the same', () => {
  let ran = 0;
  const property = fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
    const sealed = encryptValue(text, OWNER, BOUND, KEY);
    assert.equal(decryptValue(sealed, OWNER, BOUND, KEY), text);
    assert.notDeepEqual(encryptValue(text, OWNER, BOUND, KEY), sealed);
    assert.ok(text.length < 4 || !sealed.includes(text));
    ran++;
  });
  fc.assert(property, { numRuns: 300 });
  assert.equal(ran, 300);
});

test('nothing opens with any bit of it flipped', () => {
  const sealed = encryptValue('a value', OWNER, BOUND, KEY);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const flipped = Buffer.from(sealed);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(decryptValue(flipped, OWNER, BOUND, KEY), null, `bit ${bit}`);
  }
  assert.equal(sealed.length, 12 + 'a value'.length + 16);
  for (let length = 0; length < sealed.length; length++)
    assert.equal(decryptValue(sealed.subarray(0, length), OWNER, BOUND, KEY), null);
  assert.equal(decryptValue(sealed, OWNER, BOUND, KEY), 'a value');
});

test('a value opens for its owner, in its place, under its key, and nowhere else', () => {
  const sealed = encryptValue('a value', OWNER, BOUND, KEY);
  const otherKey = deriveMasterKey('K'.repeat(43));
  const attempts: readonly (string | null)[] = [
    decryptValue(sealed, { ...OWNER, agent_id: 'other-bot' }, BOUND, KEY),
    decryptValue(sealed, { ...OWNER, tenant_id: 'acme' }, BOUND, KEY),
    decryptValue(sealed, { tenant_id: 'default","support', agent_id: '-bot' }, BOUND, KEY),
    decryptValue(sealed, OWNER, BOUND.with(0, 'hdl_1'), KEY),
    decryptValue(sealed, OWNER, BOUND.with(3, '7'), KEY),
    decryptValue(sealed, OWNER, BOUND.slice(1), KEY),
    decryptValue(sealed, OWNER, [BOUND], KEY),
    decryptValue(sealed, OWNER, BOUND, otherKey),
    decryptValue(sealed, OWNER, BOUND, { ...otherKey, key_id: KEY.key_id }),
    decryptValue(sealed, OWNER, BOUND, { ...KEY, key_id: otherKey.key_id }),
    decryptValue(randomBytes(60), OWNER, BOUND, KEY),
  ];
  assert.deepEqual(attempts, Array(11).fill(null));
  assert.equal(decryptValue(sealed, OWNER, BOUND, deriveMasterKey('k'.repeat(43))), 'a value');
});

test('the id of a key is the same every time, another for every key, and no part of it', () => {
  const texts = Array.from({ length: 100 }, () => randomBytes(32).toString('base64url'));
  const ids = texts.map((text) => deriveMasterKey(text).key_id);
  assert.deepEqual(
    ids,
    texts.map((text) => deriveMasterKey(text).key_id),
  );
  assert.equal(new Set(ids).size, 100);
  for (const id of ids) assert.match(id, /^mk_[0-9a-f]{16}$/);
});

test('names of any length have keys of their own', () => {
  const long = { tenant_id: 't'.repeat(256), agent_id: '\u{1f600}'.repeat(256) };
  const sealed = encryptValue('a value', long, BOUND, KEY);
  assert.equal(decryptValue(sealed, long, BOUND, KEY), 'a value');
  assert.equal(decryptValue(sealed, { ...long, agent_id: '\u{1f600}'.repeat(255) }, BOUND, KEY), null);
});
