/** The MCP proxy in front of a server of the revision 2025-11-25 over HTTP, which keeps sessions of its clients. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openApiClient } from '../support/api-client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { callTool, connectGateway, ERAS, newClient } from './connect.ts';
import { type SessionServer, startSessionServer } from './servers/over-http.ts';
import { tool } from './servers/script.ts';

let former: SessionServer;
let service: TestService;
before(async () => {
  former = await startSessionServer({ tools: [tool('do')] });
  service = await startTestService({
    workers: 2,
    config: { mcp: { servers: [{ name: 'former', url: former.url }] } },
  });
});
after(async () => {
  await service?.stop();
  await former?.close();
});

test('each credential has a session, receives changes, and gets a new session if it is lost', async () => {
  const told: string[] = [];
  const client = newClient(ERAS[0]);
  client.setNotificationHandler('notifications/tools/list_changed', () => void told.push('tools'));
  const agent = { 'x-service-agent': 'former', 'x-service-session': 'a' };
  await connectGateway(service, ERAS[0], agent, client);
  const call = () => callTool(client, 'former__do', { path: 'a' });
  try {
    assert.deepEqual((await call()).said, { path: 'a' });
    const mine = former.sessions();
    const other = await connectGateway(service, ERAS[0], { ...agent, 'x-service-session': 'b' });
    assert.equal((await callTool(other, 'former__do', {})).isError, false);
    await other.close();
    assert.equal(former.sessions(), mine, 'sessions of one credential share a connection');
    await client.listen({ toolsListChanged: true });
    await until(() => {
      former.tellToolsChanged();
      return told.length > 0;
    });
    former.forget();
    const lost = [await call(), await call(), await call(), await call()].map(({ isError }) => isError);
    assert.deepEqual(lost, [false, false, false, false]);
  } finally {
    await client.close();
  }
});

test('a call fits its header’s task, and records its trace', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = {
    'x-service-agent': 'former',
    'x-service-task': 'tsk_000000000000000000000000',
    traceparent: `00-${trace}-00f067aa0ba902b7-01`,
  };
  const client = await connectGateway(service, ERAS[1], headers);
  try {
    assert.equal((await callTool(client, 'former__do', {})).isError, true);
  } finally {
    await client.close();
  }
  const { body } = await openApiClient(service)('/v1/audit/query', { body: { decision: 'block', limit: 1 } });
  const [{ policy_name, trace_id }] = body.events;
  assert.deepEqual([policy_name, trace_id], ['task.unknown', trace]);
});

test('sessions are ended at the server when the service stops', async () => {
  assert.ok(former.sessions() > 0);
  await service.stop();
  await until(() => former.sessions() === 0);
});
