import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JudgedFinding } from '../types/index.ts';
import { parseFoundTags, summarizeFindings } from './found-tags.ts';

test('found tags are read as they were written', () => {
  const one = { tags: ['personal.pii.card', 'personal.financial.card'], detected_severity: 'high' };
  const findings = [
    one,
    { tags: ['secret.credential'], detected_severity: 'critical', example: true },
    { tags: ['content.toxic'], detected_severity: 'low', source: 'classifier' },
    { tags: ['content.toxic'], detected_severity: 'low', source: 'classifier', is_whole: true },
    one,
  ] as unknown as readonly JudgedFinding[];
  assert.deepEqual(parseFoundTags(summarizeFindings(findings)), [
    { tags: one.tags, severity: 'high', marks: {}, count: 2 },
    { tags: ['secret.credential'], severity: 'critical', marks: { example: true }, count: 1 },
    { tags: ['content.toxic'], severity: 'low', marks: { source: 'classifier' }, count: 1 },
    { tags: ['content.toxic'], severity: 'low', marks: { source: 'classifier', is_whole: true }, count: 1 },
  ]);
});

test('entries of another form are not read', () => {
  const entries = [
    '',
    'a',
    'a high',
    'a high 0',
    'a worst 1',
    'a high some 1',
    'a high 1 ',
    ' a high 1',
    7,
    null,
  ];
  assert.deepEqual(parseFoundTags([...entries, 'a high 1']), [
    ...entries.map(() => null),
    { tags: ['a'], severity: 'high', marks: {}, count: 1 },
  ]);
  for (const other of [undefined, null, 'a high 1', {}]) assert.deepEqual(parseFoundTags(other), []);
});
