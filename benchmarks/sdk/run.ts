/**
 * Measures what a guard adds to one tool call with 1 KB of arguments: in process, and by a service on loopback.
 * The baseline of the same run is the call without a guard, and a request to a server that only answers.
 * `node benchmarks/sdk/run.ts`
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClientGuard, createEmbeddedGuard, quickstart } from '../../src/sdk/index.ts';
import { startTestService } from '../../tests/support/service.ts';
import { median } from '../measure.ts';

const LOCAL_CALLS = 20_000;
const HTTP_CALLS = 2_000;
const WARM_UP_SHARE = 0.2;

const folder = mkdtempSync(join(tmpdir(), 'sdk-benchmark-'));
const sentence = 'The quarterly report covers the sales of the northern region and the plans for spring. ';
const input = { to: 'team', subject: 'Weekly report', body: sentence.repeat(11), count: 12 };
assert.ok(Math.abs(JSON.stringify(input).length - 1_024) < 60);

/** Returns the median and the 99th percentile of a call in microseconds. */
async function measure(calls: number, call: () => Promise<unknown>): Promise<readonly [number, number]> {
  for (let i = 0; i < calls * WARM_UP_SHARE; i++) await call();
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const beganMs = performance.now();
    await call();
    times.push((performance.now() - beganMs) * 1_000);
  }
  times.sort((a, b) => a - b);
  return [median(times), times[Math.floor(times.length * 0.99)] ?? 0];
}

function print(name: string, [p50, p99]: readonly [number, number], [base]: readonly [number, number]): void {
  console.log(
    `${name.padEnd(52)}${p50.toFixed(1).padStart(9)}${p99.toFixed(1).padStart(10)}${(p50 - base).toFixed(1).padStart(10)}`,
  );
}

const tool = async (given: typeof input): Promise<number> => given.count;
const none = [0, 0] as const;

console.log(
  `${'microseconds'.padEnd(52)}${'median'.padStart(9)}${'p99'.padStart(10)}${'added'.padStart(10)}`,
);
const bare = await measure(LOCAL_CALLS, () => tool(input));
print('the tool without a guard', bare, bare);
const embedded = createEmbeddedGuard();
print(
  'local guard without a journal, the call',
  await measure(LOCAL_CALLS, () => embedded.tool('send', input)),
  bare,
);
const guard = quickstart({ audit_path: join(folder, 'journal.jsonl') });
print(
  'local guard with its journal, the call',
  await measure(LOCAL_CALLS, () => guard.tool('send', input)),
  bare,
);
print(
  'local guard with its journal, call and result',
  await measure(LOCAL_CALLS, () => guard.run('send', input, tool)),
  bare,
);
await guard.close();

const server = createServer((request, response) => {
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const body = JSON.stringify({ tool: 'send', input });
const echo = await measure(HTTP_CALLS, async () => (await fetch(address, { method: 'POST', body })).text());
print('fetch to a server that only answers', echo, none);
server.close();
server.closeAllConnections();

const service = await startTestService({ workers: 1 });
const client = createClientGuard({ url: service.url });
print(
  'guard of a service on loopback, the call',
  await measure(HTTP_CALLS, () => client.tool('send', input)),
  echo,
);
await service.stop();
rmSync(folder, { recursive: true });
