import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { covers, isFactTag, isTag, matchesName, normalizeTag } from './tags.ts';

test('a tag covers itself and its dotted descendants', () => {
  const cases: [string, string, boolean][] = [
    ['personal', 'personal', true],
    ['personal', 'personal.pii', true],
    ['personal.pii', 'personal.pii.email', true],
    ['personal.pii', 'personal', false],
    ['personal', 'personality', false],
    ['personal', 'impersonal', false],
    ['personal.pi', 'personal.pii', false],
  ];
  for (const [ancestor, tag, expected] of cases)
    assert.equal(covers(ancestor, tag), expected, `${ancestor} ${tag}`);
  assert.equal(cases.length, 7);
});

test('names fit exactly or by wildcards', () => {
  const cases: [string, string, boolean][] = [
    ['read', 'read', true],
    ['read', 'Read', false],
    ['read', 'reader', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['read_*', 'read_', true],
    ['read_*', 'pread_x', false],
    ['*_file', 'read_file', true],
    ['*_file', 'read_files', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*ab*ab*', 'abab', true],
    ['*ab*ab*', 'aba', false],
    ['a**b', 'ab', true],
    ['a.c', 'abc', false],
  ];
  for (const [pattern, name, expected] of cases)
    assert.equal(matchesName(pattern, name), expected, `${pattern} ${name}`);
  assert.equal(cases.length, 17);
});

test('a pattern made of a name by putting stars in fits it', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 8 }), { minLength: 1, maxLength: 5 }), (parts) => {
      const plain = parts.map((part) => part.replaceAll('*', ''));
      assert.ok(matchesName(plain.join('*'), plain.join('')));
      assert.ok(matchesName(plain.join('*'), plain.join('filling')));
    }),
  );
});

test('declared tags are lower case, and what is no tag is one that nothing allows', () => {
  assert.equal(normalizeTag('Personal.PII'), 'personal.pii');
  for (const wrong of ['', '.a', 'a..b', '1a', 'a b', 'a/b', `a${'b'.repeat(200)}`, null, 7]) {
    assert.equal(normalizeTag(wrong), 'malformed');
  }
  assert.ok(isTag('a.b-c_d.1'));
  assert.ok(isFactTag('egress.http') && !isFactTag('egression'));
});
