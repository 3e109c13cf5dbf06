const NAME_CHARS_MAX = 256;

/** Control characters, lone surrogates, and the line ends that some readers know. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** Returns whether a value can name a person, a group, a scope or an agent. Names are compared exactly. */
export function isName(value: unknown, charsMax = NAME_CHARS_MAX): value is string {
  return (
    typeof value === 'string' && value.length <= charsMax && value.trim() !== '' && !UNPRINTABLE.test(value)
  );
}

/** Returns whether an agent is in a chain twice. */
export function hasLoop(chain: readonly string[]): boolean {
  return new Set(chain).size < chain.length;
}
