import { randomFillSync } from 'node:crypto';

/** Covers the milliseconds until the year 2527. */
const TIME_DIGITS = 11;
const RANDOM_DIGITS = 13;
const RANDOM_BYTES = Math.ceil(RANDOM_DIGITS / 2);
/** Random bytes are taken in bulk, because a call for seven costs as much as a call for thousands. */
const pool = Buffer.alloc(RANDOM_BYTES * 512);
let used = pool.length;

let lastMs = Number.NaN;
let lastTime = '';

/**
 * Returns a new event ID: `evt_`, the time in milliseconds since 1970 (11 hex digits), and 13 random hex digits from
 * the system's random source. IDs sort by time, so an index by ID grows at its end, which is far cheaper than random
 * inserts.
 */
export function createEventId(nowMs: number): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += RANDOM_BYTES;
  return `evt_${formatTimeDigits(nowMs)}${pool.toString('hex', used - RANDOM_BYTES, used).slice(-RANDOM_DIGITS)}`;
}

/** Returns a text that sorts before every event ID from this time on, and after all earlier ones. */
export function formatEventIdFloor(nowMs: number): string {
  return `evt_${formatTimeDigits(nowMs)}`;
}

const EVENT_ID = /^evt_[0-9a-f]{12,64}$/;

/** Returns whether a text has the form of an event ID. Earlier versions and other programs write other lengths. */
export function isEventId(text: string): boolean {
  return EVENT_ID.test(text);
}

const OWN_ID = new RegExp(`^evt_([0-9a-f]{${TIME_DIGITS}})[0-9a-f]{${RANDOM_DIGITS}}$`);

/** Returns the time in an event ID, in milliseconds since 1970; `null` if the ID is from another program or version. */
export function readEventIdTime(eventId: string): number | null {
  const digits = OWN_ID.exec(eventId)?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}

function formatTimeDigits(nowMs: number): string {
  if (nowMs !== lastMs) {
    lastTime = Math.max(0, Math.trunc(nowMs)).toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS);
    lastMs = nowMs;
  }
  return lastTime;
}
