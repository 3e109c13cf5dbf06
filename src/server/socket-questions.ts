import type { TrailPage } from '../runtime/audit/events/trail.ts';
import type { SocketAnswer, SocketQuestion, SocketRefusal } from './socket-lines.ts';

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
export type UnnumberedQuestion = Unnumbered<SocketQuestion>;
type Unnumbered<Each> = Each extends unknown ? Omit<Each, 'id'> : never;

/** Sends a question. `onAnswer` receives each answer, until the returned function is called. */
export type SendQuestion = (
  question: UnnumberedQuestion,
  onAnswer: (answer: SocketAnswer) => void,
) => () => void;

export const ANSWER_MS = 60_000;
export const SERVICE_ENDED: SocketRefusal = {
  code: 'unavailable',
  message: 'The service has ended.',
  details: [],
};
export const ANSWER_LATE: SocketRefusal = {
  code: 'unavailable',
  message: 'The service does not answer.',
  details: [],
};

/**
 * Yields the pages that answer one question, until the connection ends.
 *
 * @throws SocketFailure if the service refuses, or the answer times out
 */
export async function* followedPages(
  put: SendQuestion,
  question: UnnumberedQuestion,
): AsyncGenerator<TrailPage> {
  const answers: SocketAnswer[] = [];
  let has_come = Promise.withResolvers<void>();
  const onAnswer = (answer: SocketAnswer): void => {
    clearTimeout(timer);
    answers.push(answer);
    has_come.resolve();
  };
  const timer = setTimeout(() => onAnswer({ id: 0, refusal: ANSWER_LATE }), ANSWER_MS);
  const forget = put(question, onAnswer);
  try {
    for (;;) {
      for (const answer of answers.splice(0)) {
        if ('page' in answer) yield answer.page;
        else if ('refusal' in answer && answer.refusal !== SERVICE_ENDED)
          throw new SocketFailure(answer.refusal);
        else return;
      }
      await has_come.promise;
      has_come = Promise.withResolvers();
    }
  } finally {
    clearTimeout(timer);
    forget();
  }
}
