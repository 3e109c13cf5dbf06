/**
 * Awaits an answer until `signal` is aborted, for calls that do not end with it: the search of the AWS SDK for credentials
 * takes no signal, and outside the cloud it waits for an address that does not exist. Rejects with the reason of the
 * signal.
 */
export async function awaitWithSignal<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  signal.throwIfAborted();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([answer, late]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    answer.catch(() => {});
  }
}
