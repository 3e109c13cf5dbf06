/** Makes a value at its first use: most patterns are never tried in the life of a process. */
export function lazily<Value extends object>(make: () => Value): () => Value {
  let made: Value | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
