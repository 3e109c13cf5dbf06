/** The most digits of a number that is written out, and its greatest exponent in either direction. */
export const DECIMAL_DIGITS_MAX = 40;

/**
 * Writes a number without an exponent, and without zeros at the beginning and the end of its digits: `1`, `50` and 3
 * become `1500`. Returns `null` beyond `DECIMAL_DIGITS_MAX`.
 *
 * @param whole - the digits before the point, at least one
 * @param fraction - the digits after the point
 */
export function writeOutDecimal(whole: string, fraction: string, exponent: number): string | null {
  const digits = `${whole}${fraction}`;
  if (digits.length > DECIMAL_DIGITS_MAX || Math.abs(exponent) > DECIMAL_DIGITS_MAX) return null;
  const point = whole.length + exponent;
  const padded = point > 0 ? digits.padEnd(point, '0') : `${'0'.repeat(1 - point)}${digits}`;
  const split = Math.max(point, 1);
  const before = padded.slice(0, split).replace(/^0+(?=\d)/, '');
  const after = padded.slice(split).replace(/0+$/, '');
  return after === '' ? before : `${before}.${after}`;
}
