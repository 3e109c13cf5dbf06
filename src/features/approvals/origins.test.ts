import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeenLabel } from '../../core/types/index.ts';
import { describeOrigins } from './origins.ts';

const NOW_MS = Date.UTC(2026, 0, 31, 12);
const buildEventId = (atMs: number) => `evt_${atMs.toString(16).padStart(11, '0')}0123456789abc`;
const seen = (label: string, eventId: string | null = null): SeenLabel => ({ label, event_id: eventId });

function describe(labels: readonly SeenLabel[], listed?: readonly string[]) {
  const task = { task_id: 'tsk_1', refusal: null, ...(listed !== undefined && { listed_arguments: listed }) };
  const origins = describeOrigins({ argument_labels: { to: labels } }, { task }, NOW_MS);
  return origins?.[0];
}

test('names who has the value', () => {
  assert.equal(describe([seen('untrusted.mail'), seen('user')])?.named_by, 'prompt');
  assert.equal(describe([seen('operator')])?.named_by, 'operator');
  assert.equal(describe([seen('untrusted.mail')], ['to'])?.named_by, 'task');
  assert.equal(describe([seen('untrusted.mail')], ['cc'])?.named_by, null);
  assert.equal(describe([seen('user_source')])?.named_by, null);
});

test('writes age and event in words', () => {
  const at = (secondsAgo: number) =>
    describe([seen('trusted.bank', buildEventId(NOW_MS - secondsAgo * 1_000))])?.sentence ?? '';
  assert.match(at(1), /event evt_\w+, 1 second ago; no prompt and no task names it\.$/);
  assert.match(at(7_200), / 2 hours ago;/);
  assert.match(at(-60), / 0 seconds ago;/);
  const foreign = describe([seen('trusted.bank', 'evt_0123456789abcdef')]);
  assert.deepEqual([foreign?.age_seconds, foreign?.sentence.includes('ago')], [null, false]);
});

test('absent and unseen values have no event', () => {
  assert.match(describe([seen('absent')])?.sentence ?? '', /^`to` is missing;/);
  assert.match(describe([seen('unknown')])?.sentence ?? '', /^`to` comes from nothing that this session/);
  assert.equal(describe([]), undefined);
  assert.equal(describeOrigins({}, {}, NOW_MS), null);
});
