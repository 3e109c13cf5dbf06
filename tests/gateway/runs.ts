/** Runs one scenario on one lane, and checks its outcome. */
import assert from 'node:assert/strict';
import type { Exchange, Provider } from '../support/provider/provider.ts';
import type { Ask, ClientReading } from './clients/ask.ts';
import type { Clients } from './clients.ts';
import type { Lane } from './lanes.ts';
import type { ExpectedReading, Scenario } from './scenarios.ts';

export interface World {
  readonly clients: Clients;
  readonly provider: Provider;
  /** The URL for clients: the provider itself, or the LLM proxy in front of it. */
  readonly base_url: string;
}

export interface Outcome {
  readonly seen: ClientReading;
  readonly exchanges: readonly Exchange[];
}

const NOTHING: Omit<ClientReading, 'pieces'> = {
  text: null,
  thinking: null,
  refusal: null,
  finish: null,
  usage: null,
  calls: [],
  turns: 0,
  list: null,
  left: false,
  error: null,
};

/** Returns the request of a program without special options. */
export function getAsk({ api, model }: Lane, baseUrl: string, more: Partial<Ask>): Ask {
  return {
    api,
    base_url: baseUrl,
    key: KEY,
    model,
    is_stream: false,
    instructions: null,
    text: 'What is the capital of France?',
    image_base64: null,
    tools: [],
    results: [],
    is_structured: false,
    has_usage: false,
    headers: {},
    max_retries: 0,
    timeout_ms: PATIENT_MS,
    leave_after: null,
    ...more,
  };
}

/** A key that the provider accepts. */
export const KEY = ['test', 'key', '0123'].join('-');
/** A timeout in milliseconds for a busy machine, if an answer is expected. */
const PATIENT_MS = 60_000;

/** The provider identifies a run by a header of its own, which must be forwarded like any other. */
let runs = 0;

/** Sends the request, and waits until the provider has seen its end. */
export async function run(world: World, lane: Lane, scenario: Scenario): Promise<Outcome> {
  runs += 1;
  const mark = `case ${runs}`;
  world.provider.plan(mark, scenario.steps(lane));
  const headers = { ...scenario.ask.headers, 'x-case': mark };
  const ask = getAsk(lane, world.base_url, { ...scenario.ask, headers });
  const seen = await world.clients.ask(lane.client, ask);
  const exchanges = world.provider.received(mark);
  await Promise.all(exchanges.map(({ ended }) => ended));
  return { seen, exchanges };
}

/** Compares the results of a client and the requests of the provider with the scenario. */
export function check(scenario: Scenario, lane: Lane, { seen, exchanges }: Outcome): void {
  const expected = scenario.expect(lane);
  assertSeen(seen, expected);
  if (scenario.ask.is_stream && expected.text && scenario.in_one_piece !== true)
    assert.ok(seen.pieces > 1, `${seen.pieces} pieces of a streamed text`);
  const { requests = scenario.steps(lane).length } = scenario;
  if (requests !== null) assert.equal(exchanges.length, requests, 'requests that the provider received');
  for (const { recording } of exchanges) assert.ok(recording !== null, 'the provider refused by itself');
  for (const text of scenario.received ?? [])
    assert.ok(
      exchanges.every(({ body }) => isIn(text, body)),
      `the provider did not receive ${text.slice(0, 60)}`,
    );
  for (const text of scenario.withheld ?? [])
    assert.ok(!exchanges.some(({ body }) => isIn(text, body)), 'the provider received what it must not');
  // Clients also disconnect as soon as the answer ends.
  if (scenario.is_left)
    assert.ok(
      exchanges.every(({ aborted }) => aborted),
      'the provider did not see the client go away',
    );
}

/**
 * Returns whether a body contains the text as it is, or with escapes for non-ASCII characters, as Python writes JSON.
 */
function isIn(text: string, body: Buffer): boolean {
  const escaped = text.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return body.includes(text) || body.includes(escaped);
}

function assertSeen({ pieces: _, ...seen }: ClientReading, { error, ...expected }: ExpectedReading): void {
  const { error: failed, ...rest } = seen;
  assert.equal(failed === null, error === undefined, `it ended with ${JSON.stringify(failed)}`);
  if (error !== undefined) assert.partialDeepStrictEqual(failed, error);
  const { error: _none, ...nothing } = NOTHING;
  // The partial result of an SDK that fails, or that its caller aborts, is not compared.
  if (error === undefined && !rest.left) assert.deepEqual(rest, { ...nothing, ...expected });
  assert.equal(rest.left, expected.left ?? false);
}
