/**
 * The service as an MCP server: every tool, over both transports, in both revisions, with and without an operator
 * token.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { MAIN_FILE } from '../../src/entry/cli/testing/main-file.ts';
import { operations } from '../../src/server/operations.ts';
import { startTestService, type TestService } from '../support/service.ts';
import {
  callTool,
  connectHttp,
  connectStdio,
  ERAS,
  type Era,
  inspect,
  type McpNotice,
  noInspector,
  SAMPLE_ERAS,
} from './connect.ts';

const KEY = ['sk-', 'ABCDEF1234567890'].join('');
const ASKS = {
  name: 'refunds-need-a-person',
  boundary: 'action',
  condition: { tools: ['issue_refund'] },
  action: 'require_approval',
  reason: 'A refund needs an approval.',
};

let service: TestService;
let operator: string;
before(async () => {
  service = await startTestService({ config: { policies: [ASKS] } });
  operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
});
after(() => service?.stop());

type Who = 'agent' | 'person';
type Transport = 'stdio' | 'http';

async function connect(transport: Transport, era: Era, who: Who): Promise<Client> {
  const token = who === 'person' ? operator : null;
  if (transport === 'http') {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    return connectHttp({ era, url: service.url, headers });
  }
  return connectStdio({
    era,
    dir: service.dir,
    ...(token !== null && { env: { SERVICE_OPERATOR_TOKEN: token } }),
  });
}

async function withClient<T>(
  transport: Transport,
  era: Era,
  who: Who,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connect(transport, era, who);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Requests a refund over HTTP, so that the approver is another caller. */
async function refundAsked(): Promise<string> {
  const answer = await fetch(`${service.url}/v1/intercept/tool`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tool: 'issue_refund', input: { order: 'A-17' }, agent_id: 'support-bot' }),
  });
  const { approval } = (await answer.json()) as { approval: { request_id: string } };
  return approval.request_id;
}

interface ToolCase {
  readonly tool: string;
  readonly args: () => object | Promise<object>;
  /** Checks the answer. */
  readonly holds: (told: McpNotice) => void;
  /** Only people may call the tool. */
  readonly person?: true;
}

const CASES: readonly ToolCase[] = [
  {
    tool: 'scan_input',
    args: () => ({ text: `Use key ${KEY}` }),
    holds: ({ said }) => assert.equal(said.decision, 'block'),
  },
  {
    tool: 'guard_output',
    args: () => ({ text: 'Write to jane.doe@corp-mail.io' }),
    holds: ({ said }) => assert.equal(said.modified_text, 'Write to [REDACTED]'),
  },
  {
    tool: 'intercept_tool',
    args: () => ({ tool: 'send_email', input: { to: 'team@corp.test' }, agent_id: 'support-bot' }),
    holds: ({ said }) => assert.equal(said.tool, 'send_email'),
  },
  {
    tool: 'query_audit',
    args: () => ({ boundary: 'input', limit: 1 }),
    holds: ({ said }) => assert.equal(said.count, 1),
  },
  {
    tool: 'health_check',
    args: () => ({}),
    holds: ({ said }) => assert.equal(said.status, 'healthy'),
  },
  { tool: 'list_plugins', args: () => ({}), holds: ({ said }) => assert.ok(Array.isArray(said.plugins)) },
  { tool: 'check_budget', args: () => ({}), holds: ({ said }) => assert.deepEqual(said.budgets, []) },
  {
    tool: 'reload_policies',
    args: () => ({}),
    holds: ({ said }) => assert.equal(said.reloaded, true),
    person: true,
  },
  {
    tool: 'approve',
    args: async () => ({ request_id: await refundAsked() }),
    holds: ({ said }) => assert.deepEqual([said.status, said.decided_by], ['approved', 'operator']),
    person: true,
  },
  {
    tool: 'deny',
    args: async () => ({ request_id: await refundAsked(), comment: 'Not this one.' }),
    holds: ({ said }) => assert.equal(said.status, 'denied'),
    person: true,
  },
];

test('the cases are the tools, and the tools are what the records say', () => {
  const told = operations.flatMap(({ mcp }) => (mcp === undefined ? [] : [mcp.tool]));
  assert.deepEqual(CASES.map(({ tool }) => tool).sort(), told.sort());
});

for (const transport of ['stdio', 'http'] as const)
  for (const era of transport === 'http' ? ERAS : SAMPLE_ERAS) {
    test(`over ${transport}, ${era}: a person has every tool answered`, async () => {
      const count = await withClient(transport, era, 'person', async (client) => {
        assert.equal(client.getNegotiatedProtocolVersion(), era);
        for (const { tool, args, holds } of CASES) {
          const told = await callTool(client, tool, await args());
          assert.equal(told.isError, false, `${tool}: ${JSON.stringify(told.said)}`);
          assert.deepEqual(told.structured, told.said, tool);
          holds(told);
        }
        return CASES.length;
      });
      assert.equal(count, 10);
    });

    test(`over ${transport}, ${era}: an agent is refused operator tools, and has the rest`, async () => {
      const refused = await withClient(transport, era, 'agent', async (client) => {
        const words: string[] = [];
        for (const { tool, args, person } of CASES) {
          const told = await callTool(client, tool, await args());
          assert.equal(told.isError, person === true, `${tool}: ${JSON.stringify(told.said)}`);
          if (person !== true) continue;
          assert.equal(told.said.code, 'forbidden');
          words.push(String(told.said.error));
        }
        return words;
      });
      assert.equal(refused.length, 3);
      const next = transport === 'stdio' ? /SERVICE_OPERATOR_TOKEN/ : /operator token as `Authorization/;
      for (const sentence of refused) assert.match(sentence, next);
    });

    test(`over ${transport}, ${era}: who asks cannot approve, not even with the operator token`, async () => {
      await withClient(transport, era, 'person', async (client) => {
        const asked = { tool: 'issue_refund', input: { order: 'B-1' }, agent_id: 'support-bot' };
        const { said } = await callTool(client, 'intercept_tool', asked);
        const { request_id } = said.approval as { request_id: string };
        const told = await callTool(client, 'approve', { request_id });
        assert.deepEqual([told.isError, told.said.code], [true, 'forbidden']);
        assert.match(String(told.said.error), /own request/);
      });
    });

    test(`over ${transport}, ${era}: an unknown tool and an invalid input are reported`, async () => {
      await withClient(transport, era, 'agent', async (client) => {
        await assert.rejects(client.callTool({ name: 'policies_reload', arguments: {} }), /no such tool/);
        const told = await callTool(client, 'scan_input', { text: 5 });
        assert.deepEqual([told.isError, told.said.code], [true, 'invalid_request']);
      });
    });
  }

test('a token that is not the operator’s grants no operator rights', async () => {
  const wrong = ['svc', 'operator', 'x'.repeat(43)].join('_');
  const client = await connectStdio({
    era: ERAS[0],
    dir: service.dir,
    env: { SERVICE_OPERATOR_TOKEN: wrong },
  });
  try {
    const told = await callTool(client, 'approve', { request_id: await refundAsked() });
    assert.deepEqual([told.isError, told.said.code], [true, 'forbidden']);
    assert.match(String(told.said.error), /is not the operator token/);
  } finally {
    await client.close();
  }
  await assert.rejects(
    connectHttp({ era: ERAS[0], url: service.url, headers: { authorization: `Bearer ${wrong}` } }),
  );
});

test('the list has what clients need: schemas, hints, and how long it is valid', async () => {
  const listed = await withClient('stdio', ERAS[0], 'agent', (client) => client.listTools());
  assert.deepEqual(
    listed.tools.map(({ name }) => name),
    CASES.map(({ tool }) => tool).sort(),
  );
  assert.deepEqual([listed.cacheScope, listed.ttlMs], ['public', 300_000]);
  const hints = Object.fromEntries(listed.tools.map(({ name, annotations }) => [name, annotations]));
  assert.equal(hints.scan_input?.readOnlyHint, true);
  assert.equal(hints.approve?.destructiveHint, true);
  for (const { inputSchema, outputSchema } of listed.tools)
    assert.deepEqual([inputSchema.type, outputSchema?.type], ['object', 'object']);
  for (const { name, inputSchema } of listed.tools)
    for (const word of ['allOf', 'anyOf', 'oneOf'])
      assert.ok(
        !(word in inputSchema),
        `${name}: providers of models refuse \`${word}\` at the top of a schema`,
      );
  const intercept = listed.tools.find(({ name }) => name === 'intercept_tool')!.inputSchema;
  assert.deepEqual(intercept.required, ['tool']);
  for (const name of ['tool', 'input', 'arguments', 'args', 'parameters', 'params', 'tool_input'])
    assert.ok(Object.hasOwn(intercept.properties ?? {}, name), name);
});

test('calls are in the audit log under the name of who asked', async () => {
  const answer = await withClient('stdio', ERAS[0], 'agent', async (client) => {
    const { said } = await callTool(client, 'scan_input', { text: 'hello', agent_id: 'audited' });
    const mine = await callTool(client, 'query_audit', { event_id: said.event_id });
    return mine.said as { events: { caller_id: string; agent_id: string }[] };
  });
  assert.equal(answer.events.length, 1);
  assert.match(answer.events[0]!.caller_id, /^mcp:/);
  assert.equal(answer.events[0]!.agent_id, 'audited');
});

test('without a service the tools decide by themselves, and say what needs one', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'service-mcp-'));
  const client = await connectStdio({ era: ERAS[0], dir });
  try {
    const scanned = await callTool(client, 'scan_input', { text: `Use key ${KEY}` });
    assert.equal(scanned.said.decision, 'block');
    const { event_id } = scanned.said;
    assert.equal((await callTool(client, 'query_audit', { event_id })).said.count, 1);
    const told = await callTool(client, 'health_check', {});
    assert.deepEqual([told.isError, told.said.code], [true, 'unavailable']);
    assert.match(String(told.said.error), /customshouse serve/);
  } finally {
    await client.close();
    rmSync(dir, { recursive: true });
  }
});

interface Raw {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  readonly code?: number;
}

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const MODERN = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'health_check',
    arguments: {},
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};
const HEADERS = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'health_check',
};

const RAW: readonly Raw[] = [
  { name: 'as it should be', headers: HEADERS, body: JSON.stringify(MODERN), status: 200 },
  {
    name: 'a header that names another tool',
    headers: { ...HEADERS, 'mcp-name': 'scan_input' },
    body: JSON.stringify(MODERN),
    status: 400,
    code: -32020,
  },
  { name: 'a foreign page', headers: { origin: 'http://evil.test' }, body: LIST, status: 403, code: -32600 },
  { name: 'a page of this machine', headers: { origin: 'http://localhost:5173' }, body: LIST, status: 200 },
  { name: 'a proxy in between', headers: { 'x-forwarded-for': '203.0.113.9' }, body: LIST, status: 401 },
  { name: 'no JSON', headers: {}, body: '{', status: 400, code: -32700 },
  { name: 'another type', headers: { 'content-type': 'text/plain' }, body: LIST, status: 415 },
  { name: 'a compressed body', headers: { 'content-encoding': 'gzip' }, body: LIST, status: 415 },
  {
    name: 'a stream of changes that never come',
    headers: { ...HEADERS, 'mcp-method': 'subscriptions/listen' },
    body: JSON.stringify({
      ...MODERN,
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, _meta: MODERN.params._meta },
    }),
    status: 200,
    code: -32603,
  },
];

test('over HTTP, requests are held to the rules of the protocol and of every other route', async () => {
  for (const { name, headers, body, status, code } of RAW) {
    const answer = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    });
    const text = await answer.text();
    assert.equal(answer.status, status, `${name}: ${text}`);
    if (code !== undefined)
      assert.equal((JSON.parse(text) as { error: { code: number } }).error.code, code, name);
  }
  assert.equal(RAW.length, 9);
  for (const method of ['GET', 'DELETE'])
    assert.equal((await fetch(`${service.url}/mcp`, { method })).status, 405, method);
});

test('the inspector’s command line lists the tools and calls one', { skip: noInspector }, async () => {
  const stdio = [process.execPath, MAIN_FILE, 'mcp'];
  for (const server of [stdio, [`${service.url}/mcp`]]) {
    const { tools } = (await inspect(service.dir, server, ['--method', 'tools/list'])) as {
      tools: { name: string }[];
    };
    assert.equal(tools.length, CASES.length);
    const words = [
      '--method',
      'tools/call',
      '--tool-name',
      'scan_input',
      '--tool-arg',
      `text=Use key ${KEY}`,
    ];
    const { structuredContent } = (await inspect(service.dir, server, words)) as {
      structuredContent: { decision: string };
    };
    assert.equal(structuredContent.decision, 'block');
  }
});
