import { createHmac, hkdfSync } from 'node:crypto';
import { EARLIER_NAME } from '../../core/names.ts';
import { formatDecimal, parseDecimal } from '../../core/policy/conditions/decimal.ts';
import type { TaskValue } from './types.ts';

/** Hashes the values of one task, which are not stored themselves. `null` for a number that is not exact. */
export type HashValue = (path: string, value: TaskValue) => string | null;

const KEY_BYTES = 32;

/** Opens the hash function of a task. `secret` is the service's own. */
export function openTaskHash(secret: string, taskId: string): HashValue {
  const info = `${EARLIER_NAME} task values 1\n${taskId}`;
  const key = Buffer.from(hkdfSync('sha256', secret, '', info, KEY_BYTES));
  return (path, value) => {
    const written = writeValue(value);
    return written === null
      ? null
      : createHmac('sha256', key)
          .update(JSON.stringify([path, written]))
          .digest('base64url');
  };
}

/** Writes a value so that equal values are equal and no others: the text `1` is not the number 1. */
function writeValue(value: TaskValue): readonly [string, string] | null {
  if (typeof value !== 'number') return [typeof value, String(value)];
  // Several whole numbers beyond this bound are read as one.
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return null;
  const decimal = parseDecimal(String(value));
  return decimal === null ? null : ['number', formatDecimal(decimal)];
}
