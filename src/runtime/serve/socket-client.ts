import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { osUserName } from '../access/os-user.ts';
import {
  LINE_BYTES_MAX,
  lineReader,
  type SocketAnswer,
  type SocketCaller,
  type SocketQuestion,
  type SocketRefusal,
} from './socket-lines.ts';
import { shortPath } from './socket-path.ts';
import type { ServiceStatus } from './socket-server.ts';
import { statePaths } from './state-dir.ts';

/** An expected no of the service, as it came over the socket. */
export class SocketFailure extends Error {
  readonly code: string;
  readonly details: SocketRefusal['details'];
  constructor(refusal: SocketRefusal) {
    super(refusal.message);
    this.name = 'SocketFailure';
    this.code = refusal.code;
    this.details = refusal.details;
  }
}

/** A service that runs, reached through its state folder. */
export interface ServiceDoor {
  readonly status: () => Promise<ServiceStatus>;
  /** Resolves when the audit index has every event that was durable before. */
  readonly syncIndex: () => Promise<void>;
  /** Asks for the folder; whether its owner leaves it, as a resident process does and a service does not. */
  readonly leave: () => Promise<boolean>;
  /** Calls an operation as the user of the operating system, or as somebody else. Rejects with a SocketFailure. */
  readonly call: (operation: string, input: unknown, as?: SocketCaller) => Promise<unknown>;
  readonly close: () => void;
}

const CONNECT_MS = 2_000;
const ANSWER_MS = 60_000;

/** Reaches the service that owns a state folder; `null` when none runs there. */
export async function reachService(state_dir: string): Promise<ServiceDoor | null> {
  const socket = await openSocket(statePaths(state_dir).socket);
  if (socket === null) return null;
  const waiting = new Map<number, (answer: SocketAnswer) => void>();
  const lines = lineReader(LINE_BYTES_MAX);
  let last_id = 0;

  function end(): void {
    for (const [id, settle] of waiting) settle({ id, refusal: ENDED });
    waiting.clear();
    socket?.destroy();
  }
  socket.on('data', (chunk: Buffer) => {
    for (const line of lines(chunk) ?? []) {
      const answer = JSON.parse(line) as SocketAnswer;
      waiting.get(answer.id)?.(answer);
      waiting.delete(answer.id);
    }
  });
  socket.on('error', end);
  socket.on('close', end);

  async function ask(question: Omitted<SocketQuestion>): Promise<unknown> {
    const id = ++last_id;
    const answer = await new Promise<SocketAnswer>((resolve) => {
      if (socket === null || !socket.writable) return resolve({ id, refusal: ENDED });
      const timer = setTimeout(() => resolve({ id, refusal: LATE }), ANSWER_MS);
      waiting.set(id, (settled) => {
        clearTimeout(timer);
        resolve(settled);
      });
      socket.write(`${JSON.stringify({ id, ...question })}\n`);
    });
    if ('refusal' in answer) throw new SocketFailure(answer.refusal);
    return answer.value;
  }

  return {
    status: async () => (await ask({ ask: 'status' })) as ServiceStatus,
    leave: async () => ((await ask({ ask: 'leave' })) as { leaving: boolean }).leaving,
    syncIndex: async () => void (await ask({ ask: 'sync_index' })),
    call: (operation, input, as) =>
      ask({ ask: 'call', operation, input, user: osUserName(), ...(as !== undefined && { as }) }),
    close: end,
  };
}

type Omitted<Question> = Question extends unknown ? Omit<Question, 'id'> : never;

const ENDED: SocketRefusal = { code: 'unavailable', message: 'The service has ended.', details: [] };
const LATE: SocketRefusal = { code: 'unavailable', message: 'The service does not answer.', details: [] };

/** `null` when nobody listens there: no file, or one that a killed service left. */
async function openSocket(path: string): Promise<Socket | null> {
  if (!existsSync(path)) return null;
  const short = shortPath(path);
  return new Promise<Socket | null>((resolve) => {
    const socket = connect(short.path);
    const give = (result: Socket | null): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      if (result === null) socket.on('error', () => {}).destroy();
      resolve(result);
    };
    const timer = setTimeout(() => give(null), CONNECT_MS);
    socket.once('connect', () => give(socket));
    socket.once('error', () => give(null));
  }).finally(short.close);
}
