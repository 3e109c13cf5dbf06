import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileParts } from '../../testing/policies.ts';

const listProblems = (contract: object, ...others: readonly object[]) =>
  compileParts({ documents: [{ contracts: [{ tool_name: 'send', ...contract }, ...others] }] }).problems.map(
    ({ message }) => message,
  );

test('names the nearest label, path and argument', () => {
  const schema = { type: 'object', properties: { recipient: { type: 'string' } } };
  const rows: readonly (readonly [object, RegExp])[] = [
    [
      { emits: { origin: 'trustd.bank' } },
      /emits\.origin` must be a label of a result.*did you mean `trusted`/,
    ],
    [{ emits: { origin: 'user' } }, /emits\.origin` must be a label of a result/],
    [{ emits: { labels: { id: 'own' } } }, /must be `\{own: generated\}`/],
    [{ emits: { labels: { 'a..b': 'trusted.x' } } }, /is not a path/],
    [{ emits: { labels: { '@keys.a': 'trusted.x' } } }, /is not a path/],
    [{ emits: { fields: ['items.id'], labels: { 'item[].id': 'trusted.x' } } }, /did you mean `items`/],
    [{ writes: 'untrusted.x' }, /writes` must be a trusted label/],
    [{ flow: { others: { any_of: ['usr'] } } }, /any_of\[0\]` is no label.*did you mean `user`/],
    [
      { arguments: schema, flow: { arguments: { recipent: { any_of: ['user'] } } } },
      /did you mean `recipient`/,
    ],
    [{ flow: { arguments: { to: { any_of: [] } } } }, /any_of/],
    [{ flow: { arguments: { to: { any_of: ['user'], otherwise: 'ask' } } } }, /require_approval/],
  ];
  for (const [contract, expected] of rows) {
    const problems = listProblems(contract);
    assert.ok(
      problems.some((message) => expected.test(message)),
      `${expected}: ${problems.join(' | ')}`,
    );
  }
});

test('refuses a trusted label that no contract gives', () => {
  const sink = { flow: { arguments: { to: { any_of: ['trusted.contcts'] } } } };
  const source = { tool_name: 'list', emits: { origin: 'trusted.contacts' } };
  assert.match(listProblems(sink, source).join(), /did you mean `trusted.contacts`/);
  const right = { flow: { arguments: { to: { any_of: ['trusted.contacts', 'trusted.*'] } } } };
  assert.deepEqual(listProblems(right, source), []);
});

test('leaves other contracts as they are', () => {
  const { policy } = compileParts({ documents: [{ contract: { tool_name: 'send' } }] });
  const [contract] = policy!.contracts;
  assert.deepEqual(
    ['flow', 'writes', 'origin', 'labels'].filter((name) => name in contract! || name in contract!.emits),
    [],
  );
});
