/** A guard of a service blocks whatever goes wrong on the way, and the tool behind it does not run. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  AIBackendNotConfiguredError,
  ApprovalRequiredError,
  BlockedError,
  createClientGuard,
  type Guard,
} from '../../src/sdk/index.ts';
import { startTestService, type TestService } from '../support/service.ts';

const KEY = 'svc_test_key_0123456789abcdef0123456789abcdef';
const config = {
  policies: [
    {
      name: 'refunds',
      boundary: 'action',
      condition: { tools: ['issue_refund'] },
      action: 'require_approval',
    },
  ],
};
let service: TestService;
let operator = '';
before(async () => {
  service = await startTestService({ config });
  operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
});
after(() => service.stop());

/** Starts a server on a free port of this machine, for one test. */
async function serve(
  listener: RequestListener,
): Promise<{ url: string; close: () => void; calls: () => number }> {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    request.resume().on('end', () => listener(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, close, calls: () => calls };
}

const json = (response: ServerResponse, status: number, value: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** Runs a tool behind a guard and returns how often it ran and the error. */
async function runTool(guard: Guard): Promise<{ ran: number; error: unknown }> {
  let ran = 0;
  const error = await guard
    .run('pay', { amount: 1 }, () => {
      ran += 1;
      return 'paid';
    })
    .then(
      () => null,
      (reason: unknown) => reason,
    );
  return { ran, error };
}

async function assertBlocks(guard: Guard, rule: string, reason: RegExp): Promise<void> {
  const { ran, error } = await runTool(guard);
  assert.equal(ran, 0);
  assert.ok(error instanceof BlockedError, String(error));
  assert.equal(error.rule, rule);
  assert.match(error.reason, reason);
  assert.equal(error.event_id, null);
  const verdicts = [
    await guard.input('hello'),
    await guard.output('hello'),
    await guard.toolResult('pay', 1),
  ];
  for (const { decision, fault } of verdicts) assert.deepEqual([decision, fault], ['block', true]);
}

const WHOLE = {
  decision: 'allow',
  action: 'allow',
  rule: 'default.allow',
  reason: 'Nothing was found.',
  event_id: 'evt_0123456789abcdef01234567',
  violations: [],
  scan_duration_ms: 1,
  coverage: 'full',
};

test('a whole answer lets a tool run, so the other tests can fail', async () => {
  const server = await serve((_, response) => json(response, 200, WHOLE));
  const { ran, error } = await runTool(createClientGuard({ url: server.url }));
  assert.deepEqual([ran, error], [1, null]);
  server.close();
});

test('a service that is gone blocks', () =>
  assertBlocks(createClientGuard({ url: 'http://127.0.0.1:9' }), 'sdk.unavailable', /could not be reached/));

test('a service that is slow blocks', async () => {
  const server = await serve(() => {});
  const guard = createClientGuard({ url: server.url, timeout_ms: 100 });
  await assertBlocks(guard, 'sdk.unavailable', /within 100 ms/);
  server.close();
});

const GARBAGE: Readonly<Record<string, RequestListener>> = {
  'no JSON': (_, response) => response.end('<html>'),
  'half of an answer': (_, response) => {
    response.writeHead(200, { 'content-length': '500' }).write('{"decision":"allow"');
    response.destroy();
  },
  null: (_, response) => json(response, 200, null),
  'a decision alone': (_, response) => json(response, 200, { decision: 'allow' }),
  'no event': (_, response) => json(response, 200, { ...WHOLE, event_id: undefined }),
  'an unknown decision': (_, response) => json(response, 200, { ...WHOLE, decision: 'yes' }),
  'partial coverage': (_, response) => json(response, 200, { ...WHOLE, coverage: 'partial' }),
  'a change without content': (_, response) => json(response, 200, { ...WHOLE, decision: 'modify' }),
  'a redirect': (_, response) => response.writeHead(307, { location: service.url }).end(),
  'an error without a reason': (_, response) => json(response, 500, []),
  'a verdict with an error status': (_, response) => json(response, 500, WHOLE),
};

test('an answer that is no verdict blocks', async () => {
  for (const [name, listener] of Object.entries(GARBAGE)) {
    const server = await serve(listener);
    const { ran, error } = await runTool(createClientGuard({ url: server.url }));
    assert.equal(ran, 0, name);
    assert.ok(error instanceof BlockedError, name);
    assert.equal(error.rule, 'sdk.unavailable', name);
    server.close();
  }
  assert.equal(Object.keys(GARBAGE).length, 11);
});

test('a decision is never asked for twice, and a read is tried again', async () => {
  const server = await serve((_, response) =>
    json(response, 503, { error: 'Stopping.', code: 'unavailable' }),
  );
  const guard = createClientGuard({ url: server.url });
  await guard.input('hello');
  assert.equal(server.calls(), 1);
  await assert.rejects(guard.intelligence.recommend(), /Stopping/);
  assert.equal(server.calls(), 4);
  server.close();
});

test('a process that is killed between the call and its answer blocks', async () => {
  const program = `require('node:http').createServer((request) => {
    request.resume().on('end', () => process.kill(process.pid, 'SIGKILL'));
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const { ran, error } = await runTool(createClientGuard({ url: `http://127.0.0.1:${Number(port)}` }));
  assert.equal(ran, 0);
  assert.ok(error instanceof BlockedError);
  assert.equal(child.signalCode ?? (await once(child, 'exit'))[1], 'SIGKILL');
});

test('a wrong key blocks, also if an absent service would not', async () => {
  const apiKeys = [{ id: 'agent', sha256: hash('sha256', KEY, 'hex') }];
  const locked = await startTestService({ config: { auth: { required: true, api_keys: apiKeys } } });
  try {
    const wrong = createClientGuard({ url: locked.url, key: `${KEY}x`, on_unavailable: 'allow' });
    await assertBlocks(wrong, 'sdk.refused', /./);
    const right = await runTool(createClientGuard({ url: locked.url, key: KEY }));
    assert.deepEqual(right, { ran: 1, error: null });
  } finally {
    await locked.stop();
  }
});

test('only an explicit choice lets a tool run without a service', async () => {
  for (const name of ['on_unavailable', 'onUnavailable']) {
    const guard = createClientGuard({ url: 'http://127.0.0.1:9', [name]: 'allow' });
    assert.equal((await runTool(guard)).ran, 1);
    const verdict = await guard.input('hello');
    assert.deepEqual([verdict.decision, verdict.rule, verdict.fault], ['allow', 'sdk.unavailable', true]);
  }
  assert.throws(() => createClientGuard({ on_unavailable: 'open' as 'allow' }), /`block` or `allow`/);
});

test('the guard waits for an approver, or raises with a way to wait', async () => {
  const waiting = createClientGuard({ url: service.url, agent_id: 'support' });
  let ran = 0;
  const done = waiting.run('issue_refund', { amount: 5 }, ({ amount }) => {
    ran += 1;
    return amount;
  });
  assert.equal(await decideNext('approve'), 'approved');
  assert.equal(await done, 5);
  assert.equal(ran, 1);

  const raising = createClientGuard({ url: service.url, agent_id: 'support', on_approval: 'raise' });
  const error = await raising
    .run('issue_refund', { amount: 6 }, () => 'ran')
    .catch((reason: unknown) => reason);
  assert.ok(error instanceof ApprovalRequiredError);
  await decideNext('approve');
  const approvalRequestId = await error.wait();
  assert.equal(
    (await raising.tool('issue_refund', { amount: 6 }, { approval_request_id: approvalRequestId })).decision,
    'allow',
  );
});

test('a denied approval and one in time not given block', async () => {
  const guard = createClientGuard({ url: service.url, agent_id: 'support', approval_timeout_seconds: 20 });
  const denied = guard.run('issue_refund', { amount: 7 }, () => 'ran').catch((reason: unknown) => reason);
  await decideNext('deny');
  assert.match(String(await denied), /is denied/);
  const late = createClientGuard({ url: service.url, agent_id: 'support', approval_timeout_seconds: 0 });
  await assert.rejects(
    late.run('issue_refund', { amount: 8 }, () => 'ran'),
    /was not decided within 0 seconds/,
  );
  await decideNext('deny');
});

test('a clock that is wrong by a year changes nothing', async () => {
  const real = Date.now;
  Date.now = () => real() + 366 * 86_400_000;
  try {
    const guard = createClientGuard({ url: service.url, agent_id: 'support', approval_timeout_seconds: 20 });
    const done = guard.run('issue_refund', { amount: 9 }, () => 'ran');
    assert.equal(await decideNext('approve'), 'approved');
    assert.equal(await done, 'ran');
    assert.equal((await guard.input('hello')).decision, 'allow');
  } finally {
    Date.now = real;
  }
});

test('an advisor without a model back end raises, with instructions', async () => {
  const { intelligence } = createClientGuard({ url: service.url });
  const calls = [
    () => intelligence.recommend({ since: '7d' }),
    () => intelligence.autoConfig({ project: { tools: [] } }),
    () => intelligence.explain('evt_0123456789abcdef01234567'),
    () => intelligence.compliance('HIPAA'),
    () => intelligence.integrate('langchain'),
  ];
  for (const call of calls) {
    await assert.rejects(call(), (error: Error) => {
      assert.ok(error instanceof AIBackendNotConfiguredError, String(error));
      return /intelligence\.backend/.test(error.message);
    });
  }
});

test('a client waits for an advisor longer than the service waits for its model', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const asked = Promise.withResolvers<void>();
  const fetchOnce = (url: string, { signal }: RequestInit): Promise<Response> => {
    if (url.endsWith('/status')) return Promise.resolve(Response.json({ timeout_seconds: 200 }));
    asked.resolve();
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('late'))));
  };
  const guard = createClientGuard({ url: 'http://127.0.0.1:9', timeout_ms: 10_000, fetch: fetchOnce });
  let failure: Error | null = null;
  const ended = guard.intelligence.recommend().catch((error: Error) => {
    failure = error;
  });
  await asked.promise;
  // Two answers of 200 seconds, and time for the checks of the service.
  context.mock.timers.tick(2 * 200_000 + 30_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(failure, null);
  context.mock.timers.tick(10_000);
  await ended;
  assert.match(String(failure), /within 440000 ms/);
});

/** Decides on the next pending request and returns its status. */
async function decideNext(verb: 'approve' | 'deny'): Promise<string> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${operator}` };
  for (let tries = 0; tries < 1_200; tries++) {
    const listed = await fetch(`${service.url}/v1/approvals?status=pending`, { headers });
    const { approvals } = (await listed.json()) as { approvals: { request_id: string }[] };
    const [first] = approvals;
    if (first === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    const path = `${service.url}/v1/approvals/${first.request_id}/${verb}`;
    const answer = await fetch(path, { method: 'POST', headers, body: '{}' });
    return ((await answer.json()) as { status: string }).status;
  }
  throw new Error('no request came');
}
