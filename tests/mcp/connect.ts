/** The official MCP client with this program, over each transport and in each of the two protocol revisions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Agent, type RequestInit, fetch as undiciFetch } from 'undici';
import { locateComponent } from '../../scripts/components/components.ts';
import { MAIN_FILE } from '../../src/entry/cli/testing/main-file.ts';
import { ownNodeEnvironment, runProgram } from '../support/checkout.ts';
import { isNightly } from '../support/nightly.ts';
import type { TestService } from '../support/service.ts';

export const ERAS = ['2026-07-28', '2025-11-25'] as const;
export type Era = (typeof ERAS)[number];
/** The revision that clients use today, for what differs little between the two; in the nightly round, both. */
export const SAMPLE_ERAS: readonly Era[] = isNightly ? ERAS : [ERAS[1]];

/** Creates a client for the revision, which is not connected yet. */
export function newClient(era: Era, capabilities: object = {}): Client {
  const mode = era === '2026-07-28' ? { pin: era } : ('legacy' as const);
  return new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode }, capabilities });
}

/** Starts `customshouse mcp` in a folder as an MCP client does, and connects to it. */
export async function connectStdio(options: {
  readonly era: Era;
  readonly dir: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly client?: Client;
}): Promise<Client> {
  const client = options.client ?? newClient(options.era);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN_FILE, 'mcp', ...(options.args ?? [])],
    cwd: options.dir,
    env: ownNodeEnvironment(options.env ?? {}) as Record<string, string>,
    stderr: 'ignore',
  });
  await client.connect(transport);
  return client;
}

/** Connects to `/mcp` of a running service. */
export async function connectHttp(options: {
  readonly era: Era;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}): Promise<Client> {
  const client = newClient(options.era);
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', options.url), {
    requestInit: { headers: { ...options.headers } },
  });
  await client.connect(transport);
  return client;
}

/** Connects to the MCP proxy, `/mcp/gateway` of a running service; by default as the agent `tester`. */
export async function connectGateway(
  { url }: Pick<TestService, 'url'>,
  era: Era,
  headers: Readonly<Record<string, string>> = {},
  client: Client = newClient(era),
  fetch?: FetchLike,
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL('/mcp/gateway', url), {
    requestInit: { headers: { 'x-service-agent': 'tester', ...headers } },
    ...(fetch !== undefined && { fetch }),
  });
  await client.connect(transport);
  return client;
}

/** Lists the tools once over a new TCP connection, which the kernel assigns to any of the workers. */
export async function listOnNewConnection(service: Pick<TestService, 'url'>, era: Era): Promise<void> {
  const dispatcher = new Agent();
  const fetch = (url: string | URL, init?: object) =>
    undiciFetch(url, { ...(init as RequestInit), dispatcher }) as unknown as Promise<Response>;
  const client = await connectGateway(service, era, {}, newClient(era), fetch);
  try {
    await client.listTools();
  } finally {
    await client.close();
    await dispatcher.destroy();
  }
}

export interface McpNotice {
  readonly isError: boolean;
  /** The parsed JSON of its text, or the text itself if it is not JSON. */
  readonly said: Record<string, unknown>;
  readonly structured: unknown;
}

/** Calls a tool and returns the content of its one text. */
export async function callTool(client: Client, name: string, args: object): Promise<McpNotice> {
  const result = await client.callTool({ name, arguments: { ...args } });
  const [first] = result.content as { type: string; text?: string }[];
  return {
    isError: result.isError === true,
    said: read(first?.text ?? ''),
    structured: result.structuredContent,
  };
}

function read(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { text };
  }
}

/** Returns why the inspector cannot run here; `false` if it can. */
export const noInspector: string | false =
  locateComponent('mcp-inspector') === null
    ? 'mcp-inspector is not installed (scripts/run scripts/components/main.ts mcp-inspector)'
    : false;

/** Runs the inspector's command line on a server and returns its output. */
export async function inspect(
  dir: string,
  server: readonly string[],
  words: readonly string[],
): Promise<unknown> {
  const inspector = [process.execPath, locateComponent('mcp-inspector')!, '--cli', ...server, ...words];
  const ran = await runProgram(inspector, { cwd: dir, env: ownNodeEnvironment(), timeout: 60_000 });
  return JSON.parse(ran.stdout);
}

/** Decides an approval request as an approver. */
export async function decide(
  service: Pick<TestService, 'url' | 'state_dir'>,
  requestId: string,
  word: 'approve' | 'deny',
): Promise<void> {
  const token = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${service.url}/v1/approvals/${requestId}/${word}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  if (answer.status !== 200) throw new Error(`a request could not be decided: ${answer.status}`);
}
