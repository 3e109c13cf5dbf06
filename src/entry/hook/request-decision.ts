import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { HookAnswer } from '../../coding-agents/record/dialect.ts';
import {
  parseJson,
  rememberNestedSources,
  SOURCE_LIMITS,
  writeExactJson,
} from '../../core/json/value-source.ts';
import type { Json } from '../../core/types/index.ts';
import type { DialectSpec } from '../../runtime/adapters/types.ts';
import { openSocketPath } from '../../server/socket-path.ts';
import type { HookRequest } from './hook-request.ts';

/** The result of a request to the owner of the state folder. */
export type OwnerReply =
  | { readonly answers: readonly HookAnswer[] }
  /** No process listens, it ended before it answered, or it runs another configuration or version. */
  | { readonly unavailable: 'not_running' | 'ended' | 'other_service' }
  | { readonly refused: string };

/** The state folder, and the identity that the process there must match. */
export interface OwnerIdentity {
  readonly state_dir: string;
  readonly config_file: string | null;
  readonly version: string;
  readonly user: string;
}

/** Asks the process that owns the state folder to decide. It has no time limit; the caller sets one. */
export async function requestDecision(request: HookRequest, owner: OwnerIdentity): Promise<OwnerReply> {
  const exchanged = await exchangeLine('hook', request, owner);
  return 'line' in exchanged ? parseReply(exchanged.line, request.checks.length) : exchanged;
}

/**
 * Asks the owner for a dialect that a plug-in describes: plain data, or `null` if its configuration has none. The
 * result is `unavailable` if no process can answer.
 */
export async function requestDialect(
  name: string,
  owner: OwnerIdentity,
): Promise<{ readonly dialect: DialectSpec | null } | { readonly unavailable: true }> {
  const exchanged = await exchangeLine('dialect', name, owner);
  if (!('line' in exchanged)) return { unavailable: true };
  const answer = JSON.parse(exchanged.line) as { readonly value?: DialectSpec | null };
  return answer.value === undefined ? { unavailable: true } : { dialect: answer.value };
}

/** The depth at which a line holds the content of a check, or its changed content. */
const CONTENT_DEPTH = 4;

/** Sends one line and reads one line. */
function exchangeLine(
  method: 'hook' | 'dialect',
  input: unknown,
  { state_dir, config_file, version, user }: OwnerIdentity,
): Promise<{ readonly line: string } | { readonly unavailable: 'not_running' | 'ended' }> {
  return new Promise((resolve) => {
    const short = openPathOrNull(join(state_dir, 'service.sock'));
    if (short === null) return resolve({ unavailable: 'not_running' });
    let connected = false;
    let received = '';
    const socket: Socket = connect(short.path);
    socket.setEncoding('utf8');
    const settle = (
      exchanged: { readonly line: string } | { readonly unavailable: 'not_running' | 'ended' },
    ): void => {
      short.close();
      socket.destroy();
      resolve(exchanged);
    };
    socket.once('connect', () => {
      connected = true;
      socket.write(
        `${writeExactJson({ id: 1, method, input, config_file, version, user }, CONTENT_DEPTH)}\n`,
      );
    });
    socket.on('data', (chunk: string) => {
      received += chunk;
      if (received.includes('\n')) settle({ line: received });
    });
    socket.on('error', () => {});
    socket.once('close', () => settle({ unavailable: connected ? 'ended' : 'not_running' }));
  });
}

/** Returns `null` if the folder does not exist, because it then has no socket. */
function openPathOrNull(path: string): ReturnType<typeof openSocketPath> | null {
  try {
    return openSocketPath(path);
  } catch {
    return null;
  }
}

function parseReply(line: string, count: number): OwnerReply {
  const answer = parseJson(line) as {
    readonly value?: readonly HookAnswer[];
    readonly refusal?: { readonly code: string; readonly message: string };
  };
  if (answer.refusal?.code === 'other_service') return { unavailable: 'other_service' };
  if (answer.refusal !== undefined) return { refused: answer.refusal.message };
  if (!Array.isArray(answer.value) || answer.value.length !== count)
    return { refused: 'The service that runs gave no answer that can be read.' };
  rememberNestedSources(answer as unknown as Json, SOURCE_LIMITS, CONTENT_DEPTH);
  return { answers: answer.value };
}
