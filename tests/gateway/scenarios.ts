/** Every use of a provider by a client, on each lane: directly, and through the LLM proxy. */
import type { Fault, Step } from '../support/provider/provider.ts';
import type { Ask, ClientReading, SeenError } from './clients/ask.ts';
import { errorName, type Lane, LOOKUP_LANES, streamErrorName, timeoutName } from './lanes.ts';

export interface Scenario {
  readonly name: string;
  /** Restricts the scenario to some lanes; by default it runs on all. */
  readonly isFor?: (lane: Lane) => boolean;
  readonly ask: Partial<Ask>;
  readonly steps: (lane: Lane) => readonly Step[];
  /** The expected result. Members that are not named are as in an empty answer. */
  readonly expect: (lane: Lane) => ExpectedReading;
  /** The requests that the provider must receive, in order: strings that a body must contain byte for byte. */
  readonly received?: readonly string[];
  /** Strings that the provider must not receive. */
  readonly withheld?: readonly string[];
  /** The number of requests, if it is not one per step; `null` if it is not compared. */
  readonly requests?: number | null;
  /** A streamed text that this service itself writes arrives in one piece. */
  readonly in_one_piece?: boolean;
  /** The provider sees that the client disconnects. */
  readonly is_left?: boolean;
}

export type ExpectedReading = Partial<Omit<ClientReading, 'error'>> & { readonly error?: Partial<SeenError> };

export const TEXT = 'Paris – “la Ville Lumière” – is the capital of France. 🗼';
const AFTER_TOOLS = 'It is 18 °C in Paris and 4 °C in Oslo.';
const REFUSAL = "I can't help with that.";
const THINKING = 'The user wants the weather in two cities.';
export const CALLS = ['Paris', 'Oslo'].map((city) => ({
  tool: 'get_weather',
  arguments: { city, unit: 'celsius' },
}));
const RESULTS = ['{"temperature": 18.0, "unit": "°C"}', '{"temperature": 4, "unit": "\\u00b0C"}'];

/** An image of 24 KB. Its content does not matter, but all of it must arrive. */
const IMAGE = Buffer.from(Array.from({ length: 24_000 }, (_, at) => (at * 7919 + (at >> 3) * 104_729) % 251));

/** Returns a step with one answer from a recording of the lane. */
export const step =
  (name: string, more: Partial<Step> = {}) =>
  ({ recordings }: Lane): readonly Step[] => [{ recording: `${recordings}/${name}`, ...more }];

const plainUsage = ({ family }: Lane) => (family === 'gemini' ? ([9, 14] as const) : ([38, 14] as const));
const callsUsage = ({ family }: Lane) =>
  family === 'anthropic' ? ([392, 96] as const) : ([92, 46] as const);
/** Returns the usage that a stream contains. */
const streamed = (lane: Lane, usage: readonly [number, number]) => (lane.usage_is_asked ? null : usage);

/** Returns the expected end of a conversation with tools. */
export function afterTools(lane: Lane, isStream: boolean): ExpectedReading {
  const [input, output] = callsUsage(lane);
  const usage = lane.adds_usage ? ([141 + input, 19 + output] as const) : ([141, 19] as const);
  const shown = { text: AFTER_TOOLS, finish: lane.finish.stop, calls: CALLS, turns: 2 };
  return { ...shown, usage: isStream ? streamed(lane, usage) : usage };
}

function calls(lane: Lane, isStream: boolean): ExpectedReading {
  const usage = callsUsage(lane);
  const thinking = lane.thinks ? THINKING : null;
  const shown = { text: lane.preface, thinking, finish: lane.finish.calls, calls: CALLS, turns: 1 };
  return { ...shown, usage: isStream ? streamed(lane, usage) : usage };
}

function refusal(lane: Lane, isStream: boolean): ExpectedReading {
  const usage = lane.family === 'gemini' ? ([9, null] as const) : ([24, 7] as const);
  return {
    [lane.refuses === 'refusal' ? 'refusal' : 'text']: lane.refuses === 'finish' ? null : REFUSAL,
    finish: lane.finish.refusal,
    usage: isStream && lane.usage_is_asked ? null : usage,
    turns: 1,
  };
}

const conversation = (suffix: '' | '.stream') => (lane: Lane) => [
  ...step(`calls${suffix}`)(lane),
  ...step(`after-tools${suffix}`)(lane),
];

const plain: readonly Scenario[] = [
  {
    name: 'a plain answer',
    ask: { instructions: 'Be brief: “one sentence”.' },
    steps: step('plain'),
    expect: (lane) => ({ text: TEXT, finish: lane.finish.stop, usage: plainUsage(lane), turns: 1 }),
    received: ['Be brief: “one sentence”.'],
  },
  {
    name: 'a stream',
    ask: { is_stream: true, instructions: 'Be brief.' },
    steps: step('plain.stream'),
    expect: (lane) => ({
      text: TEXT,
      finish: lane.finish.stop,
      usage: streamed(lane, plainUsage(lane)),
      turns: 1,
    }),
    received: ['Be brief.'],
  },
  {
    name: 'a stream that tells its usage',
    isFor: ({ api }) => api === 'chat',
    ask: { is_stream: true, has_usage: true },
    steps: step('plain.stream'),
    expect: (lane) => ({ text: TEXT, finish: lane.finish.stop, usage: plainUsage(lane), turns: 1 }),
  },
  {
    name: 'a compressed stream, cut anywhere',
    ask: { is_stream: true },
    steps: step('plain.stream', { cut_bytes: 11, encoding: 'gzip' }),
    expect: (lane) => ({
      text: TEXT,
      finish: lane.finish.stop,
      usage: streamed(lane, plainUsage(lane)),
      turns: 1,
    }),
  },
  {
    name: 'a stream, byte by byte',
    ask: { is_stream: true },
    steps: step('plain.stream', { cut_bytes: 1 }),
    expect: (lane) => ({
      text: TEXT,
      finish: lane.finish.stop,
      usage: streamed(lane, plainUsage(lane)),
      turns: 1,
    }),
  },
  {
    name: 'an image',
    ask: { image_base64: IMAGE.toString('base64') },
    steps: step('plain'),
    expect: (lane) => ({ text: TEXT, finish: lane.finish.stop, usage: plainUsage(lane), turns: 1 }),
    received: [IMAGE.toString('base64')],
  },
  {
    name: 'a refusal',
    ask: {},
    steps: step('refusal'),
    expect: (lane) => refusal(lane, false),
  },
  {
    name: 'a streamed refusal',
    ask: { is_stream: true },
    steps: step('refusal.stream'),
    expect: (lane) => refusal(lane, true),
  },
  {
    name: 'an answer that was cut off',
    isFor: ({ api }) => api === 'chat' || api === 'messages',
    ask: {},
    steps: step('length'),
    expect: (lane) => ({
      text: 'Once upon a time, there was a',
      finish: lane.finish.length,
      usage: [30, 16],
      turns: 1,
    }),
  },
];

const tools: readonly Scenario[] = [
  {
    name: 'two tool calls side by side',
    ask: { tools: ['get_weather'] },
    steps: step('calls'),
    expect: (lane) => calls(lane, false),
  },
  {
    name: 'two tool calls side by side, streamed',
    ask: { tools: ['get_weather'], is_stream: true },
    steps: step('calls.stream'),
    expect: (lane) => calls(lane, true),
  },
  {
    name: 'two tool calls side by side, streamed and cut anywhere',
    ask: { tools: ['get_weather'], is_stream: true },
    steps: step('calls.stream', { cut_bytes: 13 }),
    expect: (lane) => calls(lane, true),
  },
  {
    name: 'a conversation with tools',
    ask: { tools: ['get_weather'], results: RESULTS },
    steps: conversation(''),
    expect: (lane) => afterTools(lane, false),
  },
  {
    name: 'a conversation with tools, streamed',
    ask: { tools: ['get_weather'], results: RESULTS, is_stream: true },
    steps: conversation('.stream'),
    expect: (lane) => afterTools(lane, true),
  },
];

/** The errors in the recordings of each family. */
const ERRORS: Readonly<Record<Lane['family'], readonly string[]>> = {
  openai: ['400', '401', '404', '429', '429-quota', '500', '502'],
  anthropic: ['400', '401', '404', '413', '429', '500', '529'],
  gemini: ['400', '404', '429', '500', '503'],
};

const WORDS: Readonly<Record<string, { readonly code?: string; readonly type: string | null }>> = {
  'openai 400': { code: 'unsupported_parameter', type: 'invalid_request_error' },
  'openai 401': { code: 'invalid_api_key', type: 'invalid_request_error' },
  'openai 404': { code: 'model_not_found', type: 'invalid_request_error' },
  'openai 429': { code: 'rate_limit_exceeded', type: 'tokens' },
  'openai 429-quota': { code: 'insufficient_quota', type: 'insufficient_quota' },
  'openai 500': { type: 'server_error' },
  'openai 502': { type: null },
  'anthropic 400': { type: 'invalid_request_error' },
  'anthropic 401': { type: 'authentication_error' },
  'anthropic 404': { type: 'not_found_error' },
  'anthropic 413': { type: 'request_too_large' },
  'anthropic 429': { type: 'rate_limit_error' },
  'anthropic 500': { type: 'api_error' },
  'anthropic 529': { type: 'overloaded_error' },
  'gemini 400': { type: 'INVALID_ARGUMENT' },
  'gemini 404': { type: 'NOT_FOUND' },
  'gemini 429': { type: 'RESOURCE_EXHAUSTED' },
  'gemini 500': { type: 'INTERNAL' },
  'gemini 503': { type: 'UNAVAILABLE' },
};

const errors: readonly Scenario[] = [...new Set(Object.values(ERRORS).flat())].map((which) => ({
  name: `the provider's error ${which}`,
  isFor: ({ family }: Lane) => ERRORS[family].includes(which),
  ask: {},
  steps: ({ family }: Lane) => [{ recording: `${family}/errors/${which}` }],
  expect: (lane: Lane) => {
    const status = Number.parseInt(which, 10);
    const { code = null, type } = WORDS[`${lane.family} ${which}`]!;
    return { error: { name: errorName(lane, status), status, code, type } };
  },
}));

const retries: readonly Scenario[] = ['429', '500'].map((which) => ({
  name: `twice ${which}, then an answer: the SDK asks again`,
  ask: { max_retries: 2 },
  steps: (lane: Lane) => [
    { recording: `${lane.family}/errors/${which}` },
    { recording: `${lane.family}/errors/${which}` },
    ...step('plain')(lane),
  ],
  expect: (lane: Lane) => ({ text: TEXT, finish: lane.finish.stop, usage: plainUsage(lane), turns: 1 }),
}));

const silent: Fault = { after: 0, kind: 'silent' };
const faults: readonly Scenario[] = [
  {
    name: 'an error inside a stream',
    isFor: ({ family }) => family !== 'gemini',
    ask: { is_stream: true },
    steps: step('broken.stream'),
    expect: (lane) => ({
      error: {
        name:
          lane.api === 'responses' && lane.client === 'python_openai'
            ? 'ResponseErrorEvent'
            : streamErrorName(lane),
      },
    }),
  },
  {
    name: 'nothing comes: the SDK gives up',
    ask: { timeout_ms: 1_500 },
    steps: step('plain', { fault: silent }),
    expect: (lane) => ({ error: { name: timeoutName(lane), status: null } }),
    is_left: true,
  },
  {
    name: 'the client goes away in the middle of a stream',
    ask: { is_stream: true, leave_after: 3 },
    steps: step('plain.stream', { fault: { after: 6, kind: 'silent' } }),
    expect: () => ({ left: true }),
    is_left: true,
  },
];

const conversations: readonly Scenario[] = [...plain, ...tools, ...errors, ...retries, ...faults];

const lookups: readonly Scenario[] = [
  {
    name: 'a completion',
    isFor: ({ api }) => api === 'completions',
    ask: {},
    steps: step('plain'),
    expect: () => ({ text: TEXT, finish: 'stop', usage: [6, 12], turns: 1 }),
  },
  ...[false, true].map((hasUsage) => ({
    name: `a streamed completion ${hasUsage ? 'that tells its usage' : ''}`,
    isFor: ({ api }: Lane) => api === 'completions',
    ask: { is_stream: true, has_usage: hasUsage },
    steps: step('plain.stream'),
    expect: () => ({ text: TEXT, finish: 'stop', usage: hasUsage ? ([6, 12] as const) : null, turns: 1 }),
  })),
  {
    name: 'an embedding',
    isFor: ({ api }) => api === 'embeddings',
    ask: {},
    steps: () => [{ recording: 'openai/embeddings/base64' }],
    expect: () => ({ list: [0.012500000186264515, -0.5, 0.25, 0.75], usage: [5, null] }),
  },
  {
    name: 'names of models',
    isFor: ({ api }) => api === 'models',
    ask: {},
    steps: ({ family }) => [{ recording: `${family}/models` }],
    expect: ({ family }) => ({
      list:
        family === 'openai'
          ? ['gpt-5.4-mini', 'text-embedding-3-small']
          : ['claude-sonnet-5', 'claude-haiku-4-5-20251001'],
    }),
  },
  {
    name: 'a count of tokens',
    isFor: ({ api }) => api === 'count_tokens',
    ask: {},
    steps: () => [{ recording: 'anthropic/count-tokens' }],
    expect: () => ({ list: [2095] }),
  },
];

/** Returns the scenarios of a lane. */
export function scenariosOf(lane: Lane): readonly Scenario[] {
  const all = LOOKUP_LANES.includes(lane) ? lookups : conversations;
  return all.filter(({ isFor }) => isFor?.(lane) ?? true);
}
