/** A source of repeatable random numbers. */
export interface SeededRandom {
  /** Returns a number from 0 up to, but not including, 1. */
  readonly next: () => number;
  /** Returns a whole number from `low` to `high`, both included. */
  readonly whole: (low: number, high: number) => number;
  readonly pick: <Item>(list: readonly Item[]) => Item;
  /** Returns true with this probability. */
  readonly chance: (probability: number) => boolean;
  /** Returns characters of an alphabet. */
  readonly text: (length: number, alphabet?: string) => string;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Opens a generator (mulberry32). The same seed gives the same numbers on every machine. */
export function openSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    whole,
    pick: (list) => list[whole(0, list.length - 1)]!,
    chance: (probability) => next() < probability,
    text: (length, alphabet = LETTERS) =>
      Array.from({ length }, () => alphabet[whole(0, alphabet.length - 1)]).join(''),
  };
}
