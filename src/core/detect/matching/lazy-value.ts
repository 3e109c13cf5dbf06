/**
 * Returns a function that creates a value at its first call. Most patterns are never tried in the life of a process.
 */
export function memoizeValue<Value extends object>(make: () => Value): () => Value {
  let made: Value | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
