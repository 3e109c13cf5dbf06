import type { Tool } from '@modelcontextprotocol/client';
import { type ConnectionParts, openConfiguredConnection } from './connection.ts';
import { buildPrefixMapping, SAME_NAMES } from './name-mapping.ts';
import { classifyFailure } from './server-failure.ts';
import type { McpServerSettings } from './transports.ts';
import { openWrappedConnection, type WrappedProgram } from './upstream-server.ts';

/** The tools of a server, and the name that policies use for each. */
export interface QueriedTools {
  readonly tools: readonly Tool[];
  readonly toPolicyName: (name: string) => string;
}

/**
 * Reads the tool list of one server, and ends the connection. A configured server has its prefix.
 *
 * @throws ServerFailure
 */
export async function queryTools(
  target: WrappedProgram | McpServerSettings,
  parts: ConnectionParts,
): Promise<QueriedTools> {
  const isConfigured = 'timeout_ms' in target;
  const { upstream, tools } = isConfigured
    ? openConfiguredConnection(target, parts, () => {})
    : openWrappedConnection(target, parts, () => {});
  const { toPolicyName } = isConfigured && target.name !== '' ? buildPrefixMapping(target.name) : SAME_NAMES;
  try {
    return { tools: await tools.read(true), toPolicyName };
  } catch (error) {
    throw classifyFailure(error);
  } finally {
    await upstream.close();
  }
}

/** Returns the settings for a URL that is not configured. Its names have no prefix. */
export function buildUrlSettings(url: string): McpServerSettings {
  return {
    name: '',
    url,
    headers: {},
    env: [],
    allow: ['*'],
    deny: [],
    agents: ['*'],
    tenants: ['*'],
    timeout_ms: LIST_MS,
    response_bytes_max: LIST_BYTES_MAX,
  };
}

const LIST_MS = 10_000;
const LIST_BYTES_MAX = 10_485_760;
