/** Structured output streams: the partial objects that SDKs return with the service and without it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingFor } from './clients.ts';
import { EMAIL, SECRET } from './guarded-scenarios.ts';
import { LANES, type Lane, nameOf } from './lanes.ts';
import { getAsk } from './runs.ts';
import { openStage } from './stage.ts';

const stage = await openStage(() => ({}));

/** The SDKs that return partial objects of a text. For Messages, the SDK of Vercel asks for a tool call. */
const STRUCTURED = LANES.filter(
  ({ client, api }) => (client === 'vercel' && api !== 'messages') || (client === 'openai' && api === 'chat'),
);

const ENTRIES = Array.from({ length: 12 }, (_, number) => ({
  id: number,
  title: `Entry ${number} of the plan`,
  note: 'The review went well, and "all" agreed\nto meet again on Monday.',
  tags: ['new', 'open'],
}));

/** Cuts a text as models do, into tokens of a few characters. */
function tokens(text: string): string[] {
  return text.match(/[\s\S]{1,4}/g)!;
}

let asks = 0;

async function ask(lane: Lane, baseUrl: string, document: string) {
  asks += 1;
  const mark = `structured ${asks}`;
  const recording = `${lane.recordings}/plain.stream`;
  stage.provider.plan(mark, [{ recording, pieces: { text: tokens(document) } }]);
  const headers = { 'x-case': mark };
  return stage.clients.ask(
    lane.client,
    getAsk(lane, baseUrl, { is_stream: true, is_structured: true, headers }),
  );
}

test('partial objects arrive while the model writes, masked where the policy says so', async (t) => {
  assert.equal(STRUCTURED.length, 3);
  for (const lane of STRUCTURED) {
    await t.test(nameOf(lane), { skip: missingFor(lane.client) ?? false }, async () => {
      const clean = JSON.stringify({ entries: ENTRIES });
      const direct = await ask(lane, stage.provider.url, clean);
      const guarded = await ask(lane, stage.service().url, clean);
      assert.equal(guarded.error, null);
      assert.deepEqual(JSON.parse(guarded.text!), JSON.parse(clean));
      t.diagnostic(
        `${nameOf(lane)}: ${direct.pieces} partial objects, through the service ${guarded.pieces}`,
      );
      assert.ok(
        guarded.pieces > 36 && guarded.pieces > direct.pieces / 4,
        `${guarded.pieces} of ${direct.pieces}`,
      );
      const leaking = JSON.stringify({
        mail: EMAIL,
        entries: [...ENTRIES, { note: `The key is ${SECRET}.` }, ...ENTRIES],
      });
      const masked = await ask(lane, stage.service().url, leaking);
      assert.equal(masked.error, null);
      assert.deepEqual(
        JSON.parse(masked.text!),
        JSON.parse(leaking.replace(EMAIL, '[REDACTED]').replace(SECRET, '[REDACTED]')),
      );
      assert.ok(masked.pieces > 72, `${masked.pieces}`);
    });
  }
});
