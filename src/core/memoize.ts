/** A question about a record that is worked out once, however often it is asked; it goes when the record goes. */
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
