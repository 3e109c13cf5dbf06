import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DETECTION, POLICY_SETTINGS } from '../../testing/policies.ts';
import { detect } from '../detect.ts';
import { sampleBody } from './sample-text.ts';

function findRuleIds(text: string): readonly string[] {
  const { findings } = detect({ kind: 'text', text }, DETECTION, POLICY_SETTINGS.limits);
  return findings.map(({ rule_id }) => rule_id);
}

const TOKENS: readonly (readonly [rule: string, token: string])[] = [
  ['github.token', `${'ghp'}_${sampleBody(36)}`],
  ['gitlab.token', `${'glpat'}-${sampleBody(20)}`],
  ['stripe.secret_key', `${'sk'}_live_${sampleBody(24)}`],
  ['npm.token', `${'npm'}_${sampleBody(36)}`],
  ['iban.number', ['DE8937040044', '0532013000'].join('')],
];

/** Ways in which a token is written in two parts. */
const SPLITS: readonly ((a: string, b: string) => string)[] = [
  (a, b) => `${a}\n${b}`,
  (a, b) => `${a}\r\n    ${b}`,
  (a, b) => `${a}\\n${b}`,
  (a, b) => `"${a}\\r\\n    ${b}"`,
  (a, b) => `+${a}\n+${b}`,
  (a, b) => `> ${a}\n> ${b}`,
  (a, b) => `["${a}","${b}"]`,
  (a, b) => `"".join(["${a}", "${b}"])`,
  (a, b) => `{"first":"${a}","second":"${b}"}`,
  (a, b) => `A='${a}'; B='${b}'; echo "$A$B"`,
  (a, b) => `const a = "${a}";\nconst b = "${b}";`,
  (a, b) => `${a}<b></b>${b}`,
  (a, b) => `${a}<!-- -->${b}`,
  (a, b) => `**${a}**${b}`,
];

test('a token that proves itself is found in two parts, with its own rule', () => {
  let found = 0;
  for (const [rule, token] of TOKENS)
    for (const split of SPLITS) {
      const half = (token.length >> 1) + 1;
      const text = `see ${split(token.slice(0, half), token.slice(half))} .`;
      assert.ok(findRuleIds(text).includes(rule), JSON.stringify([rule, text]));
      found += 1;
    }
  assert.equal(found, TOKENS.length * SPLITS.length);
});

test('the finding reaches from the first part to the last', () => {
  const [, token] = TOKENS[0]!;
  const text = `x ${token.slice(0, 20)}\n${token.slice(20)} y`;
  const { findings } = detect({ kind: 'text', text }, DETECTION, POLICY_SETTINGS.limits);
  assert.deepEqual(
    findings.map(({ start, end }) => text.slice(start, end)),
    [`${token.slice(0, 20)}\n${token.slice(20)}`],
  );
});

/** Beginnings of tokens that nothing continues. */
const ORDINARY: readonly string[] = [
  // A line of a certificate.
  `${sampleBody(64)}\n${'AQE'}A${sampleBody(60)}\n${sampleBody(64)}\n${sampleBody(64)}`,
  `${sampleBody(64)}\\n${'AQE'}A${sampleBody(60)}\\n${sampleBody(64)}\\n${sampleBody(64)}`,
  'prefixes = ["ghp_", "gho_", "github_pat_"]',
  'Tokens begin with ghp_abc12\nand are 40 characters long.',
  `["${'ghp'}_${sampleBody(12)}", "${sampleBody(12)}"]`,
  'DE89370400\n4405320130\n',
  'AT12 34567890\nBE12 34567890\n',
  `${'sk'}_live_\nabcdefghijkl1234567890abcd`,
  `**${'glpat'}-**${'x'.repeat(20)}`,
];

test('parts that form no token together are not joined', () => {
  for (const text of ORDINARY) assert.deepEqual(findRuleIds(text), [], text);
});
