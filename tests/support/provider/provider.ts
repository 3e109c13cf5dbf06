/**
 * A model provider on a free port: a real HTTP server that answers with recorded exchanges like OpenAI, Anthropic and
 * Gemini. It injects faults on demand, and keeps the requests that it received for assertions.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProviderRecording, readRecordings } from './recording.ts';
import { getFamily, getRefusal, type RefusalRequest, unknownPath } from './refusals.ts';
import { asArray, compress, cut, render } from './render.ts';

export interface ProviderOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Milliseconds before the first byte of each answer; default 0. */
  readonly latency_ms?: number | undefined;
  /** Milliseconds between two writes of a stream; default 0. */
  readonly pause_ms?: number | undefined;
  /** The accepted keys; `null`, the default, accepts all. */
  readonly keys?: readonly string[] | null | undefined;
  /** Number of requests to keep, the latest ones (default: all). */
  readonly kept_max?: number | undefined;
}

/** The answer to one request. */
export interface Step {
  readonly recording: string;
  readonly pieces?: Readonly<Record<string, readonly string[]>>;
  /** Cuts the stream after every so many bytes; by default each event is one write. */
  readonly cut_bytes?: number;
  /** Milliseconds before the first byte and between two writes. */
  readonly latency_ms?: number;
  readonly pause_ms?: number;
  /** Applied if the client accepts it; with `insists`, in any case. */
  readonly encoding?: 'gzip' | 'br';
  readonly insists?: boolean;
  /** A fault, and the number of writes after which it occurs; 0 is before the headers of the answer. */
  readonly fault?: Fault;
}

export interface Fault {
  readonly after: number;
  readonly kind: 'reset' | 'silent' | 'end';
}

/** One received request and its outcome. */
export interface Exchange {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  /** Alternating names and values, as they were sent. */
  readonly raw_headers: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** `null` if the provider itself refused the request. */
  recording: string | null;
  /** The client disconnected before the answer was complete. */
  aborted: boolean;
  /** The provider itself reset the connection. */
  is_reset: boolean;
  writes: number;
  /** Resolves when the answer is complete or the client has disconnected. */
  readonly ended: Promise<void>;
}

export interface Provider {
  readonly port: number;
  readonly url: string;
  /**
   * Answers the requests with `mark` in their body or in a header, one step per request. The last step answers all
   * further requests.
   */
  readonly plan: (mark: string, steps: readonly Step[]) => void;
  /** Returns the received requests in order: all, or those with `mark`. */
  readonly received: (mark?: string) => readonly Exchange[];
  /** Requests that a planned recording does not answer, and wrong marks: faults of a test, or of an LLM proxy. */
  readonly complaints: () => readonly string[];
  readonly forget: () => void;
  readonly close: () => Promise<void>;
}

const RESET_MS = 20;

/** Starts a provider. Resolves when it listens on 127.0.0.1. */
export async function startProvider(options: ProviderOptions = {}): Promise<Provider> {
  const world = openWorld(options);
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    response.on('error', () => {});
    void receive(world, request, response).catch((error: unknown) => {
      world.complaints.push(String(error));
      response.destroy();
    });
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    plan: (mark, steps) => {
      for (const { recording } of steps) recordingNamed(world, recording);
      world.plans.set(mark, { steps, used: 0 });
    },
    received: (mark) => world.received.filter((each) => mark === undefined || holds(each, mark)),
    complaints: () => world.complaints,
    forget: () => {
      world.received.length = 0;
      world.plans.clear();
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface World {
  readonly options: ProviderOptions;
  readonly recordings: ReadonlyMap<string, ProviderRecording>;
  /** Rendered answers of unplanned requests, cached. */
  readonly drawn: Map<string, readonly Buffer[]>;
  readonly plans: Map<string, { readonly steps: readonly Step[]; used: number }>;
  readonly received: Exchange[];
  readonly complaints: string[];
}

function openWorld(options: ProviderOptions): World {
  const recordings = readRecordings();
  return { options, recordings, drawn: new Map(), plans: new Map(), received: [], complaints: [] };
}

function recordingNamed({ recordings }: World, name: string): ProviderRecording {
  const found = recordings.get(name);
  if (found === undefined) throw new Error(`there is no recording \`${name}\``);
  return found;
}

async function receive(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const exchange = keep(world, request, response, body);
  const address = new URL(request.url ?? '/', 'http://provider');
  const asked: RefusalRequest = {
    method: exchange.method,
    path: decodeURIComponent(address.pathname),
    headers: request.headers,
    query_key: address.searchParams.get('key'),
    is_sse: address.searchParams.get('alt') === 'sse',
    body,
    json: getJson(body),
  };
  const refused = getRefusal(asked, world.options.keys ?? null);
  if (refused !== null) {
    response.writeHead(refused.status, [...refused.headers]).end(refused.body);
    return;
  }
  const step = stepFor(world, asked, exchange);
  if (step === null) {
    const unknown = unknownPath(asked);
    response.writeHead(unknown.status, [...unknown.headers]).end(unknown.body);
    return;
  }
  exchange.recording = step.recording;
  await answer(world, { asked, exchange, response, step });
}

function keep(world: World, request: IncomingMessage, response: ServerResponse, body: Buffer): Exchange {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const exchange: Exchange = {
    method: request.method ?? '',
    url: request.url ?? '',
    raw_headers: request.rawHeaders,
    headers: request.headers,
    body,
    recording: null,
    aborted: false,
    is_reset: false,
    writes: 0,
    ended,
  };
  response.once('close', () => {
    exchange.aborted = !response.writableFinished && !exchange.is_reset;
    resolve();
  });
  world.received.push(exchange);
  const keptMax = world.options.kept_max ?? Number.POSITIVE_INFINITY;
  while (world.received.length > keptMax) world.received.shift();
  return exchange;
}

function getJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the planned answer, or the first recording that answers any request; `null` if the path does not exist. */
function stepFor(world: World, asked: RefusalRequest, exchange: Exchange): Step | null {
  for (const [mark, plan] of world.plans) {
    if (!holds(exchange, mark)) continue;
    const step = plan.steps[Math.min(plan.used, plan.steps.length - 1)]!;
    plan.used += 1;
    if (!isFor(recordingNamed(world, step.recording), asked))
      world.complaints.push(`\`${step.recording}\` does not answer ${asked.method} ${asked.path} (${mark})`);
    return step;
  }
  for (const recording of world.recordings.values())
    if (recording.answers_anything && isFor(recording, asked)) return { recording: recording.name };
  return null;
}

function holds({ body, raw_headers }: Exchange, mark: string): boolean {
  return raw_headers.includes(mark) || body.includes(mark);
}

function isFor(recording: ProviderRecording, asked: RefusalRequest): boolean {
  const { method, path, json } = asked;
  const body = (json ?? {}) as Readonly<Record<string, unknown>>;
  const isStream = body.stream === true || path.endsWith(':streamGenerateContent');
  return (
    recording.name.startsWith(`${getFamily(asked)}/`) &&
    (recording.method === method || recording.method === '*') &&
    recording.path.test(path) &&
    (recording.is_stream ?? isStream) === isStream &&
    recording.with.every(({ member, value }) =>
      value === null ? Object.hasOwn(body, member) : String(body[member]) === value,
    )
  );
}

interface Turn {
  readonly asked: RefusalRequest;
  readonly exchange: Exchange;
  readonly response: ServerResponse;
  readonly step: Step;
}

async function answer(world: World, turn: Turn): Promise<void> {
  const { options } = world;
  const { asked, exchange, response, step } = turn;
  const recording = recordingNamed(world, step.recording);
  const encoding = encodingFor(asked, step);
  const writes = await getWrites(world, { recording, asked, step, encoding });
  const latencyMs = step.latency_ms ?? options.latency_ms ?? 0;
  if (latencyMs > 0) await sleep(latencyMs);
  if (isStopped(turn, 0)) return;
  const coded = encoding === null ? [] : ['content-encoding', encoding, 'vary', 'accept-encoding'];
  response.writeHead(recording.status, [...recording.headers, ...coded, 'date', new Date().toUTCString()]);
  if (writes.length > 1) response.flushHeaders();
  const pauseMs = step.pause_ms ?? options.pause_ms ?? 0;
  for (const [at, bytes] of writes.entries()) {
    if (at > 0 && pauseMs > 0) await sleep(pauseMs);
    if (response.destroyed) return;
    if (!response.write(bytes)) await Promise.race([once(response, 'drain'), exchange.ended]);
    exchange.writes += 1;
    if (isStopped(turn, at + 1)) return;
    if (writes.length > 1) await new Promise(setImmediate);
  }
  response.end();
}

/** Injects the fault for this point of the answer, and returns whether the answer ends. */
function isStopped({ response, exchange, step: { fault } }: Turn, writes: number): boolean {
  if (response.destroyed) return true;
  if (fault === undefined || fault.after !== writes) return false;
  if (fault.kind === 'end') response.end();
  if (fault.kind === 'reset') {
    exchange.is_reset = true;
    // A reset discards bytes that the client has not read yet, so it is delayed.
    setTimeout(() => response.socket?.resetAndDestroy(), RESET_MS);
  }
  return true;
}

function encodingFor({ headers }: RefusalRequest, { encoding, insists = false }: Step): 'gzip' | 'br' | null {
  const accepted = String(headers['accept-encoding'] ?? '').split(/[ ,;]+/);
  return encoding !== undefined && (insists || accepted.includes(encoding)) ? encoding : null;
}

interface Written {
  readonly recording: ProviderRecording;
  readonly asked: RefusalRequest;
  readonly step: Step;
  readonly encoding: 'gzip' | 'br' | null;
}

async function getWrites(
  world: World,
  { recording, asked, step, encoding }: Written,
): Promise<readonly Buffer[]> {
  const hasUsage = asksForUsage(asked.json);
  const key = `${recording.name} ${hasUsage}`;
  const events =
    (step.pieces === undefined ? world.drawn.get(key) : undefined) ??
    render(recording, { pieces: step.pieces, has_usage: hasUsage });
  if (step.pieces === undefined) world.drawn.set(key, events);
  const framed = asked.path.endsWith(':streamGenerateContent') && !asked.is_sse ? asArray(events) : events;
  const writes = cut(framed, step.cut_bytes ?? null);
  return encoding === null ? writes : compress(writes, encoding);
}

function asksForUsage(json: unknown): boolean {
  const options = (json as { stream_options?: { include_usage?: unknown } } | undefined)?.stream_options;
  return options?.include_usage === true;
}
