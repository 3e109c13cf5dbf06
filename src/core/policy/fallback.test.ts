import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FALLBACK_PLACEHOLDERS, listUnknownPlaceholders, renderFallback } from './fallback.ts';

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
  const template = FALLBACK_PLACEHOLDERS.map((name) => `{${name}}`).join('|');
  const text = 'It says {redacted}.|no-keys|no-keys|block|$& {rule}|a, b.c|2|[REDACTED]';
  assert.equal(renderFallback(template, VALUES), text);
  assert.equal(
    renderFallback('{redacted}', { ...VALUES, redacted: { kind: 'text', text: 'x [REDACTED]' } }),
    'x [REDACTED]',
  );
});

test('a placeholder that does not exist is named', () => {
  assert.deepEqual(listUnknownPlaceholders('{reason} {original} {x y} {} {{rule}} {nope}'), [
    'original',
    'nope',
  ]);
  assert.deepEqual(listUnknownPlaceholders('plain { text }'), []);
});
