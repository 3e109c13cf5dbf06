/** Denied content does not pass, for any SDK, and however an answer is split. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { isNightly } from '../support/nightly.ts';
import type { Step } from '../support/provider/provider.ts';
import { DANGEROUS, EMAIL, GUARDED, PLANTED, REDACTED, SECRET } from './guarded-scenarios.ts';
import { LANES } from './lanes.ts';
import { askRaw, type RawAnswer, rawAskFor, STREAMS, streamedText } from './raw.ts';
import { KEY } from './runs.ts';
import { openStage, runTable } from './stage.ts';

const stage = await openStage(() => ({}));
const { provider } = stage;

test('the built-in rules, on every lane', { concurrency: true }, async (t) => {
  assert.equal(GUARDED.length, 13);
  assert.equal(LANES.length, 12);
  await runTable(t, {
    ...stage,
    base_url: stage.service().url,
    lanes: LANES,
    scenariosOf: () => GUARDED,
    look: (_lane, _scenario, { seen }) => {
      const told = JSON.stringify(seen);
      for (const text of PLANTED) assert.ok(!told.includes(text), 'the client sees what was planted');
    },
  });
});

const LEAKING = `The key is ${SECRET}, keep it safe.`;
const MASKED = `The key is ${REDACTED}, keep it safe.`;
/** Length in UTF-16 units of a part of a secret that must not be visible anywhere. */
const FRAGMENT_UNITS = 8;

/** One in so many places is cut. `npm run test:cuts` cuts the same readers of streams everywhere. */
const CUT_STEP = isNightly ? 1 : 8;

async function askStream(recording: string, mark: string, step: Partial<Step>): Promise<RawAnswer> {
  provider.plan(mark, [{ recording, ...step }]);
  const ask = rawAskFor(recording, 'Tell me the key.');
  return askRaw(stage.service().url, { ...ask, headers: { ...ask.headers, 'x-case': mark } });
}

function assertMasked(answer: RawAnswer, place: string): void {
  assert.equal(answer.status, 200, place);
  assert.equal(streamedText(answer), MASKED, place);
  const bytes = answer.body.toString('utf8');
  for (let at = 0; at + FRAGMENT_UNITS <= SECRET.length; at += 1)
    assert.ok(!bytes.includes(SECRET.slice(at, at + FRAGMENT_UNITS)), `${place}: a part of the secret`);
}

test('a secret in a stream never leaves, at whichever place the provider cuts its text', async () => {
  let cuts = 0;
  for (const recording of STREAMS) {
    for (let at = 1; at < LEAKING.length; at += CUT_STEP) {
      const pieces = { text: [LEAKING.slice(0, at), LEAKING.slice(at)] };
      assertMasked(await askStream(recording, `cut ${recording} ${at}`, { pieces }), `${recording} at ${at}`);
      cuts += 1;
    }
  }
  assert.equal(cuts, STREAMS.length * Math.ceil((LEAKING.length - 1) / CUT_STEP));
});

test('nor at whichever place the network cuts its bytes', async () => {
  let cuts = 0;
  for (const recording of STREAMS) {
    for (let cutBytes = 1; cutBytes <= 40; cutBytes += 3 * CUT_STEP) {
      const pieces = { text: [LEAKING] };
      const mark = `bytes ${recording} ${cutBytes}`;
      assertMasked(await askStream(recording, mark, { pieces, cut_bytes: cutBytes }), mark);
      cuts += 1;
    }
  }
  assert.equal(cuts, Math.ceil(14 / CUT_STEP) * STREAMS.length);
});

test('nothing that was planted is in a file, in the log or in the metrics of the service', async () => {
  const service = stage.service();
  const texts = new Map([
    ['the log', Buffer.from(service.logs())],
    ['the metrics', Buffer.from(await (await fetch(`${service.url}/v1/metrics`)).arrayBuffer())],
    ...readdirSync(service.dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const raw = readFileSync(join(entry.parentPath, entry.name));
        return [
          join(entry.parentPath, entry.name),
          entry.name.endsWith('.gz') ? gunzipSync(raw) : raw,
        ] as const;
      }),
  ]);
  assert.ok(
    [...texts.values()].some((text) => text.includes('builtin.secret.output')),
    'the journal was looked at',
  );
  for (const [place, text] of texts) {
    // The audit log shows a blocked command, which is no secret.
    const mayShow = place.startsWith(service.state_dir) ? DANGEROUS.command : null;
    for (const planted of [...PLANTED, EMAIL, KEY, SECRET.slice(4)])
      assert.ok(planted === mayShow || !text.includes(planted), `${place} holds something that was planted`);
  }
});
