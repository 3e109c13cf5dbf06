/**
 * The service is killed at any moment under load. Its journal has every decision that it answered, and verifies after
 * the restart.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { journalTexts, killAll } from './support/crash.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

const ROUNDS = process.env.NIGHTLY === undefined ? 2 : 8;
const CLIENTS = 24;
const program = resolve(import.meta.dirname, '..', 'service');

/** Sends requests until the connection breaks, and returns the IDs of the received answers. */
async function client(url: string, answered: string[]): Promise<void> {
  for (let i = 0; ; i++) {
    try {
      const answer = await fetch(`${url}/v1/scan/input`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: `line ${i}: mail me at someone@mail-${i}.io`, agent_id: 'sigkill' }),
      });
      const reply = (await answer.json()) as { event_id: string };
      assert.equal(answer.status, 200);
      answered.push(reply.event_id);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return;
    }
  }
}

/** Returns every event ID in the journal. */
function recordedIds(service: TestService): Set<string> {
  const ids = new Set<string>();
  for (const text of journalTexts(service))
    for (const [, eventId] of text.matchAll(/"event_id":"(evt_[0-9a-f]{24})"/g)) ids.add(eventId!);
  return ids;
}

test('no answered decision is lost to SIGKILL', { timeout: 180_000 }, async () => {
  const answered: string[] = [];
  let dir: string | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const service: TestService = await startTestService({ dir, keep: true, workers: 2 });
    dir = service.dir;
    const before = answered.length;
    const aim = randomInt(50, 400);
    const clients = Array.from({ length: CLIENTS }, () => client(service.url, answered));
    await until(() => answered.length - before >= aim);
    killAll(service);
    await Promise.all(clients);
  }
  assert.ok(answered.length > ROUNDS * CLIENTS, `only ${answered.length} answers were seen`);
  assert.equal(new Set(answered).size, answered.length);

  const service = await startTestService({ dir, workers: 2 });
  try {
    const seen = recordedIds(service);
    const lost = answered.filter((eventId) => !seen.has(eventId));
    assert.deepEqual(lost, []);
    const verified = execFileSync(program, ['audit', 'verify', '--json'], {
      cwd: service.dir,
      encoding: 'utf8',
    });
    assert.equal(JSON.parse(verified).intact, true);
  } finally {
    await service.stop();
  }
});
