/** The scenes that the agent of every framework plays, with a scripted model and one tool. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createClientGuard, createEmbeddedGuard, type Guard } from '../../src/sdk/index.ts';

/** One question, what the model asks of the tool (or nothing), the tool's result, and the model's answer. */
export interface Scene {
  readonly tool: string;
  readonly prompt: string;
  readonly city: string | null;
  readonly result: string;
  readonly answer: string;
}

/** The texts that the model, the tool and the program saw. */
export interface SceneResult {
  question: string | null;
  ran_with: string[];
  result: string | null;
  answer: string | null;
  /** The text that a stream showed, also before an error. */
  shown: string;
  refused: string | null;
  /** The classes that the error and its causes have, `MiddlewareError: BlockedError`; `null` if nothing was thrown. */
  raised: string | null;
  /** Places that held a refused call's arguments: messages to the model, the stream, the run's result. */
  kept: string[];
}

/** Notes a place if it holds the secret in a call's arguments. */
export function watchCall({ city }: Scene, { kept }: SceneResult, place: string, value: unknown): void {
  const holds = city?.startsWith('sk-') === true && writeAll(value).includes(city);
  if (holds && !kept.includes(place)) kept.push(place);
}

/** Writes all members, also for classes that write less themselves. */
function writeAll(value: unknown, seen: Set<object> = new Set()): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  return Object.values(value)
    .map((member) => writeAll(member, seen))
    .join('\n');
}

/** Plays a scene: asks the agent and notes what each part of it saw. */
export type Play = (scene: Scene, seen: SceneResult, setting: SceneOptions) => Promise<void>;

export interface SceneOptions {
  readonly guard: Guard;
  readonly is_stream: boolean;
  /** `false`: only the tools are guarded, so that only they can stop a call. */
  readonly guards_texts: boolean;
}

const KEY = `sk-${'ABCDEF1234567890'}`;
const ADDRESS = `DATABASE_URL=postgresql://${'admin:p4ssw0rd'}@db.internal:5432/prod`;
const SSN = `My social security number is ${['536', '22', '8145'].join('-')}.`;

const scene = (
  prompt: string,
  city: string | null,
  result: string,
  answer: string,
  tool = 'look_up',
): Scene => ({
  tool,
  prompt,
  city,
  result,
  answer,
});

const SCENES: Readonly<Record<string, Scene>> = {
  clean: scene('What is the weather?', 'Rome', 'Sunny.', 'It is sunny.'),
  input_blocked: scene(`Use key ${KEY}`, null, '', 'Done.'),
  input_masked: scene(SSN, null, '', 'Noted.'),
  call_blocked: scene('Look it up.', KEY, 'Sunny.', 'I could not.'),
  result_masked: scene('Look it up.', 'Rome', ADDRESS, 'There it is.'),
  output_masked: scene('What is the setting?', null, '', `It is ${ADDRESS}`),
  tool_fails: scene('Look it up.', 'Rome', ADDRESS, 'There it is.'),
  needs_approval: scene('Refund it.', 'Rome', 'Refunded.', 'Finished.', 'issue_refund'),
};

/** Rules for the approval of one tool. */
export const POLICIES = [
  {
    name: 'refunds',
    boundary: 'action',
    condition: { tools: ['issue_refund', 'mcp__*__issue_refund'], phase: 'request' },
    action: 'require_approval',
  },
];

/** `lost`: the service is gone once a prompt is checked. `gone_tools`: only the tools are guarded. */
export type Mode = 'local' | 'client' | 'gone' | 'gone_tools' | 'lost';

const NO_SERVICE = 'http://127.0.0.1:9';

async function openGuard(mode: Mode, serviceUrl: string): Promise<Guard> {
  if (mode === 'local') return createEmbeddedGuard({ policy: { config: { policies: POLICIES } } });
  const url =
    mode === 'client' ? serviceUrl : mode === 'lost' ? await startLosingService(serviceUrl) : NO_SERVICE;
  return createClientGuard({ url, approval_timeout_seconds: 60 });
}

/** Starts a service that is gone once a prompt is checked. Returns its address. */
async function startLosingService(url: string): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/v1/scan/input') return void request.socket.destroy();
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}${request.url}`, {
      method: 'POST',
      headers,
      body: await text(request),
    });
    response.writeHead(answer.status, headers).end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Plays all scenes in each mode of `MODES`, and prints what was seen, by mode, as one line of JSON. One process plays all
 * modes, because most frameworks load for seconds.
 */
export async function playAll(play: Play, { streams = false } = {}): Promise<void> {
  const { MODES = '', SERVICE_URL = '' } = process.env;
  const seen: Partial<Record<Mode, Record<string, SceneResult>>> = {};
  for (const mode of MODES.split(',') as Mode[]) {
    const guard = await openGuard(mode, SERVICE_URL);
    seen[mode] = await playMode(play, { guard, guards_texts: mode !== 'gone_tools' }, streams);
    await guard.close();
  }
  console.log(JSON.stringify(seen));
  process.exit(0);
}

async function playMode(
  play: Play,
  options: Omit<SceneOptions, 'is_stream'>,
  streams: boolean,
): Promise<Record<string, SceneResult>> {
  const outcomes: Record<string, SceneResult> = {};
  for (const isStream of streams ? [false, true] : [false]) {
    for (const [name, each] of Object.entries(SCENES)) {
      const seen: SceneResult = {
        question: null,
        ran_with: [],
        result: null,
        answer: null,
        shown: '',
        refused: null,
        raised: null,
        kept: [],
      };
      await play(each, seen, { ...options, is_stream: isStream }).catch((error: unknown) => {
        seen.refused = String((error as Error)?.message ?? error);
        seen.raised = nameClasses(error);
        if (process.env.SHOW_ERRORS) console.error(name, error);
      });
      outcomes[isStream ? `${name}_streamed` : name] = seen;
    }
  }
  return outcomes;
}

function nameClasses(error: unknown): string {
  const names: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) names.push(each.constructor.name);
  return names.join(': ');
}

/** Notes the arguments of a call and returns the result: the tool of every agent. */
export function useTool(scene: Scene, seen: SceneResult, city: string): string {
  seen.ran_with.push(city);
  if (scene === SCENES.tool_fails) throw new Error(scene.result);
  return scene.result;
}
