import type { Dispatcher } from 'undici';
import { UpstreamFailure, type UpstreamFailureCode } from './failure.ts';
import type { UpstreamPorts } from './ports.ts';

/** One HTTP request, ready to send. */
export interface UpstreamHttpRequest {
  readonly method: string;
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: string[];
  readonly body: Uint8Array | null;
}

/** The timeouts of one exchange, in milliseconds. */
export interface ExchangeTimeouts {
  /** The timeout until the status arrives, including connecting. */
  readonly first_byte_ms: number;
  /** The timeout without a byte while a reader waits. */
  readonly idle_ms: number;
}

/** An answer whose status and headers have arrived. */
export interface UpstreamHttpAnswer {
  readonly status: number;
  /** Alternating names and values, as received. */
  readonly headers: readonly string[];
  /**
   * The body, which can be read once. Rejects with an `UpstreamFailure`. A reader that stops early closes the
   * connection.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Aborts the answer; the body then rejects with this reason. Has no effect on a complete answer. */
  readonly cut: (reason: UpstreamFailure) => void;
}

/** The number of unread bytes at which reading from the provider is paused. */
const WAITING_BYTES_MAX = 256 * 1_024;

/**
 * Makes one HTTP exchange. Rejects with an `UpstreamFailure`. Follows no redirects. When the signal aborts, the
 * connection is destroyed, even if the answer has begun.
 */
export function exchangeHttp(
  dispatcher: Dispatcher,
  outgoing: UpstreamHttpRequest,
  patience: ExchangeTimeouts,
  signal: AbortSignal,
  alarm: UpstreamPorts['alarm'],
): Promise<UpstreamHttpAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null;
    let ended: UpstreamFailure | 'whole' | null = null;
    const queue = openByteQueue({
      idle_ms: patience.idle_ms,
      alarm,
      pause: () => controller?.pause(),
      resume: () => controller?.resume(),
      cut: (reason) => cut(reason),
    });
    const end = (how: UpstreamFailure | 'whole'): boolean => {
      if (ended !== null) return false;
      ended = how;
      quiet();
      signal.removeEventListener('abort', abort);
      queue.end(how === 'whole' ? null : how);
      if (how !== 'whole') reject(how);
      return true;
    };
    const cut = (reason: UpstreamFailure): void => {
      if (end(reason)) controller?.abort(reason);
    };
    const abort = (): void =>
      cut(new UpstreamFailure('aborted', 'The caller no longer waits for the answer.'));
    const quiet = alarm(patience.first_byte_ms, () =>
      cut(buildTimeoutFailure('did not begin to answer in time')),
    );
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started;
        // The call was aborted before it got a connection.
        if (ended !== null) started.abort(ended === 'whole' ? new Error('ended') : ended);
      },
      onResponseStart: (_, status) => {
        if (status < 200) return;
        quiet();
        resolve({ status, headers: readRawHeaders(controller), body: queue.bytes, cut });
      },
      onResponseData: (_, chunk) => queue.push(chunk),
      onResponseEnd: () => void end('whole'),
      onResponseError: (_, fault) => void end(classifyFault(fault)),
    };
    dispatchRequest(dispatcher, outgoing, handler, (fault) => void end(classifyFault(fault)));
  });
}

function dispatchRequest(
  dispatcher: Dispatcher,
  { method, path, headers, body }: UpstreamHttpRequest,
  handler: Dispatcher.DispatchHandler,
  fail: (fault: unknown) => void,
): void {
  try {
    const options = { method: method as Dispatcher.HttpMethod, path, headers, body };
    // This module has its own timeouts because those of the library are up to a second late.
    dispatcher.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler);
  } catch (fault) {
    fail(fault);
  }
}

interface QueuePorts {
  readonly idle_ms: number;
  readonly alarm: UpstreamPorts['alarm'];
  readonly pause: () => void;
  readonly resume: () => void;
  readonly cut: (reason: UpstreamFailure) => void;
}

interface ByteQueue {
  readonly push: (chunk: Uint8Array) => void;
  /** @param reason `null` if the body is complete */
  readonly end: (reason: UpstreamFailure | null) => void;
  readonly bytes: AsyncIterable<Uint8Array>;
}

type PendingRead = {
  readonly resolve: (result: IteratorResult<Uint8Array>) => void;
  readonly reject: (reason: UpstreamFailure) => void;
};

/** Opens a queue of received, unread bytes. The idle timeout runs only while a reader waits. */
function openByteQueue({ idle_ms, alarm, pause, resume, cut }: QueuePorts): ByteQueue {
  const chunks: Uint8Array[] = [];
  let waitingBytes = 0;
  let ended: { readonly reason: UpstreamFailure | null } | null = null;
  let reader: PendingRead | null = null;
  let quiet: (() => void) | null = null;

  const settle = (): PendingRead | null => {
    const settled = reader;
    reader = null;
    quiet?.();
    quiet = null;
    return settled;
  };
  const next = (): Promise<IteratorResult<Uint8Array>> => {
    const chunk = chunks.shift();
    if (chunk !== undefined) {
      waitingBytes -= chunk.length;
      if (waitingBytes < WAITING_BYTES_MAX) resume();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (ended !== null) return ended.reason === null ? Promise.resolve(DONE) : Promise.reject(ended.reason);
    return new Promise((resolve, reject) => {
      reader = { resolve, reject };
      quiet = alarm(idle_ms, () =>
        cut(buildTimeoutFailure('was silent for too long in the middle of its answer')),
      );
    });
  };
  const leave = async (): Promise<IteratorResult<Uint8Array>> => {
    cut(new UpstreamFailure('aborted', 'The caller no longer reads the answer.'));
    chunks.length = 0;
    return DONE;
  };
  return {
    push: (chunk) => {
      const waiting = settle();
      if (waiting !== null) return waiting.resolve({ done: false, value: chunk });
      chunks.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes >= WAITING_BYTES_MAX) pause();
    },
    end: (reason) => {
      ended = { reason };
      const waiting = settle();
      if (reason === null) waiting?.resolve(DONE);
      else waiting?.reject(reason);
    },
    bytes: { [Symbol.asyncIterator]: () => ({ next, return: leave }) },
  };
}

const DONE: IteratorResult<Uint8Array> = { done: true, value: undefined };

function buildTimeoutFailure(what: string): UpstreamFailure {
  return new UpstreamFailure('upstream_timeout', `The provider ${what}.`);
}

/** Returns the headers as strings. The library has them as bytes; HTTP header values are Latin-1. */
function readRawHeaders(controller: Dispatcher.DispatchController | null): string[] {
  const raw = (controller?.rawHeaders ?? []) as readonly (Uint8Array | string)[];
  return raw.map((one) => (typeof one === 'string' ? one : Buffer.from(one).toString('latin1')));
}

/** Classifies a fault of the library or system for the caller. The fault's own message is not used. */
function classifyFault(fault: unknown): UpstreamFailure {
  if (fault instanceof UpstreamFailure) return fault;
  const { code, name } = (fault ?? {}) as { code?: unknown; name?: unknown };
  const known = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : 'an unknown fault';
  // Some parser errors have no code.
  const system = name === 'HTTPParserError' ? 'HPE_INVALID' : known;
  const [kind, sentence] = MEANINGS[system] ?? findMeaning(system);
  return new UpstreamFailure(kind, `${sentence} (${system}).`);
}

type FailureMeaning = readonly [UpstreamFailureCode, string];

const MEANINGS: Readonly<Record<string, FailureMeaning>> = {
  UND_ERR_CONNECT_TIMEOUT: ['upstream_timeout', 'The provider could not be connected to in time'],
  UND_ERR_INVALID_ARG: ['invalid_request', 'The path or a header has characters that HTTP does not allow'],
  UND_ERR_HEADERS_OVERFLOW: ['upstream_broken', 'The headers of the provider’s answer are too large'],
  UND_ERR_SOCKET: ['upstream_broken', 'The provider closed the connection'],
  ECONNRESET: ['upstream_broken', 'The provider closed the connection'],
  EPIPE: ['upstream_broken', 'The provider closed the connection'],
};

function findMeaning(system: string): FailureMeaning {
  if (system.startsWith('HPE_') || system.startsWith('UND_ERR_'))
    return ['upstream_broken', 'The answer of the provider cannot be parsed'];
  return ['upstream_unreachable', 'The provider could not be reached'];
}
