import assert from 'node:assert/strict';
import test from 'node:test';
import { buildLayout, getRestoredPath, isLogId } from './layout.ts';

const LOG_ID = '0123456789abcdef0123456789abcdef';
const layout = buildLayout('audit/prod', LOG_ID);

test('only journal files and keys become paths', () => {
  const key = layout.buildFileKey('worker-1', 42);
  assert.equal(key, `audit/prod/${LOG_ID}/journal/worker-1/000000000000042.jsonl.gz`);
  assert.equal(getRestoredPath(layout, key), 'journal/worker-1/000000000000042.jsonl.gz');
  assert.equal(getRestoredPath(layout, `${layout.keys}${LOG_ID}.json`), `keys/${LOG_ID}.json`);
  for (const hostile of [
    `${layout.journal}../000000000000042.jsonl.gz`,
    `${layout.journal}worker-1/../../x.jsonl.gz`,
    `${layout.journal}worker-1/000000000000042.jsonl`,
    `${layout.journal}/etc/000000000000042.jsonl.gz`,
    `${layout.journal}spool/000000000000042.jsonl.gz`,
    `${layout.keys}../current.json`,
    `${layout.keys}current`,
    `${layout.folder}current`,
    `other/${LOG_ID}/journal/worker-1/000000000000042.jsonl.gz`,
  ])
    assert.equal(getRestoredPath(layout, hostile), null, hostile);
});

test('a log folder is named by its key', () => {
  assert.ok(isLogId(LOG_ID));
  for (const other of ['', '..', LOG_ID.toUpperCase(), `${LOG_ID}0`]) assert.ok(!isLogId(other), other);
});
