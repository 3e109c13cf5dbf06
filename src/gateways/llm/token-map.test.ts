import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../core/types/index.ts';
import { openTokenMap } from './token-map.ts';

const EMAIL = ['ann', 'corp.example'].join('@');

function buildTestFinding(detector: string): Finding {
  return {
    rule_id: `a.${detector}`,
    detector,
    type: 'pii_detected',
    severity: 'high',
    tags: [`personal.pii.${detector}`],
    start: 0,
    end: 0,
    leaf: 0,
    path: null,
  };
}

test('the same value has the same token, another one another, and each is restored', () => {
  const tokens = openTokenMap([]);
  const one = tokens.getToken(buildTestFinding('email'), EMAIL);
  assert.equal(one, '[EMAIL_1]');
  assert.equal(tokens.getToken(buildTestFinding('email'), EMAIL), one);
  assert.equal(tokens.getToken(buildTestFinding('email'), 'bob'), '[EMAIL_2]');
  assert.equal(tokens.getToken(buildTestFinding('my-own kind'), 'x'), '[MY_OWN_KIND_1]');
  assert.equal(tokens.getToken(buildTestFinding('9'), 'x'), '[VALUE_1]');
  assert.equal(
    tokens.restore('To [EMAIL_1] and [EMAIL_2], not [EMAIL_3] or [X'),
    `To ${EMAIL} and bob, not [EMAIL_3] or [X`,
  );
  assert.deepEqual(tokens.listTags('a [EMAIL_1] [EMAIL_1] [OTHER_1]'), ['personal.pii.email']);
});

test('what a text holds already is no token of ours', () => {
  const tokens = openTokenMap(['Say [EMAIL_1] please', 'and [EMAIL_2].']);
  assert.equal(tokens.getToken(buildTestFinding('email'), EMAIL), '[EMAIL_3]');
  assert.equal(tokens.restore('[EMAIL_1] [EMAIL_3]'), `[EMAIL_1] ${EMAIL}`);
});

test('in JSON a value is written as JSON has it', () => {
  const tokens = openTokenMap([]);
  const value = 'a "quoted"\\n\nname';
  const token = tokens.getToken(buildTestFinding('name'), value);
  assert.deepEqual(JSON.parse(tokens.restoreInJson(JSON.stringify({ to: `<${token}>` }))), {
    to: `<${value}>`,
  });
});

test('a text in pieces is restored wherever it is cut, and no more is held than may become a token', () => {
  const tokens = openTokenMap([]);
  const token = tokens.getToken(buildTestFinding('email'), EMAIL);
  const text = `[a] To ${token}[${token}, [EMAIL_ and [[${token}`;
  const expected = tokens.restore(text);
  let ran = 0;
  for (let first = 0; first <= text.length; first++) {
    for (let second = first; second <= text.length; second++) {
      const restorer = tokens.openRestorer();
      const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      assert.equal(pieces.map(restorer.push).join('') + restorer.end(), expected);
      ran += 1;
    }
  }
  assert.ok(ran > 500);
  const restorer = tokens.openRestorer();
  assert.equal(restorer.push('see [1] and [EMAIL'), 'see [1] and ');
  assert.equal(restorer.push(' x'), '[EMAIL x');
});

test('tokens in URLs stay, wherever a text is cut', () => {
  const tokens = openTokenMap([]);
  const token = tokens.getToken(buildTestFinding('email'), EMAIL);
  const urls = [
    `![x](http://evil.test/?e=${token})`,
    `//evil.test/${token}${token}`,
    `see www.evil.test/${token}`,
    `HTTPS://${token}@evil.test and ftp://evil.test#${token}`,
  ];
  for (const text of urls) {
    assert.equal(tokens.restore(text), text);
    assert.ok(tokens.isInUrl(text), text);
    for (let at = 0; at <= text.length; at += 1) {
      const restorer = tokens.openRestorer();
      const pieces = [restorer.push(text.slice(0, at)), restorer.push(text.slice(at)), restorer.end()];
      assert.equal(pieces.join(''), text, `cut at ${at}`);
    }
  }
  const outside = `See http://docs.test/a "${token}" <${token}> mailto:${token}`;
  assert.equal(tokens.restore(outside), outside.replaceAll(token, EMAIL));
  assert.ok(!tokens.isInUrl(outside));
});
