/** Numbers keep their digits on the way to a server and back, over every transport. */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { MAIN_FILE } from '../../src/entry/cli/testing/main-file.ts';
import { ownNodeEnvironment } from '../support/checkout.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { ResultTexts } from './servers/raw.ts';
import { answerTo } from './servers/raw-answer.ts';
import { KEY } from './servers/script.ts';

const raw = join(import.meta.dirname, 'servers', 'raw.ts');
const NUMBERS =
  '"id":1234567890123456789,"f":1.0,"e":1e22,"big":12345678901234567890123,"z":-0,"d":0.10000000000000000001';
const INITIALIZED =
  '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}';
const TOOLS = '{"tools":[{"name":"get","inputSchema":{"type":"object"}}]}';
const TEXT = `{ "id": 1234567890123456789, "f": 1.0, "key": "${KEY}" }`;
const ANSWER = `{"content":[{"type":"text","text":${JSON.stringify(TEXT)}},{"type":"text","text":"$PARAMS"}],"structuredContent":{${NUMBERS},"key":"${KEY}","plain":true}}`;
const RESULTS: ResultTexts = { initialize: INITIALIZED, 'tools/list': TOOLS, 'tools/call': ANSWER };

let folder: string;
let service: TestService;
let web: Server;
let isStream = false;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'service-numbers-'));
  writeFileSync(join(folder, 'script.json'), JSON.stringify(RESULTS));
  web = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(body) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    const text = answerTo(RESULTS, id, method, body);
    if (!isStream) return void response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`event: message\r\ndata: ${text}\r\n\r\n`);
  }).listen(0, '127.0.0.1');
  await once(web, 'listening');
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`;
  const command = [process.execPath, raw];
  service = await startTestService({
    config: {
      mcp: {
        servers: [
          { name: 'web', url },
          { name: 'local', command, env: ['SCRIPT'] },
        ],
      },
    },
    env: { SCRIPT: join(folder, 'script.json') },
  });
});
after(async () => {
  await service?.stop();
  web?.close();
  rmSync(folder, { recursive: true });
});

const call = (name: string) =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"${name}","arguments":{${NUMBERS},"list":[9007199254740993]},"_meta":{"note":1}}}`;

/** Asserts that all numbers are unchanged, in the answer and in the input that the server reports. */
function assertExact(answer: string, why: string): void {
  assert.ok(answer.includes(`{${NUMBERS},"key":"[REDACTED]","plain":true}`), `${why}: structured ${answer}`);
  assert.ok(
    answer.includes(
      JSON.stringify('{ "id": 1234567890123456789, "f": 1.0, "key": "[REDACTED]" }').slice(1, -1),
    ),
    `${why}: text ${answer}`,
  );
  const got = JSON.stringify(`"arguments":{${NUMBERS},"list":[9007199254740993]}`).slice(1, -1);
  assert.ok(answer.includes(got), `${why}: arguments ${answer}`);
  assert.ok(!answer.includes('service/source'), why);
  JSON.parse(answer);
}

async function overStdio(args: readonly string[], tool: string): Promise<string> {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [MAIN_FILE, 'mcp', ...args], {
    cwd: service.dir,
    env: ownNodeEnvironment({ SCRIPT: join(folder, 'script.json') }) as NodeJS.ProcessEnv,
    stdio: 'pipe',
  });
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  try {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    };
    child.stdin.write(`${JSON.stringify(initialize)}\n`);
    await lines.next();
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    child.stdin.write(`${call(tool)}\n`);
    return (await lines.next()).value as string;
  } finally {
    child.stdin.end();
    await once(child, 'close');
  }
}

async function overHttp(tool: string): Promise<string> {
  const answer = await fetch(new URL('/mcp/gateway', service.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-service-agent': 'tester',
    },
    body: call(tool),
  });
  const text = await answer.text();
  return /^data: (.*)$/m.exec(text)?.[1] ?? text;
}

test('numbers keep their digits on standard input and output', async () => {
  assertExact(await overStdio(['--wrap', '--name', 'numbers', '--', process.execPath, raw], 'get'), 'wrap');
  assertExact(await overStdio(['--gateway', '--agent', 'tester'], 'local__get'), 'gateway to a program');
});

test('numbers keep their digits over HTTP', async () => {
  assertExact(await overHttp('web__get'), 'one answer');
  assertExact(await overHttp('local__get'), 'a program');
  isStream = true;
  assertExact(await overHttp('web__get'), 'a stream');
});
