// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** Nodes of a cluster: real services on one PostgreSQL database. */
import { openApiClient } from './api-client.ts';
import { startTestService, type TestService } from './service.ts';

/** Its name, and the URL of the database over which it connects. */
export interface NodePlace {
  readonly node_id: string;
  readonly url: string;
}

/** Signs messages of approvals: `${HOOK_SECRET}` in a configuration. */
const HOOK_SECRET = `whsec_${Buffer.from('a secret of this test only').toString('base64')}`;

export interface NodeOptions {
  /** Settings of `cluster` in addition. */
  readonly cluster?: Readonly<Record<string, unknown>>;
  /** Other sections of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly dir?: string;
  readonly workers?: number;
}

/** All nodes derive the same keys and tokens from it. */
export const CLUSTER_SECRET = ['a', 'secret', 'of', 'all', 'nodes', 'for', 'tests', 'only'].join('-');

/** Starts a node. Its folder stays after `stop` if it was given. */
export function startNode(
  { node_id, url }: NodePlace,
  { cluster = {}, config = {}, files, dir, workers = 1 }: NodeOptions = {},
): Promise<TestService> {
  const secret = `\${CLUSTER_SECRET}`;
  return startTestService({
    config: { ...config, storage: { url }, cluster: { enabled: true, node_id, secret, ...cluster } },
    env: { CLUSTER_SECRET, HOOK_SECRET },
    workers,
    files,
    ...(dir !== undefined && { dir, keep: true }),
  });
}

/** Returns what a node says about the cluster. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into the answer.
export async function readCluster(node: TestService): Promise<any> {
  return (await openApiClient(node)('/v1/cluster')).body;
}

/** Sends one check. */
export async function scan(
  { url }: TestService,
  text = 'What is the weather like in Lisbon?',
  more: object = {},
): Promise<{ readonly decision: string; readonly rule: string; readonly event_id: string }> {
  const answer = await fetch(`${url}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ text, ...more }),
  });
  return (await answer.json()) as Awaited<ReturnType<typeof scan>>;
}

export async function readiness({ url }: TestService): Promise<number> {
  return (await fetch(`${url}/v1/ready`, { headers: { connection: 'close' } })).status;
}
