const TIME_DIGITS = 11;
/** More than the service has, so that no decision of a guard has the id of an event that the service wrote. */
const RANDOM_DIGITS = 21;
const ID_BYTES = 11;
const POOL_BYTES = ID_BYTES * 256;

/** Fills an array with random bytes from a secure source. */
export type RandomSource = (bytes: Uint8Array<ArrayBuffer>) => void;

/** Returns a function that creates event ids: `evt_`, the time in hex and random hex digits, so that ids sort by time. */
export function createEventIds(fillRandom: RandomSource): (nowMs: number) => string {
  const pool = new Uint8Array(POOL_BYTES);
  let used = pool.length;
  return (nowMs) => {
    if (used + ID_BYTES > pool.length) {
      fillRandom(pool);
      used = 0;
    }
    let digits = '';
    for (const end = used + ID_BYTES; used < end; used++) digits += HEX[pool[used] as number];
    const time = Math.max(0, Math.trunc(nowMs)).toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS);
    return `evt_${time}${digits.slice(-RANDOM_DIGITS)}`;
  };
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
