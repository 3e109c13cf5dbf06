/**
 * The MCP proxy in front of configured servers, over HTTP and over standard input and output: valid, poisoned and
 * faulty ones.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  callTool,
  connectGateway,
  connectStdio,
  decide,
  ERAS,
  type Era,
  inspect,
  listOnNewConnection,
  newClient,
  noInspector,
} from './connect.ts';
import { type HttpServer, type Manner, startHttpServer } from './servers/over-http.ts';
import { INJECTION, KEY, type Script, text, tool } from './servers/script.ts';

const LONG = `tool.${'with-a-very-long-name-'.repeat(4)}`;

const GOOD: Script = {
  tools: [
    tool('read'),
    tool('leak'),
    tool('headers'),
    tool('refuse'),
    tool('hidden'),
    tool(LONG),
    ...['book', 'cancel'].map((name) => tool(name)),
  ],
  answers: {
    book: '$ask',
    cancel: '$ask',
    leak: text(`The key is ${KEY}.`),
    headers: '$headers',
    refuse: '$refuse',
    [LONG]: { content: [{ type: 'resource_link', uri: 'file:///a.txt', name: 'a' }] },
  },
  resources: [{ uri: 'file:///a.txt', name: 'a' }],
  templates: [{ uriTemplate: 'file:///{name}', name: 'any' }],
  contents: {
    'file:///a.txt': { uri: 'file:///a.txt', text: 'Nothing of note.' },
    'file:///bad': { uri: 'file:///bad', text: INJECTION },
  },
  prompts: [{ name: 'greet', description: 'Greets.' }],
  messages: { greet: { messages: [{ role: 'user', content: { type: 'text', text: 'Say hello.' } }] } },
};
const RUDE: readonly Manner[] = ['redirect', 'error', 'garbage', 'giant', 'giant-event', 'slow-headers'];
const ONE: Script = { tools: [tool('do')] };

let good: HttpServer;
let turning: HttpServer;
let rude: Map<string, HttpServer>;
let redirecting: HttpServer;
let service: TestService;

before(async () => {
  good = await startHttpServer(GOOD);
  turning = await startHttpServer(ONE);
  redirecting = await startHttpServer(ONE, 'redirect', true);
  rude = new Map();
  for (const manner of RUDE) rude.set(manner, await startHttpServer(ONE, manner));
  const servers = [
    {
      name: 'good',
      url: good.url,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own reference is meant.
      bearer_token: '${GOOD_TOKEN}',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own reference is meant.
      headers: { 'x-extra': '${GOOD_EXTRA}' },
      deny: ['hid*'],
    },
    { name: 'turning', url: turning.url },
    { name: 'moved', url: redirecting.url },
    { name: 'nobody', url: 'http://127.0.0.1:9/mcp' },
    { name: 'cloud', url: 'http://169.254.169.254/latest' },
    { name: 'others', url: good.url, agents: ['somebody-else'] },
    ...[...rude].map(([name, { url }]) => ({ name, url, timeout_ms: 1_500, response_bytes_max: 100_000 })),
  ];
  service = await startTestService({
    workers: WORKERS,
    config: {
      mcp: { servers },
      policies: [
        {
          name: 'payments-need-a-person',
          boundary: 'action',
          condition: { tools: ['turning__pay'] },
          action: 'require_approval',
          reason: 'A payment needs a person.',
        },
        {
          name: 'no-reading-of-secrets',
          boundary: 'action',
          condition: { tools: ['good__resources/subscribe'], agents: ['nosy'] },
          action: 'block',
          reason: 'Nothing is watched.',
        },
      ],
    },
    env: { GOOD_TOKEN: 'token-of-good', GOOD_EXTRA: 'extra' },
  });
});
after(async () => {
  await service?.stop();
  for (const server of [good, turning, redirecting, ...(rude?.values() ?? [])]) await server?.close();
});

async function through<T>(era: Era, use: (client: Client) => Promise<T>, headers?: Record<string, string>) {
  const client = await connectGateway(service, era, headers);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const getNames = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

for (const era of ERAS)
  test(`tools, resources and prompts of all servers under their own names, over HTTP, ${era}`, () =>
    through(era, async (client) => {
      // A list does not wait long for a slow server.
      await until(async () => (await getNames(client)).some((name) => name.startsWith('good__')));
      const names = await getNames(client);
      const long = names.find((name) => name.startsWith('good__tool_with'));
      assert.match(long ?? '', /^[a-z0-9_-]{55}_[0-9a-f]{8}$/);
      assert.deepEqual(
        names.filter((name) => name.startsWith('good__')),
        ['good__read', 'good__leak', 'good__headers', 'good__refuse', long, 'good__book', 'good__cancel'],
      );
      assert.deepEqual(
        names.filter((name) => /^(moved|nobody|cloud|others)__/.test(name)),
        [],
      );
      const told = await callTool(client, 'good__read', { path: 'notes.txt' });
      assert.deepEqual([told.isError, told.said], [false, { path: 'notes.txt' }]);
      assert.equal((await callTool(client, 'good__leak', {})).said.text, 'The key is [REDACTED].');
      const refused = await callTool(client, 'good__refuse', {});
      assert.deepEqual([refused.isError, /`path` is missing/.test(String(refused.said.text))], [true, true]);
      for (const name of ['good__hidden', 'others__read', 'read', 'good__nothing', 'moved__do'])
        assert.equal((await callTool(client, name, {})).isError, true, name);
      const [link] = (await client.callTool({ name: long!, arguments: {} })).content as { uri: string }[];
      assert.equal(link?.uri, 'good+file:///a.txt');
      const { resources } = await client.listResources();
      assert.ok(resources.some(({ uri }) => uri === 'good+file:///a.txt'));
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.ok(resourceTemplates.some(({ uriTemplate }) => uriTemplate === 'good+file:///{name}'));
      const read = await client.readResource({ uri: 'good+file:///a.txt' });
      assert.deepEqual(read.contents[0], { uri: 'good+file:///a.txt', text: 'Nothing of note.' });
      await assert.rejects(client.readResource({ uri: 'good+file:///bad' }), /Blocked by the policy/);
      await assert.rejects(client.readResource({ uri: 'file:///a.txt' }), /has such a resource/);
      assert.ok((await client.listPrompts()).prompts.some(({ name }) => name === 'good__greet'));
      assert.equal((await client.getPrompt({ name: 'good__greet' })).messages.length, 1);
      if (era === '2025-11-25') await client.ping();
    }));

test('a server gets the configured credentials, and none of the caller’s', () =>
  through(
    ERAS[0],
    async (client) => {
      const { said } = await callTool(client, 'good__headers', {});
      assert.equal(good.headers().authorization, 'Bearer token-of-good');
      assert.equal(good.headers()['x-extra'], 'extra');
      assert.equal(JSON.stringify([said, good.headers()]).includes('of-the-caller'), false);
    },
    { 'x-own': 'of-the-caller' },
  ));

const sure = { action: 'accept', content: { name: 'Ada' } } as const;

/** Calls a tool whose server asks a question, with an earlier answer's state. Returns the text or the state. */
async function askTool(name: string, room: number, requestState?: string, session = 'one', agent = 'tester') {
  const client = newClient(ERAS[0], { elicitation: { form: {} } });
  const headers = { 'x-service-session': session, 'x-service-agent': agent };
  await connectGateway(service, ERAS[0], headers, client);
  try {
    const call = { name, arguments: { room }, ...(requestState !== undefined && { requestState }) };
    const answered = requestState === undefined ? {} : { inputResponses: { sure } };
    const result = await client.callTool({ ...call, ...answered }, { allowInputRequired: true });
    const { content, requestState: state } = result as unknown as {
      content?: readonly { text: string }[];
      requestState?: string;
    };
    return state ?? content![0]!.text;
  } finally {
    await client.close();
  }
}

test('a state returns for its request and its client only', async () => {
  const state = await askTool('good__book', 1);
  const answer = JSON.stringify([sure, 'step-1']);
  // Each call has a new connection, so that both workers verify it.
  for (let at = 0; at < 4; at++) assert.equal(await askTool('good__book', 1, state), answer);
  const [head, body, mac] = state.split('.') as [string, string, string];
  const forge = (from: string, to: string) =>
    Buffer.from(Buffer.from(body, 'base64url').toString().replace(from, to)).toString('base64url');
  const foreign = await Promise.all([
    askTool('good__cancel', 1, state),
    askTool('good__book', 2, state),
    askTool('good__book', 1, state, 'two'),
    askTool('good__book', 1, state, 'one', 'other'),
    askTool('good__book', 1, [head, forge('step-1', 'step-2'), mac].join('.')),
    askTool(
      'good__book',
      1,
      [head, body, mac.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))].join('.'),
    ),
    askTool('good__book', 1, Buffer.from(JSON.stringify(['good', 'step-1'])).toString('base64url')),
    askTool('good__book', 1, 'step-1'),
    askTool('good__book', 1, ''),
  ]);
  for (const said of foreign) assert.match(said, /^The `requestState` belongs to another request or client/);
  assert.equal(foreign.length, 9);
});

test('rude servers are errors in time, and nothing of what they say passes', () =>
  through(ERAS[0], async (client) => {
    assert.deepEqual(
      (await getNames(client)).filter((name) => RUDE.some((one) => name === `${one}__do`)),
      RUDE.map((one) => `${one}__do`),
    );
    for (const manner of RUDE) {
      const told = await callTool(client, `${manner}__do`, {});
      assert.equal(told.isError, true, manner);
      assert.match(String(told.said.text), /did not answer; the call may have run/, manner);
      assert.doesNotMatch(String(told.said.text), /Ignore|stack|a a a/, manner);
    }
    assert.deepEqual(rude.get('redirect')?.seen.methods.includes('elsewhere'), false);
    assert.deepEqual(redirecting.seen.methods, []);
    assert.equal(RUDE.length, 6);
  }));

test('addresses where clouds keep credentials are not called', () =>
  through(ERAS[0], async (client) => {
    const told = await callTool(client, 'cloud__do', {});
    assert.match(String(told.said.text), /clouds keep the credentials/);
    assert.equal(told.isError, true);
  }));

/** Returns the number of tool lists that were checked for an agent. */
async function getLooks(agentId: string): Promise<number> {
  const token = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${service.url}/v1/audit/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id: agentId, tool_name: 'tools/list' }),
  });
  return ((await answer.json()) as { events: object[] }).events.length;
}

/** The number of workers of the tests' service. */
const WORKERS = 2;

/** Returns the number of times that a server's tools were listed. */
const getLists = ({ seen }: HttpServer) => seen.methods.filter((method) => method === 'tools/list').length;

test('a definition that changes is one event and never called, and the same one is no event', async () => {
  const agent = { 'x-service-agent': 'changer', 'x-service-session': 'changes' };
  await through(
    ERAS[0],
    async (client) => {
      assert.ok((await getNames(client)).includes('turning__do'));
      // Each worker has its own connection to the server, on which it listens, and its own list.
      await until(async () => {
        await listOnNewConnection(service, ERAS[0]);
        return turning.listeners() === WORKERS;
      });
      const first = getLists(turning);
      turning.turn({ tools: [tool('do'), tool('more')] });
      turning.notify.toolsChanged();
      await until(() => getLists(turning) >= first + WORKERS);
      assert.equal(getLists(turning), first + WORKERS, 'each worker asks once');
      assert.ok((await getNames(client)).includes('turning__more'));
      const asked = getLists(turning);
      const before = await getLooks('changer');
      for (let time = 0; time < 5; time++)
        assert.equal((await callTool(client, 'turning__do', {})).isError, false);
      assert.equal(await getLooks('changer'), before, 'five calls, and no other look');
      assert.equal(getLists(turning), asked, 'the list is read again if it may have changed');
      turning.turn({ tools: [tool('do', { description: 'Does something else.' }), tool('more')] });
      turning.notify.toolsChanged();
      await until(async () => (await callTool(client, 'turning__do', {})).isError);
      const { length } = turning.seen.calls;
      for (let time = 0; time < 3; time++) {
        const told = await callTool(client, 'turning__do', {});
        assert.match(String(told.said.text), /held back.*changed since it was pinned/);
      }
      assert.equal(turning.seen.calls.length, length, 'nothing was forwarded');
      assert.equal(await getLooks('changer'), before + 1);
      assert.equal((await callTool(client, 'turning__more', {})).isError, false);
      turning.turn(ONE);
      turning.notify.toolsChanged();
      await until(async () => !(await callTool(client, 'turning__do', {})).isError);
    },
    agent,
  );
});

test('a poisoned server over HTTP shows nothing of it', async () => {
  const hidden = tool('evil', { description: INJECTION });
  turning.turn({ tools: [tool('do'), hidden] });
  await through(ERAS[1], async (client) => {
    assert.deepEqual(
      (await getNames(client)).filter((name) => name.startsWith('turning__')),
      ['turning__do'],
    );
    assert.equal((await callTool(client, 'turning__evil', {})).isError, true);
  });
  turning.turn(ONE);
});

test('an approval is found by the same call, whichever worker and connection it comes over', async () => {
  turning.turn({ tools: [tool('do'), tool('pay')] });
  const pay = (path: string) => through(ERAS[1], (client) => callTool(client, 'turning__pay', { path }));
  const told = await pay('one');
  const requestId = /apr_[0-9a-f]+/.exec(String(told.said.text))?.[0];
  assert.ok(told.isError && requestId !== undefined);
  await decide(service, requestId, 'approve');
  assert.equal((await pay('two')).isError, true);
  assert.equal((await pay('one')).isError, false);
  assert.equal((await pay('one')).isError, true);
});

test('the user of the client is referred to the approval, and their answer approves nothing', async () => {
  turning.turn({ tools: [tool('do'), tool('pay')] });
  const asked: string[] = [];
  const client = newClient(ERAS[0], { elicitation: {} });
  let does: (requestId: string) => Promise<'accept' | 'decline' | 'cancel'> = async () => 'accept';
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const requestId = /apr_[0-9a-f]{24}/.exec(params.message)![0];
    asked.push(params.message);
    return { action: await does(requestId), content: {} };
  });
  await connectGateway(service, ERAS[0], {}, client);
  try {
    does = async (requestId) => {
      await decide(service, requestId, 'approve');
      return 'accept';
    };
    assert.equal((await callTool(client, 'turning__pay', { path: 'a' })).isError, false);
    does = async (requestId) => {
      await decide(service, requestId, 'deny');
      return 'accept';
    };
    assert.match(String((await callTool(client, 'turning__pay', { path: 'b' })).said.text), /is denied/);
    does = async () => 'decline';
    assert.match(String((await callTool(client, 'turning__pay', { path: 'c' })).said.text), /was cancelled/);
    does = async () => 'cancel';
    const { length } = turning.seen.calls;
    assert.match(
      String((await callTool(client, 'turning__pay', { path: 'd' })).said.text),
      /approvals approve apr_\w+`; then repeat it/,
    );
    assert.equal(turning.seen.calls.length, length);
    assert.equal(asked.length, 4);
    assert.match(asked[0]!, /customshouse approvals approve apr_.*accepting here approves nothing/);
  } finally {
    await client.close();
  }
});

test('changes of lists and of resources are sent to subscribers', async () => {
  const lists: string[] = [];
  const client = newClient(ERAS[0]);
  client.setNotificationHandler('notifications/tools/list_changed', () => void lists.push('tools'));
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void lists.push(params.uri),
  );
  await connectGateway(service, ERAS[0], { 'x-service-session': 'listening' }, client);
  try {
    const uri = 'good+file:///a.txt';
    const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
    assert.deepEqual(subscription.honoredFilter, { toolsListChanged: true, resourceSubscriptions: [uri] });
    await until(() => {
      good.notify.toolsChanged();
      good.notify.resourceUpdated('file:///a.txt');
      good.notify.resourceUpdated('file:///other.txt');
      return lists.includes('tools') && lists.includes(uri);
    });
    assert.deepEqual(
      lists.filter((one) => one.includes('other')),
      [],
    );
    await subscription.close();
  } finally {
    await client.close();
  }
  const nosy = await connectGateway(service, ERAS[0], { 'x-service-agent': 'nosy' });
  await assert.rejects(
    nosy.listen({ resourceSubscriptions: ['good+file:///a.txt'] }),
    /Blocked by the policy/,
  );
  await nosy.close();
});

test('who calls off a call calls it off at the server, and progress comes as numbers', async () => {
  turning.turn({ tools: [tool('wait'), tool('step')], answers: { wait: '$hang', step: '$progress' } });
  await through(ERAS[0], async (client) => {
    const told: object[] = [];
    const done = await client.callTool(
      { name: 'turning__step', arguments: {} },
      { onprogress: (progress) => void told.push(progress) },
    );
    assert.deepEqual(done.content, [{ type: 'text', text: 'done' }]);
    assert.deepEqual(told, [
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
    const off = new AbortController();
    const call = client.callTool({ name: 'turning__wait', arguments: {} }, { signal: off.signal });
    await until(() => turning.seen.calls.includes('wait'));
    off.abort();
    await assert.rejects(call);
    await until(() => turning.seen.cancelled === 1);
  });
  turning.turn(ONE);
});

test('the same servers on standard output, for one agent', async () => {
  const client = await connectStdio({
    era: ERAS[0],
    dir: service.dir,
    args: ['--gateway', '--agent', 'somebody-else'],
    env: { GOOD_TOKEN: 'token-of-good', GOOD_EXTRA: 'extra' },
  });
  try {
    // A list does not wait long for one of several servers, so the test polls until both have connected.
    await until(async () => {
      const names = await getNames(client);
      return names.includes('good__read') && names.includes('others__read');
    });
    assert.deepEqual((await callTool(client, 'good__read', { path: 'a' })).said, { path: 'a' });
  } finally {
    await client.close();
  }
});

test('the inspector’s command line sees the tools of all servers', { skip: noInspector }, async () => {
  const url = new URL('/mcp/gateway', service.url).href;
  const { tools } = (await inspect(
    service.dir,
    [url, '--transport', 'http'],
    ['--method', 'tools/list'],
  )) as {
    tools: { name: string }[];
  };
  assert.ok(tools.some(({ name }) => name === 'good__read'));
});
