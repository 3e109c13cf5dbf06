import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { shortPath } from '../../runtime/serve/socket-path.ts';
import type { HookAnswer } from './dialects/dialect.ts';
import type { HookQuestion } from './judge.ts';

/** What came of asking whoever owns the state folder. */
export type Reached =
  | { readonly answers: readonly HookAnswer[] }
  /** Nobody is there, it ended before it answered, or it is for another configuration or of another version. */
  | { readonly alone: 'nobody' | 'ended' | 'other' }
  | { readonly refused: string };

/** Whose answers count. */
export interface Asking {
  readonly state_dir: string;
  readonly config_file: string | null;
  readonly version: string;
  readonly user: string;
}

/**
 * Asks the process that owns the state folder, in one line, and waits for its answer; for how long is the business of
 * who calls.
 */
export function reach(question: HookQuestion, asking: Asking): Promise<Reached> {
  const { config_file, version, user } = asking;
  return new Promise((resolve) => {
    const short = pathOf(join(asking.state_dir, 'service.sock'));
    if (short === null) return resolve({ alone: 'nobody' });
    let connected = false;
    let heard = '';
    const socket: Socket = connect(short.path);
    socket.setEncoding('utf8');
    const give = (reached: Reached): void => {
      short.close();
      socket.destroy();
      resolve(reached);
    };
    socket.once('connect', () => {
      connected = true;
      socket.write(
        `${JSON.stringify({ id: 1, ask: 'hook', input: question, config_file, version, user })}\n`,
      );
    });
    socket.on('data', (chunk: string) => {
      heard += chunk;
      if (heard.includes('\n')) give(reachedOf(heard, question.checks.length));
    });
    socket.on('error', () => {});
    socket.once('close', () => give({ alone: connected ? 'ended' : 'nobody' }));
  });
}

/** A folder that is not there has no socket either. */
function pathOf(path: string): ReturnType<typeof shortPath> | null {
  try {
    return shortPath(path);
  } catch {
    return null;
  }
}

function reachedOf(line: string, count: number): Reached {
  const answer = JSON.parse(line) as {
    readonly value?: readonly HookAnswer[];
    readonly refusal?: { readonly code: string; readonly message: string };
  };
  if (answer.refusal?.code === 'other_service') return { alone: 'other' };
  if (answer.refusal !== undefined) return { refused: answer.refusal.message };
  if (!Array.isArray(answer.value) || answer.value.length !== count)
    return { refused: 'The service that runs gave no answer that can be read.' };
  return { answers: answer.value };
}
