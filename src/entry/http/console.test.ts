/** The console is served with a strict policy; its pages answer to addresses of their own. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fastify from 'fastify';
import { until } from '../../../tests/support/until.ts';
import { addConsole } from './console.ts';

const PAGE = '<!doctype html><title>Console</title>';

test('the console serves its files, and its first page for every address without a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'service-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'assets', 'a-1.js'), 'export {};');
  const app = fastify();
  addConsole(app, [join(folder, 'none'), folder]);
  const rows: readonly [path: string, status: number, body: string | null][] = [
    ['/dashboard/', 200, PAGE],
    ['/dashboard/incidents/evt_1?last=7d', 200, PAGE],
    ['/dashboard/agents/a.b', 200, PAGE],
    ['/dashboard/../secret.html', 404, null],
    ['/dashboard/assets/a-1.js', 200, 'export {};'],
    ['/dashboard/assets/a-0.js', 404, null],
    ['/dashboard/theme.js', 404, null],
  ];
  try {
    for (const [url, status, body] of rows) {
      const answer = await app.inject({ url });
      assert.equal(answer.statusCode, status, url);
      if (body === null) continue;
      assert.equal(answer.body, body);
      const policy = String(answer.headers['content-security-policy']);
      assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    }
    assert.equal((await app.inject({ url: '/dashboard?last=7d' })).headers.location, '/dashboard/?last=7d');
  } finally {
    await app.close();
    rmSync(folder, { recursive: true });
  }
  assert.equal(rows.length, 7);
});

test('the console shows its build, and finds a later one', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'service-console-')), 'dist');
  const app = fastify();
  addConsole(app, [folder], () => true);
  const seen: (readonly [number, boolean])[] = [];
  const ask = async (url: string, text: string): Promise<void> => {
    const answer = await app.inject({ url });
    seen.push([answer.statusCode, answer.body.includes(text)]);
  };
  const write = (asset: string): void => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'assets'), { recursive: true });
    writeFileSync(join(folder, 'index.html'), `<script src="/dashboard/assets/${asset}"></script>`);
    writeFileSync(join(folder, 'assets', asset), asset);
  };
  try {
    await ask('/dashboard/', 'http-equiv="refresh"');
    for (const asset of ['a-1.js', 'a-2.js']) {
      write(asset);
      // The listing is as old as it may become.
      await until(async () => (await app.inject({ url: `/dashboard/assets/${asset}` })).statusCode === 200);
      await ask('/dashboard/', asset);
    }
    assert.deepEqual(seen, [
      [503, true],
      [200, true],
      [200, true],
    ]);
  } finally {
    await app.close();
    rmSync(join(folder, '..'), { recursive: true });
  }
});

test('a checkout without a build says how to build it', async () => {
  const app = fastify();
  addConsole(app, [join(tmpdir(), 'service-console-that-is-not-built')]);
  const answer = await app.inject({ url: '/dashboard/' });
  assert.deepEqual([answer.statusCode, answer.body.includes('npm run console')], [503, true]);
  await app.close();
});
