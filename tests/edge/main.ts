/**
 * `npm run test:edge`: tools from PyPI that attack a running service. agent-security-harness plays a hostile MCP client,
 * Schemathesis sends what the HTTP API description allows and forbids. It takes one core about ten minutes.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHttpServer } from '../mcp/servers/over-http.ts';
import { tool } from '../mcp/servers/script.ts';
import { root } from '../support/checkout.ts';
import { startTestService } from '../support/service.ts';
import { type HarnessTarget, runHarness } from './harness.ts';
import { EDGE_USER, runOpenApiTools } from './openapi.ts';

const KEY = ['svc', 'edge', 'key', '0123456789abcdef'].join('_');
const SERVICE = `${process.execPath} ${join(root, 'src', 'entry', 'cli', 'main.ts')}`;

const upstream = await startHttpServer({
  tools: [tool('fetch', { inputSchema: { type: 'object', properties: { url: { type: 'string' } } } })],
  resources: [{ uri: 'note://a', name: 'a' }],
  contents: { 'note://a': { uri: 'note://a', mimeType: 'text/plain', text: 'A note.' } },
  prompts: [{ name: 'summary', description: 'Summarises a text.' }],
  messages: { summary: { messages: [{ role: 'user', content: { type: 'text', text: 'Summarise it.' } }] } },
});
const policies = [
  {
    name: 'no-internal-addresses',
    boundary: 'action',
    data_tags: ['egress.loopback', 'egress.metadata_endpoint', 'egress.private_address', 'path.system'],
    action: 'block',
    reason: 'The tool may not read internal addresses and system files.',
  },
];
const mcp = { servers: [{ name: 'web', url: upstream.url }] };
const apiKeys = [{ id: 'edge', sha256: hash('sha256', KEY, 'hex') }];
const guarded = await startTestService({
  config: { policies, mcp, auth: { required: true, api_keys: apiKeys } },
});
const open = await startTestService({
  config: { dashboard: { users: [{ user_id: EDGE_USER, role: 'admin' }] } },
});
const dir = mkdtempSync(join(tmpdir(), 'edge-'));

const NOT_STDIO = { 'MCP-017': 'is for standard input and output' };
const NO_URLS = { 'MCP-006': 'no prompts', 'MCP-015': 'no tool takes a URL' };
const NO_HEADERS = 'has no HTTP headers';
const ON_STDIO = {
  'MCP-021': NO_HEADERS,
  'MCP-RC-001': NO_HEADERS,
  'MCP-RC-007': 'the harness uses the older revision over standard input',
  'MCP-RC-009': NO_HEADERS,
};
const overHttp = (path: string, ...more: readonly string[]) => [
  ...['--transport', 'http', '--url', `${guarded.url}${path}`, '--protocol-version', '2026-07-28'],
  ...['--header', `authorization:Bearer ${KEY}`, ...more],
];
const TARGETS: readonly HarnessTarget[] = [
  {
    name: '/mcp',
    args: overHttp('/mcp'),
    not_executed: { ...NOT_STDIO, ...NO_URLS, 'MCP-RC-009': 'no resources' },
    accepted: {},
  },
  {
    name: '/mcp/gateway',
    args: overHttp('/mcp/gateway', '--cache-resource-uri', 'web+note://a'),
    not_executed: NOT_STDIO,
    accepted: {
      'MCP-001': 'calls every name with `__` suspicious, which is between server and tool (`web__fetch`)',
    },
  },
  {
    name: 'service mcp',
    args: ['--transport', 'stdio', '--command', `${SERVICE} mcp --config ${join(open.dir, 'service.yaml')}`],
    not_executed: { ...ON_STDIO, ...NO_URLS },
    accepted: {
      'MCP-008':
        'two of the seven messages are valid notifications with unknown methods, to which JSON-RPC forbids an answer',
    },
  },
];

let failed = 0;
function report({ summary, problems }: Awaited<ReturnType<typeof runHarness>>): void {
  failed += problems.length;
  console.log(`${problems.length === 0 ? 'ok      ' : 'FAILED  '}${summary}`);
  for (const problem of problems) console.log(`        ${problem}`);
}

try {
  for (const target of TARGETS) report(await runHarness(target, dir));
  const token = readFileSync(join(open.state_dir, 'operator-token'), 'utf8').trim();
  report(await runOpenApiTools(open.url, token, dir));
} finally {
  await Promise.all([guarded.stop(), open.stop()]);
  await upstream.close();
}
process.exitCode = failed > 0 ? 1 : 0;
