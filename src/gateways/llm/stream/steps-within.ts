/** Whether a body is read piece by piece. */
export function isStreamBody<Whole>(body: Whole | AsyncGenerator<string>): body is AsyncGenerator<string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/**
 * The same stream, each step of which runs within something: whoever reads it does so from outside, and what is done
 * for a piece belongs inside all the same.
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
