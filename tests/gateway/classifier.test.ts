/** A classifier at `output`, behind the LLM proxy: it decides on streamed answers as a whole. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { askRaw, rawAskFor, STREAMS, streamedText } from './raw.ts';
import { openStage } from './stage.ts';

const texts: string[] = [];
const classifier = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { text } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { text: string };
  texts.push(text);
  if (text.includes('silence')) return;
  const labels = ['insult', 'name'].filter((label) => text.includes(`${label}-word`));
  const findings = labels.map((label) => {
    const start = [...text.slice(0, text.indexOf(`${label}-word`))].length;
    return { label, score: 1, start, end: start + `${label}-word`.length };
  });
  response.end(JSON.stringify({ findings }));
});
await new Promise<void>((resolve) => classifier.listen(0, '127.0.0.1', resolve));
after(() => {
  classifier.closeAllConnections();
  classifier.close();
});

const stage = await openStage(() => ({
  config: {
    classifiers: [
      {
        name: 'scorer',
        url: `http://127.0.0.1:${(classifier.address() as AddressInfo).port}/`,
        boundaries: ['output'],
        timeout_ms: 1_000,
        on_failure: 'block',
        labels: {
          insult: { tag: 'content.insult', severity: 'high' },
          name: { tag: 'content.name', severity: 'low' },
        },
      },
    ],
    policies: [
      { name: 'no-insults', boundary: 'output', data_tags: ['content.insult'], action: 'block' },
      { name: 'no-names', boundary: 'output', data_tags: ['content.name'], action: 'redact' },
    ],
  },
}));

async function stream(recording: string, mark: string, pieces: readonly string[]) {
  stage.provider.plan(mark, [{ recording, pieces: { text: pieces } }]);
  const ask = rawAskFor(recording, 'Say something.');
  return askRaw(stage.service().url, { ...ask, headers: { ...ask.headers, 'x-case': mark } });
}

const rows = [
  { name: 'a clean text', pieces: ['All is', ' well, my friend.'], is_sent: true },
  { name: 'an insult in two pieces', pieces: ['You in', 'sult-word, you.'], is_sent: false },
  {
    name: 'an insult in the last piece',
    pieces: ['First this, ', 'then that, ', 'insult-word'],
    is_sent: false,
  },
  { name: 'a name, which a rule redacts', pieces: ['Dear ', 'name-word'], is_sent: false },
  { name: 'a classifier that does not answer', pieces: ['Only ', 'silence'], is_sent: false },
] as const;

test('no part of a streamed answer is sent before the classifier has decided on the whole', async () => {
  let ran = 0;
  for (const recording of STREAMS) {
    for (const { name, pieces, is_sent } of rows) {
      const mark = `${name} ${recording}`;
      const text = pieces.join('');
      texts.length = 0;
      const answer = await stream(recording, mark, pieces);
      assert.equal(answer.is_broken, false, mark);
      assert.ok(texts.includes(text), `${mark}: ${texts.join('|')}`);
      if (is_sent) assert.equal(streamedText(answer), text, mark);
      else {
        const body = answer.body.toString('utf8');
        for (const piece of pieces) assert.ok(!body.includes(piece), `${mark}: ${body}`);
        assert.ok(body.includes('data:'), mark);
      }
      ran += 1;
    }
  }
  assert.equal(ran, STREAMS.length * rows.length);
});
