/** A program of a user: it ends with 0 if the guard decides here as everywhere. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { BlockedError, createClientGuard, quickstart } from 'customshouse/sdk';
import { guardVercelTools } from 'customshouse/sdk/vercel-ai';

const beganMs = performance.now();
const guard = quickstart({ audit_path: process.argv[2] });
const blocked = await guard.input('Use key sk-ABCDEF1234567890');
assert.deepEqual([blocked.decision, blocked.rule], ['block', 'builtin.secret.input']);
const firstMs = performance.now() - beganMs;

let shown = '';
for await (const piece of guard.stream(['Mail jane.', 'doe@corp-', 'mail.io now.'])) shown += piece;
assert.equal(shown, 'Mail [REDACTED] now.');

let ran = 0;
const { pay } = guardVercelTools({ pay: { execute: () => (ran += 1) } }, guard, { on_block: 'raise' });
await assert.rejects(pay.execute({ key: 'sk-ABCDEF1234567890' }), BlockedError);
const gone = createClientGuard({ url: 'http://127.0.0.1:9' });
await assert.rejects(
  gone.run('pay', {}, () => (ran += 1)),
  BlockedError,
);
assert.equal(ran, 0);
if (process.env.SERVICE_URL) {
  const client = createClientGuard();
  assert.equal((await client.input('Use key sk-ABCDEF1234567890')).rule, 'builtin.secret.input');
  assert.equal(await client.run('pay', {}, () => 'paid'), 'paid');
}
await guard.close();
assert.equal(readFileSync(guard.journal_path, 'utf8').trim().split('\n').length, 3);
console.log(`ok, ${firstMs.toFixed(0)} ms to the first verdict`);
process.exit(0);
