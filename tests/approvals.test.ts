// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** Approvals from the outside: real processes, two workers, and the permissions of each caller. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { signWebhook } from '../src/platform/net/webhook-signature.ts';
import { ownNodeEnvironment, runProgram } from './support/checkout.ts';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

const program = resolve(import.meta.dirname, '..', 'service');
const secret = `whsec_${Buffer.from('a secret of this test only').toString('base64')}`;

const KEYS = ['checking', 'reading', 'acme', 'deciding', 'idle'] as const;
const key = (name: string) => `svc_key_${name}`;
const entry = (id: string, more: object = {}) => ({ id, sha256: hash('sha256', key(id), 'hex'), ...more });

const config = {
  policies: [
    {
      name: 'refunds',
      boundary: 'action',
      condition: { tools: ['refund'] },
      action: 'require_approval',
      reason: 'A refund needs an approval.',
    },
    {
      name: 'wires',
      boundary: 'action',
      condition: { tools: ['wire'] },
      action: 'require_approval',
      approval: { min_approvals: 2 },
    },
    {
      name: 'brief',
      boundary: 'action',
      condition: { tools: ['brief'] },
      action: 'require_approval',
      approval: { ttl: '1s' },
    },
    { name: 'drafts', boundary: 'output', data_tags: ['personal'], action: 'require_approval' },
  ],
  auth: {
    api_keys: [
      entry('checking'),
      entry('reading', { permissions: ['check', 'approvals:read'] }),
      entry('acme', { tenants: ['acme'] }),
      // No API key has the permissions that only people have, whatever the configuration says.
      entry('deciding', { permissions: ['check', 'approvals:read', 'approvals:decide'] }),
      entry('idle', { permissions: [] }),
    ],
  },
};

interface Message {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Receives the notifications of approvers, and answers with as many errors as a test requests. */
const told: Message[] = [];
let faults = 0;
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    const isTaken = faults-- <= 0;
    if (isTaken) told.push({ headers: request.headers as Message['headers'], body });
    response.writeHead(isTaken ? 204 : 503).end();
  });
});

let service: TestService;
let operator = '';
before(async () => {
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  service = await started({});
  operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
});
after(async () => {
  await service.stop();
  receiver.close();
});

function started(options: { dir?: string }): Promise<TestService> {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const webhook = { url, secret: '${HOOK_SECRET}', timeout_ms: 2_000 };
  const env = { HOOK_SECRET: secret };
  return startTestService({
    config: { ...config, approvals: { webhook } },
    env,
    keep: true,
    workers: 2,
    ...options,
  });
}

type Headers = Readonly<Record<string, string>>;
const LOOPBACK: Headers = {};
const as = (name: (typeof KEYS)[number]): Headers => ({ 'x-service-key': key(name) });
const asOperator = (): Headers => ({ authorization: `Bearer ${operator}` });

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
type Answer = { readonly status: number; readonly json: any };

async function ask(method: string, path: string, headers: Headers, body?: unknown): Promise<Answer> {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      connection: 'close',
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: await answer.json() };
}

let count = 0;
const refund = (more: object = {}) => ({
  tool: 'refund',
  agent_id: 'clerk',
  session_id: `s-${++count}`,
  input: { order: 'A-17', amount: 120, notify: 'jane.doe@corp-mail.io' },
  ...more,
});

async function requested(call: object, headers: Headers = LOOPBACK): Promise<string> {
  const { status, json } = await ask('POST', '/v1/intercept/tool', headers, call);
  assert.equal(status, 200, JSON.stringify(json));
  assert.equal(json.decision, 'block');
  assert.equal(json.approval.status, 'pending');
  return json.approval.request_id;
}

const decide = (id: string, verb: string, headers: Headers, body?: object) =>
  ask('POST', `/v1/approvals/${id}/${verb}`, headers, body);

test('a call waits, is approved by an operator, and passes once', async () => {
  const call = refund();
  const id = await requested(call);
  assert.equal(await requested(call), id);
  const approved = await decide(id, 'approve', asOperator(), { comment: 'Asked her.' });
  assert.deepEqual(
    [approved.status, approved.json.status, approved.json.decided_by],
    [200, 'approved', 'operator'],
  );
  const retry = { ...call, approval_request_id: id };
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => ask('POST', '/v1/intercept/tool', LOOPBACK, retry)),
  );
  const through = answers.filter(({ json }) => json.decision === 'allow');
  assert.equal(through.length, 1);
  assert.deepEqual(through[0]?.json.approval.status, 'consumed');
  assert.equal(through[0]?.json.rule, 'refunds');
  for (const { json } of answers) assert.equal(json.approval.request_id, id);
  const trail = await ask('POST', '/v1/audit/query', asOperator(), {
    metadata_key: 'approval_request_id',
    metadata_value: id,
    newest_first: false,
    limit: 100,
  });
  const phases = trail.json.events.map((event: { metadata: { phase: string } }) => event.metadata.phase);
  assert.deepEqual(
    phases.filter((phase: string) => phase.startsWith('approval_')),
    ['approval_pending', 'approval_approved', 'approval_consumed'],
  );
  assert.equal(phases.filter((phase: string) => phase === 'request').length, 14);
  assert.ok(!JSON.stringify(trail.json).includes('jane.doe'));
});

test('an output that needs approval is held back until it is approved', async () => {
  const body = { text: 'Mail her at jane.doe@corp-mail.io', agent_id: 'writer' };
  const held = await ask('POST', '/v1/guard/output', LOOPBACK, body);
  assert.equal(held.json.decision, 'block');
  const id = held.json.approval.request_id;
  assert.equal((await decide(id, 'approve', asOperator())).status, 200);
  const given = await ask('POST', '/v1/guard/output', LOOPBACK, { ...body, approval_request_id: id });
  assert.deepEqual(
    [given.json.decision, given.json.action, given.json.modified_text],
    ['allow', 'flag', undefined],
  );
});

/** The expected answer per caller, for a request of the caller `checking` in the tenant `default`. */
const TABLE: readonly (readonly [
  who: string,
  headers: () => Headers,
  answers: Readonly<Record<string, number>>,
])[] = [
  [
    'nobody from elsewhere',
    () => ({ 'x-forwarded-for': '203.0.113.9' }),
    { list: 401, show: 401, approve: 401, deny: 401, cancel: 401 },
  ],
  [
    'a wrong credential',
    () => ({ 'x-service-key': 'svc_key_none' }),
    { list: 401, show: 401, approve: 401, deny: 401, cancel: 401 },
  ],
  [
    'a key without permissions',
    () => as('idle'),
    { list: 403, show: 403, approve: 403, deny: 403, cancel: 403 },
  ],
  [
    'loopback, who did not ask',
    () => LOOPBACK,
    { list: 403, show: 404, approve: 403, deny: 403, cancel: 404 },
  ],
  [
    'the key that asked',
    () => as('checking'),
    { list: 403, show: 200, approve: 403, deny: 403, cancel: 200 },
  ],
  [
    'a key that may read',
    () => as('reading'),
    { list: 200, show: 200, approve: 403, deny: 403, cancel: 404 },
  ],
  [
    'a key of another tenant',
    () => as('acme'),
    { list: 403, show: 404, approve: 403, deny: 403, cancel: 404 },
  ],
  [
    'a key that claims to decide',
    () => as('deciding'),
    { list: 200, show: 200, approve: 403, deny: 403, cancel: 404 },
  ],
  ['a person', asOperator, { list: 200, show: 200, approve: 200, deny: 200, cancel: 200 }],
  [
    'a person in another tenant',
    () => ({ ...asOperator(), 'x-service-tenant': 'acme' }),
    { list: 200, show: 404, approve: 404, deny: 404, cancel: 404 },
  ],
];

test('who may list, show, decide and take back', async () => {
  let tried = 0;
  for (const [who, headers, answers] of TABLE) {
    for (const [verb, expected] of Object.entries(answers)) {
      const id = await requested(refund(), as('checking'));
      const answer =
        verb === 'list'
          ? await ask('GET', '/v1/approvals?status=pending&limit=1', headers())
          : verb === 'show'
            ? await ask('GET', `/v1/approvals/${id}`, headers())
            : await decide(id, verb, headers());
      assert.equal(answer.status, expected, `${who}: ${verb}: ${JSON.stringify(answer.json)}`);
      const { json } = await ask('GET', `/v1/approvals/${id}`, asOperator());
      const isChanged = expected === 200 && verb !== 'list' && verb !== 'show';
      assert.equal(json.status !== 'pending', isChanged, `${who}: ${verb}`);
      if (json.status === 'pending') await decide(id, 'cancel', asOperator());
      tried += 1;
    }
  }
  assert.equal(tried, 50);
});

test('a person does not decide on a call of their own', async () => {
  const id = await requested(refund(), asOperator());
  for (const verb of ['approve', 'deny']) {
    const { status, json } = await decide(id, verb, asOperator());
    assert.deepEqual([status, json.code], [403, 'forbidden']);
  }
  assert.equal((await decide(id, 'cancel', asOperator())).status, 200);
});

test('what is not pending is a conflict, what is not there is not found, what is no request is refused', async () => {
  const id = await requested(refund());
  assert.equal((await decide(id, 'deny', asOperator())).status, 200);
  for (const verb of ['approve', 'deny', 'cancel']) {
    const { status, json } = await decide(id, verb, asOperator());
    assert.deepEqual([status, json.code], [409, 'conflict'], verb);
    assert.match(json.error, /it is denied/);
  }
  const none = 'apr_000000000000000000000000';
  const unknown = await decide(none, 'approve', asOperator());
  assert.equal(unknown.status, 404);
  assert.match(unknown.json.error, new RegExp(`no request \`${none}\`. \`customshouse approvals list`));
  assert.match(
    (await decide('pasted-value', 'approve', asOperator())).json.error,
    /^There is no such request\./,
  );
  assert.equal((await ask('GET', `/v1/approvals/${none}?wait=1s`, asOperator())).status, 404);
  const wrong: readonly (readonly [string, string, unknown?])[] = [
    ['GET', '/v1/approvals?status=waiting'],
    ['GET', '/v1/approvals?limit=0'],
    ['GET', '/v1/approvals?limit=ten'],
    ['GET', '/v1/approvals?limit=1&limit=2'],
    ['GET', `/v1/approvals/${id}?wait=forever`],
    ['GET', '/v1/approvals/a%20b'],
    ['POST', `/v1/approvals/${id}/approve`, { comment: 'a'.repeat(1_001) }],
    ['POST', `/v1/approvals/${id}/approve`, ['a']],
    ['POST', `/v1/approvals/${id}/approve`, { comment: 1 }],
    ['POST', `/v1/approvals/${id}/approve`, { comment: 'a', note: 'b' }],
    ['POST', `/v1/approvals/${id}/deny`, { approver: 'a', approver_id: 'b' }],
  ];
  for (const [method, path, body] of wrong) {
    const { status, json } = await ask(method, path, asOperator(), body);
    assert.deepEqual([status, json.code], [400, 'invalid_request'], path);
  }
});

test('an expiry is reported as such, to the agent and to the approver', async () => {
  const call = refund({ tool: 'brief' });
  const id = await requested(call);
  const waited = await ask('GET', `/v1/approvals/${id}?wait=10s`, LOOPBACK);
  assert.equal(waited.json.status, 'expired');
  const late = await decide(id, 'approve', asOperator());
  assert.equal(late.status, 409);
  const { json } = await ask('POST', '/v1/intercept/tool', LOOPBACK, { ...call, approval_request_id: id });
  assert.deepEqual([json.decision, json.approval.status], ['block', 'expired']);
  assert.match(json.reason, /was not denied/);
});

test('a caller that waits in one worker receives the decision from another, and one that leaves is removed', async () => {
  const id = await requested(refund());
  const waiting = Array.from({ length: 10 }, () => ask('GET', `/v1/approvals/${id}?wait=30s`, LOOPBACK));
  const gone = new AbortController();
  const left = fetch(`${service.url}/v1/approvals/${id}?wait=30s`, { signal: gone.signal });
  await sleep(300);
  gone.abort();
  await assert.rejects(left);
  assert.equal((await decide(id, 'approve', asOperator())).status, 200);
  for (const { json } of await Promise.all(waiting)) assert.equal(json.status, 'approved');
});

async function cli(...args: string[]) {
  return runProgram([program, 'approvals', ...args], {
    cwd: service.dir,
    env: { ...ownNodeEnvironment(), HOOK_SECRET: secret },
  });
}

test('a note is kept under the names that clients use for it', async () => {
  const id = await requested(refund({ agent_id: 'noted' }));
  const body = { approver_id: 'ann', note: 'Reviewed with the customer.' };
  const { json } = await decide(id, 'approve', asOperator(), body);
  assert.deepEqual([json.votes[0].approver, json.votes[0].comment], ['ann', 'Reviewed with the customer.']);
  const other = await requested(refund({ agent_id: 'noted-too' }));
  assert.equal((await cli('deny', other, '--note', 'Not to this address.')).code, 0);
  assert.match((await cli('show', other)).stdout, /denied .*: Not to this address\./);
});

test('the command line does the same through the service', async () => {
  const id = await requested(refund({ agent_id: 'cli-clerk' }));
  const list = await cli('list', '--agent', 'cli-clerk');
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, new RegExp(`${id}\\s+pending\\s+cli-clerk\\s+refund\\s+refunds`));
  assert.ok(!list.stdout.includes('jane.doe'));
  const show = await cli('show', id);
  assert.match(show.stdout, /arguments +\{"order":"A-17","amount":120,"notify":"\[REDACTED\]"\}/);
  const wire = await requested(refund({ tool: 'wire' }));
  const first = await cli('approve', wire, '--comment', 'Fine.');
  assert.match(first.stdout, /has 1 of the 2 approvals/);
  const again = await cli('approve', wire);
  assert.deepEqual([again.code, /Another approver/.test(again.stderr)], [1, true]);
  const approved = await cli('approve', id, '--approver', 'Ann', '--json');
  const { status, decided_by, votes } = JSON.parse(approved.stdout);
  assert.equal(status, 'approved');
  assert.match(decided_by, /^cli:/);
  assert.equal(votes[0].approver, 'Ann');
  for (const verb of ['approve', 'deny', 'cancel']) assert.equal((await cli(verb, id)).code, 1, verb);
  assert.equal((await cli('show', 'apr_none')).code, 1);
  assert.equal((await cli('list', '--status', 'waiting')).code, 2);
  const none = await cli('list', '--agent', 'nobody');
  assert.deepEqual([none.code, none.stdout], [0, 'There are no such requests.\n']);
});

test('a restart keeps pending requests and webhooks; without a service the store is opened', async () => {
  faults = Number.POSITIVE_INFINITY;
  const call = refund({ agent_id: 'keeper' });
  const id = await requested(call);
  await service.kill('SIGKILL');
  const alone = await cli('approve', id);
  assert.equal(alone.code, 0, alone.stderr);
  faults = 1;
  service = await started({ dir: service.dir });
  const { json } = await ask('POST', '/v1/intercept/tool', LOOPBACK, { ...call, approval_request_id: id });
  assert.deepEqual([json.decision, json.approval.status], ['allow', 'consumed']);
  const ofThis = () => told.filter(({ body }) => body.includes(id)).map(({ body }) => JSON.parse(body).type);
  const all = ['approval.approved', 'approval.consumed', 'approval.pending'];
  await until(() => all.every((type) => ofThis().includes(type)));
  assert.deepEqual([...new Set(ofThis())].sort(), all);
});

test('approvers are notified by signed messages with the masked call', () => {
  assert.ok(told.length > 20, `${told.length}`);
  for (const { headers, body } of told) {
    const messageId = headers['webhook-id']!;
    const timestampS = Number(headers['webhook-timestamp']);
    assert.equal(
      headers['webhook-signature'],
      signWebhook({ message_id: messageId, timestamp_s: timestampS, body }, secret),
    );
    assert.ok(Math.abs(Date.now() / 1_000 - timestampS) < 600);
    assert.ok(!/jane\.doe/.test(body), body);
    const { type, data } = JSON.parse(body);
    const { action_shown, ...rest } = data;
    assert.equal(action_shown !== undefined, type === 'approval.pending');
    assert.ok(!/A-17/.test(JSON.stringify(rest)), body);
    assert.match(type, /^approval\./);
    assert.match(data.request_id, /^apr_/);
  }
});

test('a service that stops answers those who wait', async () => {
  const id = await requested(refund());
  const waiting = Array.from({ length: 6 }, () => ask('GET', `/v1/approvals/${id}?wait=60s`, LOOPBACK));
  await sleep(2_000);
  const ending = await service.kill('SIGTERM');
  for (const { status, json } of await Promise.all(waiting))
    assert.deepEqual([status, json.status], [200, 'pending']);
  // No connection had to be aborted.
  assert.deepEqual(ending, { code: 0, signal: null });
});
