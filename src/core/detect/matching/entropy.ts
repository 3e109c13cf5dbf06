/** Returns the Shannon entropy of the characters of `value`, in bits per character; 0 for an empty string. */
export function measureEntropy(value: string): number {
  const counts = new Map<number, number>();
  const few = new Int32Array(128);
  for (let at = 0; at < value.length; at++) {
    const point = value.codePointAt(at)!;
    if (point < few.length) few[point]! += 1;
    else counts.set(point, (counts.get(point) ?? 0) + 1);
    if (point > 0xffff) at += 1;
  }
  let bits = 0;
  for (const count of few) if (count > 0) bits -= (count / value.length) * Math.log2(count / value.length);
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}
