// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { loadConfig } from '../../server/load-config.ts';

const url = 'url: "https://mcp.test/x"';

/** Entries of the server list, and the expected message; `null` if the entry is valid. */
const ROWS: readonly (readonly [written: string, message: string | null])[] = [
  [`{name: a, ${url}}`, null],
  [`{name: a, ${url}, bearer_token: "\${KEY}", headers: {x-extra: "\${KEY}"}}`, null],
  ['{name: a, url: "http://127.0.0.1:3000/mcp?team=a"}', null],
  ['{name: a, command: [npx, server], env: [TOKEN]}', null],
  ['{name: a}', '`mcp.servers[0]` must have either `url` or `command`.'],
  [`{name: a, ${url}, command: [npx]}`, '`mcp.servers[0]` must have either `url` or `command`.'],
  ['{name: a, command: []}', '`mcp.servers[0].command`'],
  [`{name: A_b, ${url}}`, '`mcp.servers[0].name` must begin with a small letter'],
  [`{name: a__b, ${url}}`, '`mcp.servers[0].name` must begin with a small letter'],
  [`{name: a, ${url}}, {name: a, ${url}}`, '`mcp.servers[1].name` is the name of two servers.'],
  [`{name: a, ${url}, env: [TOKEN]}`, '`mcp.servers[0].env` is for a `command`'],
  ['{name: a, command: [npx], bearer_token: "${KEY}"}', '`mcp.servers[0]` has a `command`, which is sent no'],
  [`{name: a, ${url}, bearer_token: literal}`, '`mcp.servers[0].bearer_token` is a credential in plain text'],
  [`{name: a, ${url}, headers: {x-key: literal}}`, '`mcp.servers[0].headers.x-key` is a credential'],
  [`{name: a, ${url}, headers: {Host: "\${KEY}"}}`, '`mcp.servers[0].headers.Host` may not be set here.'],
  [
    `{name: a, ${url}, headers: {Mcp-Session-Id: "\${KEY}"}}`,
    '`mcp.servers[0].headers.Mcp-Session-Id` may not be set here.',
  ],
  [
    `{name: a, ${url}, bearer_token: "\${KEY}", headers: {Authorization: "\${KEY}"}}`,
    '`mcp.servers[0].headers.Authorization` sets the same header as `bearer_token`',
  ],
  ['{name: a, url: "https://u@mcp.test/"}', '`mcp.servers[0].url` has a user or a password'],
  ['{name: a, url: "https://mcp.test/#x"}', '`mcp.servers[0].url` has a fragment'],
  ['{name: a, url: "https://mcp.test:99999/"}', '`mcp.servers[0].url` is no address that can be called.'],
  ['{name: a, url: "ftp://mcp.test/"}', '`mcp.servers[0].url` must be an address that begins with'],
];

async function load(written: string) {
  const dir = mkdtempSync(join(tmpdir(), 'config-mcp-'));
  try {
    writeFileSync(join(dir, 'service.yaml'), `mcp: {servers: [${written}]}\n`);
    return await loadConfig({ path: null, env: { KEY: 'k' }, cwd: dir });
  } finally {
    rmSync(dir, { recursive: true });
  }
}

test('what the keys of a server demand of each other', async () => {
  for (const [written, message] of expectRows(21, ROWS)) {
    const result = await load(written);
    const stated = result.ok ? [] : result.problems.map((problem) => problem.message);
    assert.equal(stated.length, message === null ? 0 : 1, `${written}: ${stated.join(' ')}`);
    if (message !== null) assert.ok(stated[0]?.startsWith(message), `${written}: ${stated[0]}`);
  }
});

test('a credential that crosses the network in the clear is a warning', async () => {
  const rows = [
    ['{name: a, url: "http://mcp.test/", bearer_token: "${KEY}"}', 1],
    ['{name: a, url: "http://127.0.0.1/", bearer_token: "${KEY}"}', 0],
    ['{name: a, url: "http://mcp.test/"}', 0],
    ['{name: a, url: "https://mcp.test/", headers: {x-key: "${KEY}"}}', 0],
  ] as const;
  for (const [written, count] of rows) {
    const result = await load(written);
    assert.equal(result.ok && result.warnings.length, count, written);
  }
});
