/** The documentation site is served with a strict policy, and nothing else of the disk with it. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fastify from 'fastify';
import { addGuide } from './guide.ts';

const PAGE = '<!doctype html><title>Guide</title>';

test('the guide serves the files of its folder, with a policy without inline code', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'service-guide-'));
  const folder = join(parent, 'dist');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), PAGE);
  writeFileSync(join(folder, 'assets', 'a.js'), 'export {};');
  mkdirSync(join(folder, 'how-to'));
  writeFileSync(join(folder, 'how-to', 'deploy.html'), PAGE);
  writeFileSync(join(folder, 'how-to', 'index.html'), PAGE);
  writeFileSync(join(folder, '404.html'), 'There is no such page.');
  writeFileSync(join(folder, 'notes.txt'), 'of a type that is not served');
  writeFileSync(join(parent, 'secret.html'), 'outside');
  const app = fastify();
  addGuide(app, [join(parent, 'none'), folder]);
  try {
    const ask = async (url: string) => await app.inject({ url });
    assert.equal((await ask('/docs/guide')).headers.location, '/docs/guide/');
    const page = await ask('/docs/guide/');
    assert.deepEqual([page.statusCode, page.body], [200, PAGE]);
    assert.match(
      String(page.headers['content-security-policy']),
      /default-src 'none'; script-src 'self'; style-src 'self'/,
    );
    assert.doesNotMatch(String(page.headers['content-security-policy']), /unsafe|https?:|\*/);
    const script = await ask('/docs/guide/assets/a.js');
    assert.deepEqual(
      [script.statusCode, script.headers['content-type']],
      [200, 'text/javascript; charset=utf-8'],
    );
    assert.match(String(script.headers['cache-control']), /immutable/);
    for (const [path, location] of [
      ['how-to/deploy', 'how-to/deploy.html'],
      ['how-to/deploy/', 'how-to/deploy.html'],
      ['how-to', 'how-to/index.html'],
      ['how-to/?a', 'how-to/index.html'],
    ])
      assert.equal((await ask(`/docs/guide/${path}`)).headers.location, `/docs/guide/${location}`, path);
    const unknown = await ask('/docs/guide/how-to/nothing');
    assert.deepEqual([unknown.statusCode, unknown.body], [404, 'There is no such page.']);
    assert.match(String(unknown.headers['content-security-policy']), /default-src 'none'/);
    const outside = [
      '../secret.html',
      '%2e%2e/secret.html',
      '..%2fsecret.html',
      'notes.txt',
      'none.html',
      'assets',
      '__proto__',
    ];
    for (const path of outside) assert.equal((await ask(`/docs/guide/${path}`)).statusCode, 404, path);
  } finally {
    await app.close();
    rmSync(parent, { recursive: true });
  }
});

test('an unbuilt guide names the command that builds it', async () => {
  const app = fastify();
  addGuide(app, [join(tmpdir(), 'service-guide-that-is-not-built')]);
  const page = await app.inject({ url: '/docs/guide/' });
  assert.equal(page.statusCode, 404);
  assert.match(page.body, /<pre>npm run docs<\/pre>/);
  await app.close();
});
