/** The advisory layer decides nothing: a service with it, and one without it, give the same verdicts. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type ApiClient, openApiClient } from '../support/api-client.ts';
import { RECOMMEND_WEAKENING } from '../support/model-server/answers.ts';
import { MODEL, type ModelServer, startModelServer } from '../support/model-server/model-server.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Concatenated, so that no secret scanner of repositories reports it. */
const KEY = ['sk-', 'ABCDEF1234567890abcd'].join('');
const RUNS = Number(process.env.ADVISOR_VERDICTS ?? 60);

/**
 * A decision that is not written within ten seconds is a block (`fault.audit`), with the layer and without it, so a busy
 * disk would make the two services differ. The state is kept in memory where the system has a folder for that.
 */
const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const folders: string[] = [];
function makeFolder(): string {
  const folder = mkdtempSync(join(MEMORY, 'verdicts-'));
  folders.push(folder);
  return folder;
}

let model: ModelServer;
let services: readonly [on: TestService, off: TestService];
let clients: readonly [on: ApiClient, off: ApiClient];

before(async () => {
  model = await startModelServer(null, [RECOMMEND_WEAKENING]);
  const policies = [
    { name: 'no-refunds', boundary: 'action', condition: { tools: ['issue_refund'] }, action: 'block' },
  ];
  const backend = { provider: 'local', model: MODEL, base_url: model.url, retries: 0 };
  const [on, off] = await Promise.all([
    startTestService({ dir: makeFolder(), config: { policies, intelligence: { enabled: true, backend } } }),
    startTestService({ dir: makeFolder(), config: { policies } }),
  ]);
  services = [on, off];
  clients = [openApiClient(on), openApiClient(off)];
});
after(async () => {
  await Promise.all(services.map((service) => service.stop()));
  model.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const text = fc
  .stringMatching(/^[a-z ]{0,20}$/)
  .chain((word) =>
    fc.constantFrom(
      word,
      `${word} ${KEY}`,
      `mail jane.doe@corp-mail.io ${word}`,
      `rm -rf / ${word}`,
      '4111 1111 1111 1111',
    ),
  );
const requests = fc.oneof(
  text.map((each) => ({ path: '/v1/scan/input', body: { text: each, agent_id: 'bot' } })),
  text.map((each) => ({ path: '/v1/guard/output', body: { text: each, agent_id: 'bot' } })),
  fc.tuple(fc.constantFrom('issue_refund', 'Bash', 'send_email'), text).map(([tool, command]) => ({
    path: '/v1/intercept/tool',
    body: { tool, input: { command }, agent_id: 'bot' },
  })),
);

test('verdicts are equal with the layer on and off, also while a hostile model answers', async () => {
  const decisions = new Set<string>();
  let compared = 0;
  const advice: Promise<unknown>[] = [];
  await fc.assert(
    fc.asyncProperty(requests, async ({ path, body }) => {
      if (compared % 20 === 0) advice.push(clients[0]('/v1/intelligence/recommend', { body: {} }));
      const [on, off] = await Promise.all(clients.map((ask) => ask(path, { body })));
      const strip = ({
        event_id: _,
        request_id: __,
        scan_duration_ms: ___,
        ...verdict
      }: Record<string, unknown>) => JSON.stringify(verdict);
      assert.equal(on!.status, off!.status, JSON.stringify([on!.body, off!.body]));
      assert.equal(strip(on!.body), strip(off!.body));
      decisions.add(on!.body.decision);
      compared += 1;
    }),
    { numRuns: RUNS, seed: 19 },
  );
  const answers = (await Promise.all(advice)) as { readonly status: number }[];
  assert.ok(
    answers.some(({ status }) => status === 200),
    'the model was called meanwhile',
  );
  assert.deepEqual([...decisions].sort(), ['allow', 'block', 'modify']);
  assert.ok(compared >= RUNS && model.questions.length > 0);
});
