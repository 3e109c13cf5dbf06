import { randomFillSync } from 'node:crypto';

const ID_BYTES = 12;
/** Random bytes are taken in bulk: asking for twelve costs as much as asking for thousands. */
const pool = Buffer.alloc(ID_BYTES * 256);
let used = pool.length;

/** `evt_` and 24 hex digits, from the system's random source. */
export function newEventId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return `evt_${pool.toString('hex', used - ID_BYTES, used)}`;
}
