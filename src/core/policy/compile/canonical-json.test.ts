import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../types/index.ts';
import { canonicalizeJson, hashJson } from './canonical-json.ts';
import { hashTextPortably } from './portable-hash.ts';

const own = (value: Json) => hashJson(value, hashTextPortably);

test('the canonical text is that of RFC 8785', () => {
  // The example in section 3.2.2 of the RFC.
  const value = {
    numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"\u002f',
    literals: [null, true, false],
  };
  assert.equal(
    canonicalizeJson(value),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  // Section 3.2.3: names are sorted by UTF-16 units.
  const names = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
  assert.equal(
    [...canonicalizeJson(names).matchAll(/":(\d)/g)].map(([, value]) => value).join(),
    '2,4,6,7,1,5,3',
  );
});

test('the hash is that of the UTF-8 bytes, and does not depend on the order of members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const expected = createHash('sha256')
        .update(canonicalizeJson(value as Json), 'utf8')
        .digest('hex');
      assert.equal(own(value as Json), `sha256:${expected}`);
    }),
  );
  assert.equal(own({ a: 1, b: [2] }), own({ b: [2], a: 1 }));
  assert.notEqual(own({ a: 1 }), own({ a: 2 }));
});
