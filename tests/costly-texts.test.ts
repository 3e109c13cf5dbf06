import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildNested } from '../src/core/testing/constructs.ts';
import { startTestService } from './support/service.ts';

/** The units of each text: longer than a script that is read. */
const UNITS = 140_000;

/** Texts that cost the most of all constructs, and that readers refuse. */
const COSTLY: readonly string[] = [
  'find . -exec ',
  'rm {a,b}*{a,b}* ',
  'sudo ',
  'env A=1 ',
  'xargs ',
  'xterm -x ',
  'docker run --entrypoint a ',
  'cat *a*b*c*d* ',
  'a&&',
  'cd a && ',
].map((open) => buildNested([{ open, close: '' }], UNITS));

async function post(url: string, body: unknown): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200);
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

test('one worker refuses costly texts and answers health', async () => {
  const service = await startTestService({ workers: 1 });
  try {
    const calls = COSTLY.map((command) =>
      post(`${service.url}/v1/intercept/tool`, { tool: 'Bash', input: { command }, agent_id: 'bot' }),
    );
    const health = await fetch(`${service.url}/v1/health`);
    assert.equal(health.status, 200);
    const answers = await Promise.all(calls);
    assert.deepEqual(
      answers.map(({ decision, rule }) => `${decision} ${rule}`),
      COSTLY.map(() => 'block coverage.exceeded'),
    );
    const harmless = { tool: 'Bash', input: { command: 'ls src' }, agent_id: 'bot' };
    assert.equal((await post(`${service.url}/v1/intercept/tool`, harmless)).decision, 'allow');
  } finally {
    await service.stop();
  }
});
