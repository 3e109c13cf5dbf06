/**
 * Requests and responses between two processes that trust each other: the parent and one of its workers. Each
 * side declares the requests that it answers. A request ends once: with an answer, a time-out, or the end of
 * the other side.
 */

/**
 * The requests that one side answers: a name, and a function from the input to the answer. Both must be plain
 * data.
 */
// biome-ignore lint/suspicious/noExplicitAny: each side's own interface types the inputs and the answers.
export type RpcHandlers = { readonly [method: string]: (input: any) => unknown };

/** A message pipe, as a forked process and its parent have one. */
export interface MessagePipe {
  readonly send: (message: unknown) => boolean;
  readonly onMessage: (listener: (message: unknown) => void) => void;
}

export interface RpcChannel<Theirs extends RpcHandlers> {
  /** Rejects with a `ChannelFault` on a time-out, or if the other side failed to answer. */
  readonly call: <Method extends keyof Theirs & string>(
    method: Method,
    input: Parameters<Theirs[Method]>[0],
    timeoutMs: number,
  ) => Promise<Awaited<ReturnType<Theirs[Method]>>>;
  /** Rejects all pending requests, because the other side has ended. */
  readonly close: () => void;
}

/** The error of a request without an answer. `code` is the code of the other side if it sent one. */
export class RpcFault extends Error {
  readonly code: string;
  constructor(code: 'gone' | 'timeout' | 'failed' | (string & {}), message: string) {
    super(message);
    this.name = 'ChannelFault';
    this.code = code;
  }
}

type Message =
  | { readonly call: number; readonly method: string; readonly input: unknown }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly fault: { readonly code: string; readonly message: string } };

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (fault: RpcFault) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Opens a channel over a pipe. `answers` belongs to this side; `Theirs` is the type of the other side's
 * answers.
 */
export function openRpcChannel<Theirs extends RpcHandlers>(
  pipe: MessagePipe,
  answers: RpcHandlers,
): RpcChannel<Theirs> {
  const pending = new Map<number, PendingCall>();
  let lastId = 0;
  let open = true;

  function settle(message: Extract<Message, { answer: number }>): void {
    const pendingCall = pending.get(message.answer);
    if (pendingCall === undefined) return;
    pending.delete(message.answer);
    clearTimeout(pendingCall.timer);
    if ('fault' in message) pendingCall.reject(new RpcFault(message.fault.code, message.fault.message));
    else pendingCall.resolve(message.value);
  }

  pipe.onMessage((received) => {
    const message = received as Message;
    if ('answer' in message) settle(message);
    else void answerCall(message, answers).then((settled) => open && pipe.send(settled));
  });

  return {
    call: (method, input, timeoutMs) => {
      if (!open) return Promise.reject(new RpcFault('gone', 'the other process has ended'));
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          pending.delete(id);
          reject(new RpcFault('timeout', `no answer to \`${method}\` in ${timeoutMs} ms`));
        }, timeoutMs);
        pending.set(id, { resolve: resolve as (value: unknown) => void, reject, timer });
        pipe.send({ call: id, method, input } satisfies Message);
      });
    },
    close: () => {
      open = false;
      for (const { reject, timer } of pending.values()) {
        clearTimeout(timer);
        reject(new RpcFault('gone', 'the other process has ended'));
      }
      pending.clear();
    },
  };
}

/** Answers one request. A fault is sent as its code and message, never as a stack. */
async function answerCall(
  message: Extract<Message, { call: number }>,
  answers: RpcHandlers,
): Promise<Message> {
  try {
    const respond = answers[message.method];
    if (respond === undefined) throw new RpcFault('failed', `\`${message.method}\` is not known here`);
    return { answer: message.call, value: await respond(message.input) };
  } catch (error) {
    const { code, message: sentence } = error as { code?: unknown; message?: unknown };
    const fault = { code: typeof code === 'string' ? code : 'failed', message: String(sentence) };
    return { answer: message.call, fault };
  }
}
