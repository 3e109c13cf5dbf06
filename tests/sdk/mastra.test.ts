import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMastraProcessor } from '../../src/sdk/adapters/mastra.ts';
import { createEmbeddedGuard } from '../../src/sdk/index.ts';

const SETTING = `DATABASE_URL=postgresql://${'admin:p4ssw0rd'}@db.internal:5432/prod`;

/** Streams parts through the processor, one letter each. Returns what is shown of them. */
async function showParts(...parts: readonly object[]): Promise<string> {
  const guard = createEmbeddedGuard();
  const { processOutputStream } = createMastraProcessor(guard);
  const [state, abort] = [{}, assert.fail];
  let shown = '';
  for (const part of parts) {
    const given = (await processOutputStream({ part, state, abort })) as { payload: object } | null;
    if (given !== null) shown += Object.values(given.payload).join(' ');
  }
  await guard.close();
  return shown;
}

const letters = (text: string, type: string, member: string) =>
  [...text].map((letter) => ({ type, payload: { [member]: letter } }));
const end = (type: string) => ({ type, payload: {} });

test('text and reasoning are shown as far as they are checked, and other pieces of text are not shown', async () => {
  const rows: readonly (readonly [parts: readonly object[], shown: string])[] = [
    [[...letters('All is well.', 'text-delta', 'text'), end('text-end')], 'All is well.'],
    [[...letters(SETTING, 'text-delta', 'text'), end('text-end')], 'DATABASE_URL=[REDACTED]'],
    [[...letters(SETTING, 'reasoning-delta', 'text'), end('reasoning-end')], 'DATABASE_URL=[REDACTED]'],
    [letters(SETTING, 'tool-call-delta', 'argsTextDelta'), ''],
    [letters(SETTING, 'raw', 'rawValue'), ''],
    [[{ type: 'finish', payload: { reason: 'stop' } }], 'stop'],
  ];
  for (const [parts, shown] of rows) assert.equal(await showParts(...parts), shown);
  assert.equal(rows.length, 6);
});
