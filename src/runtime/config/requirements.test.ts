// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../server/load-config.ts';

test('a password that breaks the address of the store is refused, and not repeated', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'requirements-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(join(cwd, 'service.yaml'), 'storage: {url: "postgres://u:${DB}@db:5432/x"}');
  const rows: readonly (readonly [password: string, fits: boolean])[] = [
    ['marker@x#y', false],
    ['marker/x', false],
    ['12/marker', false],
    ['12?marker', false],
    ['marker%', false],
    ['marker%40%23', true],
    ['marker@x', true],
    ['', true],
  ];
  for (const [password, fits] of rows) {
    const read = await loadConfig({ path: null, env: { DB: password }, cwd });
    assert.equal(read.ok, fits, password);
    if (read.ok) continue;
    assert.match(read.problems[0]!.message, /^`storage\.url` is no address .* two hexadecimal digits\.$/);
    assert.ok(!JSON.stringify(read).includes('marker'), password);
  }
  assert.equal(rows.length, 8);
});

test('object storage needs TLS, and files that one request can store', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'requirements-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const rows: readonly (readonly [audit: string, problem: RegExp | null])[] = [
    ['object_storage: {bucket: acme, endpoint: "https://s3.example"}', null],
    ['object_storage: {bucket: acme, endpoint: "http://127.0.0.1:9000"}', null],
    ['object_storage: {bucket: acme, endpoint: "http://s3.example"}', /endpoint` must begin with `https/],
    ['{max_size_mb: 5000, object_storage: {bucket: acme}}', /max_size_mb` must be at most 4096/],
    ['{max_size_mb: 5000}', null],
    ['object_storage: {bucket: "s3://acme"}', /must be the name of a bucket/],
    ['object_storage: {bucket: acme, prefix: /x/}', /must be a path such as/],
    ['object_storage: {}', /bucket` is missing/],
  ];
  for (const [audit, problem] of rows) {
    writeFileSync(join(cwd, 'service.yaml'), `audit: ${audit.startsWith('{') ? audit : `{${audit}}`}`);
    const read = await loadConfig({ path: null, env: {}, cwd });
    if (problem === null) assert.ok(read.ok, audit);
    else assert.match(read.ok ? '' : read.problems[0]!.message, problem, audit);
  }
});

test('a cluster needs a store that its nodes share', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'requirements-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const rows: readonly (readonly [text: string, fits: boolean])[] = [
    ['cluster: {enabled: true}', false],
    ['cluster: {enabled: true}\nstorage: {url: "sqlite:x"}', false],
    ['cluster: {enabled: true}\nstorage: {url: "postgres://db/x"}', true],
    ['cluster: {enabled: false, node_id: a}', true],
  ];
  for (const [text, fits] of rows) {
    writeFileSync(join(cwd, 'service.yaml'), text);
    const read = await loadConfig({ path: null, env: {}, cwd });
    assert.equal(read.ok, fits, text);
    if (!read.ok)
      assert.match(
        read.problems[0]!.message,
        /^`cluster\.enabled` needs a store .* set `storage\.url` to `postgres:/,
      );
  }
});

test('an index in PostgreSQL needs the store there', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'requirements-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const rows: readonly (readonly [storage: string, fits: boolean])[] = [
    ['', false],
    ['storage: {url: "sqlite:x.db"}', false],
    ['storage: {url: "postgres://u@db/x"}', true],
  ];
  for (const [storage, fits] of rows) {
    writeFileSync(join(cwd, 'service.yaml'), `audit: {index: postgres}\n${storage}`);
    const read = await loadConfig({ path: null, env: {}, cwd });
    assert.equal(read.ok, fits, storage);
    if (!read.ok)
      assert.match(read.problems[0]!.message, /^`audit\.index` uses the database of `storage\.url`/);
  }
});
