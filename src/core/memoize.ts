/** Caches the result of a function per argument object. The cache does not keep the object alive. */
export function memoize<K extends object, V>(answer: (request: K) => V): (request: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (request) => {
    let found = known.get(request);
    if (found === undefined) {
      found = { value: answer(request) };
      known.set(request, found);
    }
    return found.value;
  };
}
