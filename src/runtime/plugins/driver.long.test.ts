import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SecretBackend, SecretFailure } from '../../drivers/secrets/backend.ts';
import { loadConfig } from '../../server/load-config.ts';
import { loadConfiguredPlugins } from '../policies/load-policy.ts';
import { openDriver } from './driver.ts';
import { assertAdmitted, findDriver } from './driver-file.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'drivers-')));
process.env.SERVICE_TRUSTED_PLUGINS = root;
after(() => rmSync(root, { recursive: true, force: true }));

const PATIENT_MS = 30_000;
const HASTY_MS = 700;
/** The value that a driver reads, which must not appear anywhere else. */
const VALUE = ['value', '5d41'].join('-');

/** Returns a plug-in with one driver `d`, whose `open` has this body. */
const plugin = (body: string): string =>
  `export default { name: 'own', version: '1.0.0', drivers: [{ kind: 'secrets', name: 'd', async open(settings) {\n${body}\n} }] };\n`;

let files = 0;
function openTestDriver(
  text: string,
  name = 'd',
): { readonly backend: SecretBackend; readonly path: string } {
  files += 1;
  const path = join(root, `driver-${files}.mjs`);
  writeFileSync(path, text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { path, backend: openDriver({ file: { path, sha256 }, name, settings: { own: VALUE } }) };
}

const get = (backend: SecretBackend, key: string, timeoutMs = PATIENT_MS) =>
  backend.get(key, AbortSignal.timeout(timeoutMs));

async function getFailure(question: Promise<unknown>): Promise<SecretFailure> {
  const failure = await question.then(
    () => assert.fail('it answered'),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof SecretFailure, String(failure));
  assert.ok(![failure.message, failure.stack, JSON.stringify(failure)].join().includes(VALUE));
  return failure;
}

test('a driver is opened with its settings, in a thread without the environment, and answers', async () => {
  process.env.DRIVER_TEST = 'seen';
  const { backend } = openTestDriver(
    plugin(`return {
      get: async (key, signal) => ({ own: settings.own, env: process.env.DRIVER_TEST ?? 'unseen', none: null, signal: signal.constructor.name })[key],
    };`),
  );
  assert.equal(await get(backend, 'own'), VALUE);
  assert.equal(await get(backend, 'env'), 'unseen');
  assert.equal(await get(backend, 'signal'), 'AbortSignal');
  assert.deepEqual([await get(backend, 'none'), await get(backend, 'other')], [null, null]);
  await backend.check(AbortSignal.timeout(PATIENT_MS));
  backend.close();
  assert.equal((await getFailure(get(backend, 'own'))).code, 'secrets_unavailable');
  delete process.env.DRIVER_TEST;
});

test('every fault of a driver is a failure with a code, without the driver’s own text', async () => {
  const rows: readonly (readonly [what: string, text: string, code: string])[] = [
    ['throws', plugin(`return { get() { throw new Error(settings.own); } };`), 'secrets_unavailable'],
    [
      'says why',
      plugin(
        `return { get() { throw Object.assign(new Error(settings.own), { code: 'secrets_denied' }); } };`,
      ),
      'secrets_denied',
    ],
    [
      'says a code of its own',
      plugin(`return { get() { throw Object.assign(new Error(), { code: settings.own }); } };`),
      'secrets_unavailable',
    ],
    ['throws what is no error', plugin('return { get() { throw null; } };'), 'secrets_unavailable'],
    ['gives no text', plugin('return { get: () => ({ value: settings.own }) };'), 'secrets_answer'],
    ['gives too much', plugin(`return { get: () => 'x'.repeat(262_145) };`), 'secrets_answer'],
    ['has no `get`', plugin('return {};'), 'secrets_unavailable'],
    ['opens nothing', plugin(''), 'secrets_unavailable'],
    ['does not open', plugin('throw new Error(settings.own);'), 'secrets_setup'],
    ['is no module', 'export default {', 'secrets_setup'],
    ['has another driver', plugin('return {};').replace("name: 'd'", "name: 'e'"), 'secrets_setup'],
    ['leaves', plugin('return { get() { process.exit(0); } };'), 'secrets_unavailable'],
    [
      'throws where nobody catches it',
      plugin(
        'return { get: () => new Promise(() => { setTimeout(() => { throw new Error(settings.own); }); }) };',
      ),
      'secrets_unavailable',
    ],
    [
      'takes all memory',
      plugin('return { get() { const a = []; for (;;) a.push(new Array(1e5).fill(Math.random())); } };'),
      'secrets_unavailable',
    ],
    [
      'speaks in the place of its thread',
      `import { parentPort } from 'node:worker_threads';\n${plugin('return { get() { parentPort.postMessage({ id: 1, value: { a: settings.own } }); return new Promise(() => {}); } };')}`,
      'secrets_answer',
    ],
  ];
  for (const [what, text, code] of rows) {
    const { backend } = openTestDriver(text);
    assert.equal((await getFailure(get(backend, 'a'))).code, code, what);
    backend.close();
  }
  assert.equal(rows.length, 15);
});

test('a driver that hangs fails at the time limit, is ended, and is started again', async () => {
  const { backend } = openTestDriver(
    plugin(
      `return { get: (key) => { if (key === 'loop') for (;;); if (key === 'wait') return new Promise(() => {}); return key; } };`,
    ),
  );
  assert.equal(await get(backend, 'a'), 'a');
  assert.equal((await getFailure(get(backend, 'wait', HASTY_MS))).code, 'secrets_timeout');
  assert.equal(await get(backend, 'b'), 'b', 'one that only waits is not ended for it');
  const waiting = getFailure(get(backend, 'wait'));
  assert.equal((await getFailure(get(backend, 'loop', HASTY_MS))).code, 'secrets_timeout');
  assert.equal((await waiting).code, 'secrets_timeout', 'the thread was ended, and the waiting call fails');
  assert.equal(
    (await getFailure(get(backend, 'a'))).code,
    'secrets_timeout',
    'it is not begun again at once',
  );
  await sleep(1_100);
  assert.equal(await get(backend, 'a'), 'a');
  backend.close();
  const never: readonly (readonly [text: string, code: string])[] = [
    ['for (;;);\n', 'secrets_timeout'],
    [plugin('for (;;);'), 'secrets_timeout'],
    [plugin('setInterval(() => {}, 1000); await new Promise(() => {});'), 'secrets_timeout'],
    // Nothing keeps its thread alive any more.
    [plugin('await new Promise(() => {});'), 'secrets_unavailable'],
  ];
  for (const [text, code] of never) {
    const hanging = openTestDriver(text).backend;
    // The end of a thread comes by itself, however late on a busy machine.
    const timeoutMs = code === 'secrets_timeout' ? HASTY_MS : PATIENT_MS;
    assert.equal((await getFailure(get(hanging, 'a', timeoutMs))).code, code, text);
    hanging.close();
  }
});

test('the driver is notified when a caller aborts', async () => {
  const { backend } = openTestDriver(
    plugin(
      `let left = 'no'; return { get: (key, signal) => key === 'left' ? left : new Promise(() => { signal.onabort = () => { left = 'yes'; }; }) };`,
    ),
  );
  assert.equal(await get(backend, 'left'), 'no');
  await getFailure(get(backend, 'a', HASTY_MS));
  assert.equal(await get(backend, 'left'), 'yes');
  backend.close();
});

test('a file that changed after its check is not run', async () => {
  const { backend, path } = openTestDriver(plugin(`return { get: () => 'first' };`));
  writeFileSync(path, plugin(`return { get: () => 'second' };`));
  const { code, message } = await getFailure(get(backend, 'a'));
  assert.deepEqual([code, /was changed since/.test(message)], ['secrets_setup', true]);
  backend.close();
});

test('a driver is used where its plug-in is named and in use as it is now', async () => {
  const settings = 'plugins: {files: ["good.mjs", "bad.mjs"], timeout_ms: 2000}\n';
  const dir = realpathSync(mkdtempSync(join(root, 'project-')));
  writeFileSync(join(dir, 'service.yaml'), settings);
  const good = plugin(`return { get: () => 'good' };`);
  writeFileSync(join(dir, 'good.mjs'), good);
  writeFileSync(
    join(dir, 'bad.mjs'),
    good.replace("name: 'd'", "name: 'vault'").replace("name: 'own'", "name: 'bad'"),
  );
  writeFileSync(join(dir, 'lies-there.mjs'), good);
  const read = await loadConfig({ path: null, cwd: dir, env: {} });
  assert.ok(read.ok, JSON.stringify(read));
  const { plugins } = await loadConfiguredPlugins(read.config);
  assert.match(plugins[1]?.problems[0]?.message ?? '', /`drivers\[0\]\.name` is taken by another driver/);
  const reportOf = (from: string) => plugins.find((each) => each.from === from);
  const file = await findDriver(read.config, 'good.mjs');
  assertAdmitted(file, reportOf('good.mjs'), 'good.mjs');
  const backend = openDriver({ file, name: 'd', settings: {} });
  assert.equal(await get(backend, 'a'), 'good');
  backend.close();
  const bad = await findDriver(read.config, 'bad.mjs');
  assert.throws(() => assertAdmitted(bad, reportOf('bad.mjs'), 'bad.mjs'), /which is left out/);
  assert.throws(() => assertAdmitted(bad, undefined, 'bad.mjs'), /which is left out/);
  await assert.rejects(findDriver(read.config, 'lies-there.mjs'), /`plugins` does not list/);
  writeFileSync(join(dir, 'good.mjs'), `${good}\n`);
  const changed = await findDriver(read.config, 'good.mjs');
  assert.throws(
    () => assertAdmitted(changed, reportOf('good.mjs'), 'good.mjs'),
    /was changed since it was loaded/,
  );
});
