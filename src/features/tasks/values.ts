import { EARLIER_NAME } from '../../core/names.ts';
import { type Decimal, formatDecimal, parseDecimal } from '../../core/policy/conditions/decimal.ts';
import { openPlaceHash } from '../../operations/place-hash.ts';
import type { ArgumentScalar } from './arguments.ts';

/** Hashes one task’s values, which are not stored themselves. `null` for a number that is not exact. */
export type HashValue = (path: string, value: ArgumentScalar) => string | null;

/** Opens a task’s hash function. `secret` is the service's own. */
export function openTaskHash(secret: string, taskId: string): HashValue {
  const hash = openPlaceHash(secret, `${EARLIER_NAME} task values 1\n${taskId}`);
  return (path, value) => {
    const written = writeValue(value);
    return written === null ? null : hash(path, written);
  };
}

/** Writes a value so that equal values are equal and no others: the text `1` is not the number 1. */
function writeValue(value: ArgumentScalar): readonly [string, string] | null {
  if (typeof value !== 'number' && typeof value !== 'bigint') return [typeof value, String(value)];
  const decimal = readExactNumber(value);
  return decimal === null ? null : ['number', formatDecimal(decimal)];
}

/** Returns a number exactly; `null` beyond 2^53, where JSON readers take several whole numbers for one. */
export function readExactNumber(value: number | bigint): Decimal | null {
  return Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER ? null : parseDecimal(String(value));
}
