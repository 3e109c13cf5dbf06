import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../../../decision/judge.ts';
import { cutText, runStream, splitUnits } from '../../../stream/testing/pieces.ts';
import { buildTestCrossing, buildTestPolicy, DETECTION_SETTINGS } from '../../../testing/policies.ts';
import { CHECK_NAMES, type CheckName } from '../../../types/index.ts';
import { passesChecks } from './checks.ts';

const CASES: Readonly<
  Record<CheckName, { readonly good: readonly string[]; readonly bad: readonly string[] }>
> = {
  luhn: { good: ['79927398713', '7992 7398-713'], bad: ['79927398714', '', 'abc', '0'] },
  mod97: {
    good: ['DE89 3704 0044 0532 0130 00', 'GB82WEST12345698765432'],
    bad: ['DE88370400440532013000', '', 'DE89'],
  },
  mod11_2: {
    good: ['0000-0002-1825-0097', '0000-0002-1694-233X'],
    bad: ['0000-0002-1825-0098', 'X', '', '12X4'],
  },
  mod11_10: { good: ['86095742719'], bad: ['86095742718', '', '1'] },
  verhoeff: { good: ['2363', '23-63'], bad: ['2364', '', '0'] },
  not_repeated: { good: ['0001'], bad: ['0000', ''] },
  not_placeholder: { good: ['q8Jd02mVx'], bad: ['changeme', 'xxxxxxxx'] },
};

test('each check takes values that have it, and no others', () => {
  let tried = 0;
  for (const name of CHECK_NAMES) {
    for (const value of CASES[name].good) {
      tried += 1;
      assert.ok(passesChecks(value, { checks: [name] }), `${name} takes ${value}`);
    }
    for (const value of CASES[name].bad) {
      tried += 1;
      assert.ok(!passesChecks(value, { checks: [name] }), `${name} refuses ${value}`);
    }
  }
  assert.equal(tried, 32);
});

test('all checks must pass, an unknown one never passes, and no names mean no checks', () => {
  assert.ok(passesChecks('79927398713', { checks: ['luhn', 'not_repeated'], entropy_min: 2 }));
  assert.ok(!passesChecks('00000000000', { checks: ['luhn', 'not_repeated'] }));
  assert.ok(!passesChecks('79927398713', { checks: ['luhn'], entropy_min: 7 }));
  assert.ok(!passesChecks('79927398713', { checks: ['constructor' as CheckName] }));
  assert.ok(passesChecks('', {}));
});

const CHECKED = buildTestPolicy({
  rules: [{ name: 'mask', boundary: 'input', data_tags: ['internal'], action: 'redact' }],
  settings: {
    detection: {
      ...DETECTION_SETTINGS.detection,
      patterns: [
        {
          id: 'acme.account',
          pattern: 'ACC-(?P<value>[0-9]{5,12})',
          checks: ['luhn'],
          tags: ['internal.account'],
          severity: 'medium',
          description: 'Account numbers.',
          examples: { hits: ['ACC-«79927398713»'], misses: ['ACC-79927398714'] },
        },
      ],
    },
  },
});

test('a pattern finds what passes its check, whole and in pieces cut anywhere', () => {
  const text = 'of ACC-79927398713, ACC-79927398714, and ACC-18';
  const masked = 'of ACC-[REDACTED], ACC-79927398714, and ACC-18';
  const { content } = judge({ ...buildTestCrossing(), content: { kind: 'text', text } }, CHECKED);
  assert.deepEqual(content, { kind: 'text', text: masked });
  assert.equal(runStream(splitUnits(text), CHECKED).text, masked);
  let cuts = 0;
  for (let at = 0; at <= text.length; at++, cuts++)
    assert.equal(runStream(cutText(text, [at]), CHECKED).text, masked);
  assert.equal(cuts, text.length + 1);
});
