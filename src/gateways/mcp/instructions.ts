import { setTimeout as sleep } from 'node:timers/promises';
import { askAll } from './ask-all.ts';
import type { Behind } from './behind.ts';
import type { GatewayParts } from './parts.ts';

/** A client that connects waits so long for what a single server says of its use. */
const WAIT_MS_MAX = 10_000;
const CHARS_MAX = 65_536;

/**
 * What the servers say of their use, judged as a result of `initialize`; of several servers each under its name.
 * `undefined`: none says anything that may be shown, or not in time.
 */
export async function instructionsOf(
  parts: Pick<GatewayParts, 'behinds' | 'failed' | 'arrived'>,
): Promise<string | undefined> {
  const { behinds, failed } = parts;
  const asked = askAll(parts, 'instructions', null, (behind) => judgedInstructions(behind, failed)).catch(
    () => [],
  );
  const said = await Promise.race([asked, sleep(WAIT_MS_MAX, [], { ref: false })]);
  const shown = said.filter(({ text }) => text !== '');
  if (shown.length === 0) return undefined;
  if (behinds.length === 1) return shown[0]!.text;
  return shown.map(({ name, text }) => `# ${name}\n\n${text}`).join('\n\n');
}

async function judgedInstructions({ name, upstream, guard, naming }: Behind, failed: GatewayParts['failed']) {
  const text = await upstream.use(async (client) => client.getInstructions() ?? '');
  if (text === '') return { name, text };
  const judged = await guard.response(naming.judged('initialize'), text);
  if (!('blocked' in judged)) return { name, text: String(judged.value ?? '').slice(0, CHARS_MAX) };
  failed(name, 'the instructions of a server were withheld', new Error(judged.blocked));
  return { name, text: '' };
}
