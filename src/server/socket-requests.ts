import type { FollowedPage } from '../runtime/audit/events/follow-index.ts';
import type { SocketRefusal, SocketReply, SocketRequest } from './socket-protocol.ts';

/** An expected refusal of the service, received over the socket. */
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

/** A question without its number. */
export type UnnumberedRequest = Unnumbered<SocketRequest>;
type Unnumbered<Each> = Each extends unknown ? Omit<Each, 'id'> : never;

/** Sends a question. `onAnswer` receives each answer, until the returned function is called. */
export type SendRequest = (request: UnnumberedRequest, onAnswer: (reply: SocketReply) => void) => () => void;

export const REPLY_TIMEOUT_MS = 60_000;
export const SERVICE_ENDED: SocketRefusal = {
  code: 'unavailable',
  message: 'The service has ended.',
  details: [],
};
export const REPLY_TIMEOUT: SocketRefusal = {
  code: 'unavailable',
  message: 'The service does not answer.',
  details: [],
};

/**
 * Yields the pages that answer one question, until the connection ends.
 *
 * @throws SocketFailure if the service refuses, or the answer times out
 */
export async function* followPages(
  send: SendRequest,
  request: UnnumberedRequest,
): AsyncGenerator<FollowedPage> {
  const replies: SocketReply[] = [];
  let arrived = Promise.withResolvers<void>();
  const onAnswer = (reply: SocketReply): void => {
    clearTimeout(timer);
    replies.push(reply);
    arrived.resolve();
  };
  const timer = setTimeout(() => onAnswer({ id: 0, refusal: REPLY_TIMEOUT }), REPLY_TIMEOUT_MS);
  const stopListening = send(request, onAnswer);
  try {
    for (;;) {
      for (const reply of replies.splice(0)) {
        if ('page' in reply) yield reply.page;
        else if ('refusal' in reply && reply.refusal !== SERVICE_ENDED)
          throw new SocketFailure(reply.refusal);
        else return;
      }
      await arrived.promise;
      arrived = Promise.withResolvers();
    }
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}
