/** An exact decimal number: `units` divided by ten to the power of `scale`, in lowest terms. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** The longest number notation, in characters. */
const NOTATION_LENGTH_MAX = 64;
/** The longest number, in digits before the point and in digits after it. */
const DIGITS_MAX = 40;
const NOTATION = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Returns the exact value for a number in JSON's notation; `null` for any other text, and beyond 40 digits. */
export function parseDecimal(text: string): Decimal | null {
  const parts = text.length > NOTATION_LENGTH_MAX ? null : NOTATION.exec(text);
  if (parts === null) return null;
  const [, whole, fraction = '', exponent = '0'] = parts;
  const units = BigInt(`${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  if (units === 0n) return ZERO;
  if (scale < -DIGITS_MAX || scale > NOTATION_LENGTH_MAX + DIGITS_MAX) return null;
  const reduced = scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : reduce(units, scale);
  const digits = String(reduced.units).length - reduced.scale;
  return digits > DIGITS_MAX || reduced.scale > DIGITS_MAX ? null : reduced;
}

const ZERO: Decimal = Object.freeze({ units: 0n, scale: 0 });

function reduce(units: bigint, scale: number): Decimal {
  let left = units;
  let places = scale;
  while (places > 0 && left % 10n === 0n) {
    left /= 10n;
    places -= 1;
  }
  return { units: left, scale: places };
}

/** Adds two numbers. */
export function addDecimals(one: Decimal, other: Decimal): Decimal {
  const scale = Math.max(one.scale, other.scale);
  return reduce(alignUnits(one, scale) + alignUnits(other, scale), scale);
}

function alignUnits({ units, scale }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - scale);
}

/** Writes a number without an exponent. */
export function formatDecimal({ units, scale }: Decimal): string {
  if (scale === 0) return String(units);
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Returns whether a number is greater than another. */
export function isGreater(one: Decimal, other: Decimal): boolean {
  const scale = Math.max(one.scale, other.scale);
  return alignUnits(one, scale) > alignUnits(other, scale);
}

const INT_MAX = 2n ** 63n - 1n;
const INT_MIN = -(2n ** 63n);

/**
 * Returns a number as conditions compare it: whole numbers as 64-bit integers, others as doubles. `null` if neither
 * holds the number exactly.
 */
export function convertDecimal(decimal: Decimal): bigint | number | null {
  const { units, scale } = decimal;
  if (scale === 0) return units <= INT_MAX && units >= INT_MIN ? units : null;
  const double = Number(formatDecimal(decimal));
  const held = parseDecimal(String(double));
  return held !== null && held.units === units && held.scale === scale ? double : null;
}
