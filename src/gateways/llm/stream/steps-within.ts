/** Returns whether a body is a stream. */
export function isStreamBody<Whole>(body: Whole | AsyncGenerator<string>): body is AsyncGenerator<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/**
 * Returns the same stream with each step running inside `within`. The reader runs outside of it, but the work for a
 * piece belongs inside.
 */
export async function* runStepsWithin(
  body: AsyncGenerator<string>,
  within: <Result>(run: () => Result) => Result,
): AsyncGenerator<string> {
  try {
    for (;;) {
      const { done, value } = await within(() => body.next());
      if (done === true) return;
      yield value;
    }
  } finally {
    await within(() => body.return(undefined));
  }
}
