import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Static, TSchema } from 'typebox';
import {
  parseJson,
  rememberNestedSources,
  SOURCE_LIMITS,
  writeExactJson,
} from '../core/json/value-source.ts';
import type { Operation, RunOperation } from '../operations/operation.ts';
import { getOsUserName } from '../runtime/access/os-user.ts';
import { getTokenPath, readToken } from '../runtime/access/tokens.ts';
import type { FollowedPage } from '../runtime/audit/events/follow-index.ts';
import { checkOperatorFolder } from './operator-folder.ts';
import type { ServiceStatus } from './service.ts';
import {
  CONTENT_LEVELS,
  exchange,
  type NoResponse,
  openExchange,
  readResponse,
  type SocketExchange,
  type SocketResponse,
} from './socket-exchange.ts';
import { SocketFailure } from './socket-failure.ts';
import { buildHeaders, USER_HEADER } from './socket-headers.ts';
import { getContentSocket, openSocketPath } from './socket-path.ts';
import { buildStatePaths } from './state-dir.ts';

/** A client of a running service, for an operator of this machine. Each method rejects with a SocketFailure. */
export interface ServiceClient {
  readonly status: () => Promise<ServiceStatus>;
  /** Resolves when the audit index has every event that was durable before. */
  readonly syncIndex: () => Promise<void>;
  /**
   * Asks the owner to give up the state folder. Resolves with whether it does: a daemon does, a service does
   * not.
   */
  readonly leave: () => Promise<boolean>;
  /** Calls an operation as the user of the operating system. */
  readonly call: (operation: string, input: unknown) => Promise<unknown>;
  /** Calls an operation in the same way, typed by its record. */
  readonly run: RunOperation;
  /** Yields new pages of the audit log until the service ends, the client is closed, or the answer times out. */
  readonly follow: (input: unknown) => AsyncGenerator<FollowedPage>;
  /** Cuts off everything that is open. */
  readonly close: () => void;
}

/** The identity of an operator's client: the operator token, and the user for the audit log. */
export interface OperatorIdentity {
  /** `null` if this user can read no token in the state folder. */
  readonly token: string | null;
  /** `null` for a program that holds the token and acts for no user of the operating system. */
  readonly user: string | null;
}

const CONNECT_MS = 2_000;
const REPLY_MS_MAX = 60_000;

/**
 * Connects to the service that owns a state folder. Returns `null` if no service runs there. The default identity is
 * that of the command line, which reads the operator token from the folder.
 *
 * @throws StartFailure `state_unusable` if another user may listen at the socket
 */
export async function connectService(
  stateDir: string,
  identity: OperatorIdentity = { token: readToken(stateDir, 'operator'), user: getOsUserName() },
): Promise<ServiceClient | null> {
  const socket = buildStatePaths(stateDir).operator_socket;
  if (!checkOperatorFolder(stateDir) || !(await isListening(socket))) return null;
  const closing = new AbortController();
  const build = (method: 'GET' | 'POST', path: string, input?: unknown): SocketExchange => {
    if (identity.token === null) throw buildTokenFailure(stateDir);
    const authorization = `Bearer ${identity.token}`;
    return {
      ...{ method, path, headers: { authorization, ...buildHeaders({ [USER_HEADER]: identity.user }) } },
      ...(input !== undefined && { body: writeExactJson(input, CONTENT_LEVELS) }),
    };
  };
  const request = async (...parts: Parameters<typeof build>): Promise<unknown> =>
    readAnswer(await limitTime((signal) => exchange(socket, { ...build(...parts), signal }), closing.signal));
  const run: RunOperation = <Input extends TSchema, Output extends TSchema>(
    { name }: Operation<Input, Output>,
    input: Static<Input>,
  ) => request('POST', `/operations/${name}`, input) as Promise<Static<Output>>;
  return {
    run,
    status: async () => (await request('GET', '/status')) as ServiceStatus,
    leave: async () => ((await request('POST', '/leave')) as { leaving: boolean }).leaving,
    syncIndex: async () => void (await request('POST', '/sync-index')),
    call: (operation, input) => request('POST', `/operations/${operation}`, input),
    follow: (input) => followPages(socket, build('POST', '/follow', input), closing.signal),
    close: () => closing.abort(),
  };
}

/**
 * Calls an operation of the content socket, as the agent of an MCP server that a user of this machine started. Resolves
 * with `null` if no service is running.
 *
 * @throws SocketFailure if the service refuses, or ends before it answers
 */
export async function callWithContent(
  stateDir: string,
  operation: string,
  input: unknown,
): Promise<{ readonly value: unknown } | null> {
  const headers = buildHeaders({ [USER_HEADER]: getOsUserName() });
  const body = writeExactJson(input, CONTENT_LEVELS);
  const socket = getContentSocket(stateDir);
  const path = `/operations/${operation}`;
  const reply = await limitTime((signal) =>
    exchange(socket, { method: 'POST', path, headers, body, signal }),
  );
  if ('unavailable' in reply && reply.unavailable === 'not_running') return null;
  return { value: readAnswer(reply) };
}

/** Calls an operation as `callWithContent` does, typed by its record. */
export function runWithContent<Input extends TSchema, Output extends TSchema>(
  stateDir: string,
  { name }: Operation<Input, Output>,
  input: Static<Input>,
): Promise<{ readonly value: Static<Output> } | null> {
  return callWithContent(stateDir, name, input) as Promise<{ readonly value: Static<Output> } | null>;
}

/** Rejects if `use` does not resolve in time, and cuts it off. */
async function limitTime<Reply>(
  use: (signal: AbortSignal) => Promise<Reply>,
  closing: AbortSignal | null = null,
): Promise<Reply> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), REPLY_MS_MAX);
  try {
    const reply = await use(closing === null ? late.signal : AbortSignal.any([late.signal, closing]));
    if (late.signal.aborted) throw new SocketFailure('unavailable', 'The service does not answer.');
    return reply;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the value of an answer. Its numbers keep their digits. @throws SocketFailure */
function readAnswer(reply: SocketResponse | NoResponse): unknown {
  if ('unavailable' in reply) throw new SocketFailure('unavailable', 'The service has ended.');
  // Node's HTTP server answers this without a body, if a request waited too long until it was read.
  if (reply.status === 408) throw new SocketFailure('unavailable', 'The service is busy. Try again.');
  const value = parseJson(reply.text);
  if (reply.status !== 200) throw buildRefusal(value);
  rememberNestedSources(value, SOURCE_LIMITS, CONTENT_LEVELS);
  return value;
}

function buildRefusal(body: unknown): SocketFailure {
  const { code, error, details } = body as {
    code: string;
    error: string;
    details?: SocketFailure['details'];
  };
  return new SocketFailure(code, error, details);
}

function buildTokenFailure(stateDir: string): SocketFailure {
  const path = getTokenPath(stateDir, 'operator');
  return new SocketFailure(
    'unauthenticated',
    `The operator token \`${path}\` cannot be read by this user. Run the command as the user of the service, or make a new token with \`customshouse token rotate operator\`.`,
  );
}

/** Yields the pages of one follower, until the connection ends. @throws SocketFailure if the service refuses */
async function* followPages(
  socket: string,
  request: SocketExchange,
  closing: AbortSignal,
): AsyncGenerator<FollowedPage> {
  const response = await limitTime((signal) => openExchange(socket, { ...request, signal }), closing);
  if ('unavailable' in response) return;
  if (response.statusCode !== 200) readAnswer(await readResponse(response));
  else yield* readPages(response);
}

/** Yields one page for each line. A response that is cut off ends the pages. */
async function* readPages(response: IncomingMessage): AsyncGenerator<FollowedPage> {
  let pieces: string[] = [];
  try {
    for await (const chunk of response as AsyncIterable<string>) {
      const [rest = '', ...next] = chunk.split('\n');
      pieces.push(rest);
      for (const piece of next) {
        yield JSON.parse(pieces.join('')) as FollowedPage;
        pieces = [piece];
      }
    }
  } catch (fault) {
    if (fault instanceof SyntaxError) throw fault;
  }
}

/** Returns whether a process listens there. A killed service leaves its socket behind. */
async function isListening(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const short = openSocketPath(path);
  const socket = connect(short.path);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.on('error', () => {}).destroy();
    short.close();
  }
}
