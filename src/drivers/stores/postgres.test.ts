import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { sql } from 'kysely';
import { postgres } from './postgres.ts';

async function ask(url: string): Promise<unknown> {
  const db = await postgres.open({ url, patience_ms: 1_000 });
  try {
    return (await sql`select 1 as one`.execute(db)).rows;
  } finally {
    await db.destroy();
  }
}

test('a server that does not answer is an error within the time limit, without credentials', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const { port } = silent.address() as { port: number };
  const password = ['not', 'for', 'logs'].join('-');
  const urls = [
    `postgres://u:${password}@127.0.0.1:1/db`,
    `postgres://u:${password}@127.0.0.1:${port}/db`,
    `postgres://u:${password}@no-such-host.invalid/db`,
    `postgres://u:${password}@127.0.0.1:${port}/db?sslmode=verify-full`,
  ];
  for (const url of urls) {
    await assert.rejects(ask(url), (error: Error & { code?: string; cause?: unknown }) => {
      assert.deepEqual([error.name, error.code], ['StoreFailure', 'store_unavailable'], url);
      assert.ok(!`${error.stack}${error.cause}`.includes(password));
      return true;
    });
  }
  assert.equal(urls.length, 4);
});

test('without the package it says what to install, and the embedded store does not miss it', () => {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name !== 'pg') return next(name, context);
      throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    } });`;
  const program = `
    import { postgres } from ${JSON.stringify(new URL('./postgres.ts', import.meta.url).href)};
    import { sqliteStore } from ${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url).href)};
    await sqliteStore.open({ path: '/nowhere' });
    await postgres.open({ url: 'postgres://h/d' }).catch(({ code, message }) => console.log(code, message));`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, '--input-type=module', '-e'];
  const ran = spawnSync(process.execPath, [...flags, program], { encoding: 'utf8' });
  assert.match(ran.stdout, /^store_driver_missing .*`npm install pg`/, ran.stderr);
});
