/**
 * Verifies that the sent text is the judged text. Servers answer in mutated structures, over both transports and cut
 * anywhere; the protocol's own client shows what a client sees. Masked text must appear in none of it.
 * `MUTATIONS=100000` sets the number of answers per transport, `MUTATIONS_SEED` the first seed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { buildGuardPorts } from '../../entry/mcp/gateway/guard-ports.ts';
import { callOperation } from '../../operations/call.ts';
import type { RunOperation } from '../../operations/operation.ts';
import { createTestRuntime } from '../../operations/testing/runtime.ts';
import { caller } from '../../server/testing/examples.ts';
import { openConnection } from './connection.ts';
import { openGatewayServer } from './gateway-server.ts';
import { openPolicyGuard, type PolicyGuard } from './policy-guard.ts';
import { openRequestStates } from './request-state.ts';
import { createMutation, type Mutation, openRandomSource, type RandomSource } from './testing/mutate.ts';
import {
  openHttpTransport,
  openLineTransport,
  openTextTransportPair,
  type RawAnswer,
} from './testing/raw-server.ts';
import type { McpServerSettings } from './transports.ts';
import { openConfiguredServer } from './upstream-server.ts';

const COUNT = Number(process.env.MUTATIONS ?? 250);
const SEED = Number(process.env.MUTATIONS_SEED ?? 1);
const MARKER = ['AKIA', 'Z7QXR2LMNB4TVWYC'].join('');

const SETTINGS: McpServerSettings = {
  name: 's',
  command: ['true'],
  headers: {},
  env: [],
  allow: ['*'],
  deny: [],
  agents: ['*'],
  tenants: ['*'],
  // A message that the protocol does not define is never answered.
  timeout_ms: 100,
  response_bytes_max: 1_000_000,
};

/** Definitions are checked by their own operation, which has a store. Everything else goes to the policy. */
const checkDefinitions: PolicyGuard['checkDefinitions'] = async (_server, tools) =>
  new Map(tools.map((tool) => [(tool as { name: string }).name, { held: null, replacement: null }]));

function openRealGuard(): PolicyGuard {
  const { runtime } = createTestRuntime({ record: async () => {} });
  const runner: RunOperation = (operation, input) =>
    callOperation(operation, input, { runtime, caller, request_id: 'r' });
  return {
    ...openPolicyGuard(buildGuardPorts(runner), { agent_id: null, session_id: null, user_id: '' }),
    checkDefinitions,
  };
}

/** The members that the library drops from blocks, judged or not. */
const LEFT_OUT = new Set(['name_of_member', 'unknown_type', 'extra_member', 'annotation']);

/** The negative control, which changes nothing. */
const noGuard: PolicyGuard = {
  judgeRequest: async (_tool, value) => ({ value, is_data: false }),
  judgeResponse: async (_tool, value) => ({ value, is_data: false }),
  judgeInstructions: async (_tool, value) => ({ value, is_data: false }),
  checkDefinitions,
  waitForDecision: async () => {},
  cancelApproval: async () => {},
};

const INFO = '"capabilities":{"tools":{},"resources":{},"prompts":{}}';
const COMPLETE = '"resultType":"complete","ttlMs":600000,"cacheScope":"private"';
/** The server's transport and capabilities. */
const FIXED: Readonly<Record<string, string>> = {
  initialize: `"result":{"protocolVersion":"2025-11-25",${INFO},"serverInfo":{"name":"s","version":"1"}}`,
  'server/discover': `"result":{"supportedVersions":["2026-07-28"],${INFO},${COMPLETE}}`,
  'tools/list': `"result":{"tools":[{"name":"get","inputSchema":{"type":"object"}}],${COMPLETE}}`,
};
const UNKNOWN = '"error":{"code":-32601,"message":"Method not found"}';

type Era = 'lines' | 'http';

interface Bench {
  /** Makes the client send the request, and returns everything that it received and its wire transferred. */
  readonly see: (mutation: Mutation) => Promise<unknown[]>;
  readonly close: () => Promise<void>;
}

async function openBench(era: Era, guard: PolicyGuard, dice: RandomSource): Promise<Bench> {
  let next: RawAnswer = { member: UNKNOWN, before: [] };
  let wire: unknown[] = [];
  const server = {
    answer: (method: string): RawAnswer => {
      if (method === 'server/discover' && era === 'lines') return { member: UNKNOWN, before: [] };
      const fixed = FIXED[method];
      return fixed === undefined ? next : { member: fixed, before: [] };
    },
    cut: (bytes: Buffer) => splitBytes(bytes, dice),
    is_stream: () => dice.roll(2) === 0,
  };
  const openTransport = () => (era === 'http' ? openHttpTransport(server) : openLineTransport(server));
  const times = { version: '1', connect_ms: 60_000, list_ms: 60_000, wait_ms: 60_000 };
  const target = openConfiguredServer(
    SETTINGS,
    (onChange) => openConnection({ ...times, openTransport, onChange }),
    {
      guard,
      states: openRequestStates(),
      onChange: () => {},
    },
  );
  const quiet = { onListFailure: () => {}, logFailure: () => {} };
  const gateway = openGatewayServer({
    servers: [target],
    watcher: null,
    version: '1',
    title: 'test',
    ...quiet,
  });
  const [near, far] = openTextTransportPair((text) => void wire.push(JSON.parse(text)));
  const client = new Client({ name: 'oracle', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  await gateway.connect(far);
  await client.connect(near);
  return {
    see: async (mutation) => {
      next = mutation;
      wire = [];
      const seen = await ask(client, mutation).catch((error: unknown) => String(error));
      return [seen, ...wire];
    },
    close: async () => {
      await client.close();
      await target.upstream.close();
    },
  };
}

function ask(client: Client, { method }: Mutation): Promise<unknown> {
  switch (method) {
    case 'tools/call':
      return client.callTool({ name: 's__get', arguments: {} });
    case 'resources/read':
      return client.readResource({ uri: 's+file:///a' });
    case 'prompts/get':
      return client.getPrompt({ name: 's__a' });
    default:
      return client.request({ method, params: {} });
  }
}

function splitBytes(bytes: Buffer, dice: RandomSource): readonly Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = dice.roll(4) === 0 ? 1 + dice.roll(8) : 1 + dice.roll(bytes.length);
    cut.push(bytes.subarray(at, at + length));
    at += length;
  }
  return cut;
}

/** Returns every readable text in a value: names, texts, decoded bytes and JSON texts, and joined texts. */
function collectReadable(value: unknown): string {
  const stated: string[] = [];
  const texts: string[] = [];
  const ahead: unknown[] = [value];
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    if (typeof at === 'string') {
      stated.push(at, decodeText(at));
      const inner = tryParseJson(at);
      if (inner !== null) ahead.push(inner);
    }
    if (typeof at !== 'object' || at === null) continue;
    for (const [name, inner] of Object.entries(at).reverse()) {
      stated.push(name);
      ahead.push(inner ?? '');
      if (name === 'text' && typeof inner === 'string') texts.unshift(inner);
    }
  }
  return [...stated, listTexts(value).join('')].join('\n');
}

function listTexts(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'text' && typeof inner === 'string' ? [inner] : listTexts(inner),
  );
}

const BYTES = /^(?:data:[^,]*,)?([A-Za-z0-9+/_=-]{8,})$/;

function decodeText(text: string): string {
  const bytes = BYTES.exec(text)?.[1];
  if (bytes === undefined) return decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  const all = [bytes, ...bytes.split(/=+/)].map((piece) => Buffer.from(piece, 'base64'));
  return all.flatMap((each) => [each.toString('utf8'), each.toString('utf16le')]).join('\n');
}

function tryParseJson(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Counts the answers that showed the marker, by its place. */
async function findShownMutations(
  era: Era,
  guard: PolicyGuard,
  count: number,
): Promise<Map<string, Mutation[]>> {
  const found = new Map<string, Mutation[]>();
  const dice = openRandomSource(SEED);
  const bench = await openBench(era, guard, dice);
  for (let at = 0; at < count; at++) {
    const mutation = createMutation(MARKER, openRandomSource(SEED + at));
    const seen = await bench.see(mutation);
    if (!collectReadable(seen).includes(MARKER)) continue;
    found.set(mutation.place, [...(found.get(mutation.place) ?? []), mutation]);
  }
  await bench.close();
  return found;
}

for (const era of ['lines', 'http'] as const) {
  test(`no client sees what was not judged, over ${era}`, async (t) => {
    const found = await findShownMutations(era, openRealGuard(), COUNT);
    for (const [place, [first]] of found) t.diagnostic(`${place}: ${first!.member} ${first!.before.join()}`);
    assert.deepEqual([...found.keys()], []);
    t.diagnostic(`${COUNT} answers from seed ${SEED}`);
  });

  test(`without a guard the client sees it in every place, over ${era}`, async () => {
    const count = Math.min(COUNT, 1_000);
    const found = await findShownMutations(era, noGuard, count);
    const total = [...found.values()].reduce((sum, { length }) => sum + length, 0);
    assert.ok(total > count / 2, `${total} of ${count}`);
    const places = new Set(
      Array.from({ length: count }, (_, at) => createMutation(MARKER, openRandomSource(SEED + at)).place),
    );
    assert.deepEqual(
      [...places].filter((place) => !found.has(place) && !LEFT_OUT.has(place.replace('prompt ', ''))),
      [],
    );
    assert.ok(places.size >= 25, `${places.size} places`);
  });
}
