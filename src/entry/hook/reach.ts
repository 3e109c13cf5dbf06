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
import type { HookQuestion } from './question.ts';

/** The result of a request to the owner of the state folder. */
export type Reached =
  | { readonly answers: readonly HookAnswer[] }
  /** No process listens, it ended before it answered, or it runs another configuration or version. */
  | { readonly alone: 'nobody' | 'ended' | 'other' }
  | { readonly refused: string };

/** The state folder, and the identity that the process there must match. */
export interface Asking {
  readonly state_dir: string;
  readonly config_file: string | null;
  readonly version: string;
  readonly user: string;
}

/** Asks the process that owns the state folder to decide. It has no time limit; the caller sets one. */
export async function reach(question: HookQuestion, asking: Asking): Promise<Reached> {
  const told = await exchange('hook', question, asking);
  return 'line' in told ? reachedOf(told.line, question.checks.length) : told;
}

/**
 * Asks the owner for a dialect that a plug-in describes: plain data, or `null` if its configuration has none. The
 * result is `alone` if no process can answer.
 */
export async function reachDialect(
  name: string,
  asking: Asking,
): Promise<{ readonly dialect: DialectSpec | null } | { readonly alone: true }> {
  const told = await exchange('dialect', name, asking);
  if (!('line' in told)) return { alone: true };
  const answer = JSON.parse(told.line) as { readonly value?: DialectSpec | null };
  return answer.value === undefined ? { alone: true } : { dialect: answer.value };
}

/** The depth at which a line holds the content of a check, or its changed content. */
const LEVELS = 4;

/** Sends one line and reads one line. */
function exchange(
  ask: 'hook' | 'dialect',
  input: unknown,
  { state_dir, config_file, version, user }: Asking,
): Promise<{ readonly line: string } | { readonly alone: 'nobody' | 'ended' }> {
  return new Promise((resolve) => {
    const short = pathOf(join(state_dir, 'service.sock'));
    if (short === null) return resolve({ alone: 'nobody' });
    let connected = false;
    let heard = '';
    const socket: Socket = connect(short.path);
    socket.setEncoding('utf8');
    const give = (told: { readonly line: string } | { readonly alone: 'nobody' | 'ended' }): void => {
      short.close();
      socket.destroy();
      resolve(told);
    };
    socket.once('connect', () => {
      connected = true;
      socket.write(`${writeExactJson({ id: 1, ask, input, config_file, version, user }, LEVELS)}\n`);
    });
    socket.on('data', (chunk: string) => {
      heard += chunk;
      if (heard.includes('\n')) give({ line: heard });
    });
    socket.on('error', () => {});
    socket.once('close', () => give({ alone: connected ? 'ended' : 'nobody' }));
  });
}

/** Returns `null` if the folder does not exist, because it then has no socket. */
function pathOf(path: string): ReturnType<typeof openSocketPath> | null {
  try {
    return openSocketPath(path);
  } catch {
    return null;
  }
}

function reachedOf(line: string, count: number): Reached {
  const answer = parseJson(line) as {
    readonly value?: readonly HookAnswer[];
    readonly refusal?: { readonly code: string; readonly message: string };
  };
  if (answer.refusal?.code === 'other_service') return { alone: 'other' };
  if (answer.refusal !== undefined) return { refused: answer.refusal.message };
  if (!Array.isArray(answer.value) || answer.value.length !== count)
    return { refused: 'The service that runs gave no answer that can be read.' };
  rememberNestedSources(answer as unknown as Json, SOURCE_LIMITS, LEVELS);
  return { answers: answer.value };
}
