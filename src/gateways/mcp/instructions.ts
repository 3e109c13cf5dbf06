import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayParts } from './gateway-parts.ts';
import { queryServers } from './query-servers.ts';
import type { UpstreamServer } from './upstream-server.ts';

/** The time that a connecting client waits for the instructions of servers, in milliseconds. */
const WAIT_MS_MAX = 10_000;
const CHARS_MAX = 65_536;

/**
 * Returns the instructions of the servers, judged as a result of `initialize`. With several servers, each has its
 * name as heading. Returns `undefined` if no server has instructions that may be shown, or none answers in time.
 */
export async function collectInstructions(
  parts: Pick<GatewayParts, 'servers' | 'logFailure' | 'onListFailure'>,
): Promise<string | undefined> {
  const { servers, logFailure } = parts;
  const request = queryServers(parts, 'instructions', null, (target) =>
    readJudgedInstructions(target, logFailure),
  ).then(
    ({ answers }) => answers,
    () => [],
  );
  const stated = await Promise.race([request, sleep(WAIT_MS_MAX, [], { ref: false })]);
  const shown = stated.filter(({ text }) => text !== '');
  if (shown.length === 0) return undefined;
  if (servers.length === 1) return shown[0]!.text;
  return shown.map(({ name, text }) => `# ${name}\n\n${text}`).join('\n\n');
}

async function readJudgedInstructions(
  { name, upstream, guard, naming }: UpstreamServer,
  failed: GatewayParts['logFailure'],
) {
  const text = await upstream.use(async (client) => client.getInstructions() ?? '');
  if (text === '') return { name, text };
  const judged = await guard.judgeInstructions(naming.toPolicyName('initialize'), text);
  if (!('blocked' in judged)) return { name, text: String(judged.value ?? '').slice(0, CHARS_MAX) };
  failed(name, 'the instructions of a server were withheld', new Error(judged.blocked));
  return { name, text: '' };
}
