import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fallbackText, PLACEHOLDERS, unknownPlaceholders } from './fallback.ts';

const VALUES = {
  reason: 'It says {redacted}.',
  rule: 'no-keys',
  action: 'block',
  agent_id: '$& {rule}',
  data_tags: ['a', 'b.c'],
  detections: 2,
  redacted: null,
} as const;

test('every placeholder is filled in, once', () => {
  const template = PLACEHOLDERS.map((name) => `{${name}}`).join('|');
  const text = 'It says {redacted}.|no-keys|no-keys|block|$& {rule}|a, b.c|2|[REDACTED]';
  assert.equal(fallbackText(template, VALUES), text);
  assert.equal(
    fallbackText('{redacted}', { ...VALUES, redacted: { kind: 'text', text: 'x [REDACTED]' } }),
    'x [REDACTED]',
  );
});

test('a placeholder that does not exist is named', () => {
  assert.deepEqual(unknownPlaceholders('{reason} {original} {x y} {} {{rule}} {nope}'), ['original', 'nope']);
  assert.deepEqual(unknownPlaceholders('plain { text }'), []);
});
