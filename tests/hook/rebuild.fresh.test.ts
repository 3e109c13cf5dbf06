/** The hook of a checkout is rebuilt if its sources are newer, and denies if it cannot be rebuilt. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { copyCheckout } from '../support/checkout.ts';
import { type Ran, run } from './support.ts';

const checkout = copyCheckout();
const built = join(checkout, 'node_modules/.cache/service-hook/built.sh');
const source = join(checkout, 'src/entry/hook/run-hook.ts');
const SENTENCE = 'it is not JSON';

after(() => rmSync(checkout, { recursive: true, force: true, maxRetries: 5 }));

function hook(stdin: string): Promise<Ran> {
  const env = { SERVICE_HOOK_DAEMON: 'off' };
  return run(checkout, ['hook'], stdin, env, [join(checkout, 'service')]);
}

test('a newer source is in the next answer, and where none is newer nothing is built', async () => {
  const first = await hook('garbage');
  assert.deepEqual([first.code, first.stdout], [2, '']);
  assert.match(first.stderr, new RegExp(`${SENTENCE}\\.`));
  const { mtimeNs } = statSync(built, { bigint: true });
  assert.match((await hook('{"tool":"Bash","input":{"command":"rm -rf /"}}')).stdout, /"decision":"block"/);
  assert.equal(statSync(built, { bigint: true }).mtimeNs, mtimeNs);
  const text = readFileSync(source, 'utf8');
  assert.ok(text.includes(SENTENCE));
  writeFileSync(source, text.replace(SENTENCE, 'it is no JSON at all'));
  const second = await hook('garbage');
  assert.equal(second.code, 2);
  assert.match(second.stderr, /it is no JSON at all\./);
  assert.ok(statSync(built, { bigint: true }).mtimeNs > mtimeNs);

  writeFileSync(source, `${text}\nconst broken = ;\n`);
  const broken = await hook('{"tool":"Bash","input":{"command":"ls"}}');
  assert.deepEqual([broken.code, broken.stdout], [2, '']);
  // The builder's own process may write after the launcher.
  assert.match(broken.stderr, /^The hook could not be built, so it is refused\.$/m);
  writeFileSync(source, text);
  assert.match((await hook('{"tool":"Bash","input":{"command":"ls"}}')).stdout, /"decision":"allow"/);
});
