/** Sharing of the connection to a server, and queries of its tools. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { openConnectionPool } from './connection.ts';
import { openToolList } from './tool-list.ts';
import type { McpServerSettings } from './transports.ts';

const SETTINGS: McpServerSettings = {
  name: 'files',
  command: ['true'],
  headers: {},
  env: [],
  allow: ['*'],
  deny: [],
  agents: ['*'],
  tenants: ['*'],
  timeout_ms: 1_000,
  response_bytes_max: 10_000,
};

test('sessions of one owner share a connection, and the last one ends it', async () => {
  const pool = openConnectionPool({ version: '1', env: {}, stderr: 'ignore' });
  const enter = (owner: string, name = 'files') => pool.join({ ...SETTINGS, name }, owner, () => {});
  const first = enter('ann');
  assert.equal(enter('ann').tools, first.tools);
  assert.notEqual(enter('ben').tools, first.tools);
  assert.notEqual(enter('ann', 'other').tools, first.tools);
  await first.upstream.close();
  await first.upstream.close();
  const second = enter('ann');
  assert.equal(second.tools, first.tools, 'another session is still there');
});

/** A server that counts its queries. */
function openCountingConnection(reportsTools: boolean, ttlMs?: number) {
  let clockMs = 0;
  let asked = 0;
  const connect = (): Client =>
    ({
      getServerCapabilities: () => ({ tools: {} }),
      request: async () => {
        asked += 1;
        return { tools: [], ...(ttlMs !== undefined && { ttlMs }) };
      },
    }) as unknown as Client;
  let client = connect();
  const use = <T>(work: (client: Client, connection: { reports_tools: boolean }) => Promise<T>) =>
    work(client, { reports_tools: reportsTools });
  const list = openToolList({ use }, 1_000, () => clockMs);
  return {
    list,
    asked: () => asked,
    pass: (ms: number) => {
      clockMs += ms;
    },
    reconnect: () => {
      client = connect();
    },
  };
}

test('a list is requested again only if it may have changed', async () => {
  for (const [hasChangeEvents, ttl, isWanted, ms, expected] of [
    [true, undefined, false, 10_000_000, 1],
    [true, 0, false, 10_000_000, 1],
    [false, undefined, false, 29_000, 1],
    [false, undefined, false, 31_000, 2],
    [false, 60_000, false, 59_000, 1],
    [false, 60_000, true, 59_000, 1],
    [false, 60_000, true, 61_000, 2],
    [true, undefined, true, 0, 2],
  ] as const) {
    const { list, asked, pass } = openCountingConnection(hasChangeEvents, ttl);
    await list.read(isWanted);
    pass(ms);
    await list.read(isWanted);
    assert.equal(asked(), expected, JSON.stringify([hasChangeEvents, ttl, isWanted, ms]));
  }
});

test('a change, and another connection, have it asked for at once; calls at the same time share an answer', async () => {
  const { list, asked, reconnect } = openCountingConnection(true);
  await Promise.all([list.read(false), list.read(false), list.read(true)]);
  assert.equal(asked(), 1);
  list.invalidate();
  await list.read(false);
  assert.equal(asked(), 2);
  reconnect();
  await list.read(false);
  assert.equal(asked(), 3);
  const late = list.read(true);
  list.invalidate();
  await late;
  await list.read(false);
  assert.equal(asked(), 5, 'an answer from before a change is not kept');
});
