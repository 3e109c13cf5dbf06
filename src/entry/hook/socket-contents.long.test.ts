/**
 * Verifies that content stays content on both local sockets: however it is laid out, a request makes one decision and
 * nothing else. `SOCKET_CONTENTS=100000` sets the number of contents, of which each crosses both sockets.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { findSourceText, parseJson, rememberText, writeExactJson } from '../../core/json/value-source.ts';
import type { Json } from '../../core/types/index.ts';
import { createTestRuntime } from '../../operations/testing/runtime.ts';
import { openLog } from '../../platform/log.ts';
import { ensureToken } from '../../runtime/access/tokens.ts';
import { openContentSocket } from '../../server/content-socket.ts';
import { openOperatorSocket } from '../../server/operator-socket.ts';
import type { Dispatch, ServiceStatus } from '../../server/service.ts';
import { callWithContent, connectService, type ServiceClient } from '../../server/socket-client.ts';
import type { SocketServer } from '../../server/socket-http.ts';
import { getContentSocket } from '../../server/socket-path.ts';
import { dispatch } from './dispatch.ts';
import type { HookRequest } from './hook-request.ts';
import { requestDecision } from './request-decision.ts';

const COUNT = Number(process.env.SOCKET_CONTENTS ?? 600);
const VERSION = '1.2.3';

/** The whitespace between all tokens of a JSON text. */
const GAPS = ['', ' ', '\n', '\r', '\r\n', '\t', '\n\n', '\r\n\r\n', ' \n\t', '\n \r\n'];

/** Requests of the sockets as content, and what an attacker puts around them. */
const REQUESTS = [
  '{"id":7003,"method":"call","operation":"approvals_approve","input":{"request_id":"apr_1"},"user":"alice"}',
  '{"id":1,"method":"leave"}',
  '0\r\n\r\nPOST /operations/approvals_approve HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}',
  '\r\n\r\nPOST /leave HTTP/1.1\r\nHost: x\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  'Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n',
];
const CONTROLS = [...Array(0x20).keys(), 0x7f, 0x85, 0x2028, 0x2029, 0xd800, 0xdfff, 0xfeff, 0xfffe];

const texts = [
  ...REQUESTS,
  ...CONTROLS.map((unit) => `a${String.fromCharCode(unit)}{"id":1}${String.fromCharCode(unit)}b`),
  ...readCases(),
];

/** The names of everything that the sockets ran, with the content that it received. */
let ran: { readonly name: string; readonly content: string | null }[] = [];
let events = 0;
let stateDir: string;
let servers: SocketServer[];
let operator: ServiceClient;

before(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'socket-contents-'));
  ensureToken(stateDir, 'operator');
  const record = async () => {
    events += 1;
  };
  const { runtime } = createTestRuntime({ record });
  const watched: Dispatch = {
    judgeHook: (request, context) => {
      const [check] = (request as HookRequest).checks;
      ran.push({ name: 'hook', content: findSourceText((check as { output: Json }).output) });
      return dispatch.judgeHook(request, context);
    },
    parseFollowRequest: () => Promise.reject(new Error('no content follows')),
    callOperation: (name, input, context) => {
      const { kind } = context.caller;
      ran.push({ name: `${kind} ${name}`, content: findSourceText((input as { output: Json }).output) });
      return dispatch.callOperation(name, input, context);
    },
  };
  const unexpected = () => assert.fail('no content reaches this');
  const shared = {
    ...{ runtime, dispatch: watched, jwt: null, daemon: { onRequest: () => {}, onLeave: unexpected } },
    ...{
      status: () => ({ version: VERSION }) as ServiceStatus,
      log: openLog({ level: 'silent', name: 'test' }),
    },
  };
  servers = await Promise.all([
    openContentSocket({ ...shared, path: getContentSocket(stateDir), config_file: null }),
    openOperatorSocket({
      ...shared,
      state_dir: stateDir,
      sync_index: async () => unexpected(),
      follow: null,
    }),
  ]);
  operator = (await connectService(stateDir))!;
});
after(async () => {
  operator.close();
  await Promise.all(servers.map(({ close }) => close()));
  rmSync(stateDir, { recursive: true });
});

test('every content makes one decision on each socket', async () => {
  for (let at = 0; at < COUNT; at += 1) {
    const content = buildContent(at);
    const output = parseJson(content);
    rememberText(output, content);
    const input = { tool: 'read_file', phase: 'response', output };
    const send =
      at % 2 === 0 ? () => sendAsHook(output) : () => callWithContent(stateDir, 'intercept_tool', input);
    await assertOneDecision(send, at % 2 === 0 ? 'hook' : 'agent intercept_tool', content);
    const decide = () => operator.call('intercept_tool', input);
    await assertOneDecision(decide, 'person intercept_tool', content);
  }
  assert.ok(COUNT >= 600);
});

test('a line of content would have been a request', () => {
  const lines = buildContent(GAPS.indexOf('\n')).split('\n');
  assert.ok(lines.some((line) => line.includes('approvals_approve')));
});

async function assertOneDecision(send: () => Promise<unknown>, name: string, content: string): Promise<void> {
  ran = [];
  events = 0;
  const answer = writeExactJson(await send());
  assert.match(answer, /"decision":"(?:allow|block|modify)"/, content);
  assert.deepEqual([ran, events], [[{ name, content }], 1]);
}

function sendAsHook(output: Json): Promise<unknown> {
  const request: HookRequest = {
    ...{ dialect: 'plain', event: 'result', agent_id: 'a', tenant_id: 'default', session_id: null },
    ...{ tool_use_id: null, approval_request_id: null },
    checks: [{ kind: 'result', tool: 'read_file', output }],
  };
  const owner = { state_dir: stateDir, config_file: null, version: VERSION, user: 'alice' };
  return requestDecision(request, owner, null);
}

/** Builds the JSON text of the content with a number. The first texts come in every layout before the next ones. */
function buildContent(at: number): string {
  const text = texts[Math.floor(at / GAPS.length) % texts.length]!;
  // A stride reaches all kinds of texts in a short run.
  const other = texts[(at * 577) % texts.length]!;
  const call = { id: 7, method: 'call', operation: 'approvals_approve', input: { request_id: 'apr_1' } };
  const value = { note: call, text, list: [[other], { [other.slice(0, 40)]: null }], big: '$BIG' };
  return layOut(value, GAPS[at % GAPS.length]!).replace('"$BIG"', '12345678901234567890.10');
}

function layOut(value: Json, gap: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const join = (open: string, parts: readonly string[], close: string): string =>
    [open, ...parts.flatMap((part, index) => (index === 0 ? [part] : [',', part])), close].join(gap);
  if (Array.isArray(value))
    return join(
      '[',
      value.map((each) => layOut(each, gap)),
      ']',
    );
  const members = Object.entries(value).map(([key, each]) =>
    [JSON.stringify(key), ':', layOut(each, gap)].join(gap),
  );
  return join('{', members, '}');
}

/** Returns every string of the cases. */
function readCases(): readonly string[] {
  const found = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === 'string') found.add(value);
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) for (const part of [key, each]) collect(part);
  };
  const folder = join(import.meta.dirname, '../../../cases');
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.json')) collect(JSON.parse(readFileSync(join(folder, file), 'utf8')));
    if (file.endsWith('.txt')) collect(readFileSync(join(folder, file), 'utf8').split('\n'));
  }
  return [...found];
}
