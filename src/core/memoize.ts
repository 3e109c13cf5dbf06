/** Caches the result of a function per argument object. The cache does not keep the object alive. */
export function memoize<K extends object, V>(answer: (asked: K) => V): (asked: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (asked) => {
    let found = known.get(asked);
    if (found === undefined) {
      found = { value: answer(asked) };
      known.set(asked, found);
    }
    return found.value;
  };
}
