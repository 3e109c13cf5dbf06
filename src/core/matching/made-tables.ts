import { type Automaton, CLASS_BITS, ENDING, flatEndings, STATE, SYMBOLS_MAX } from './automaton.ts';
import { makeTables, type Tables } from './tables.ts';

/** Tables as text, made ahead for one list of notations, which its hash names. */
export interface MadeTables {
  readonly hash: string;
  readonly data: string;
}

/** The tables of the notations: those that were made ahead for just these, or new ones. */
export function tablesOf(notations: readonly string[], made: MadeTables | null): Tables {
  return made !== null && made.hash === hashOf(notations) ? read(made.data) : makeTables(notations);
}

/** Writes the tables of the notations; the same text for the same notations. */
export function writeTables(notations: readonly string[]): MadeTables {
  const tables = makeTables(notations);
  const bytes: number[] = [];
  put(bytes, tables.memory_units);
  put(bytes, tables.notation.length);
  tables.notation.forEach((notation, entry) => {
    put(bytes, notation - (tables.notation[entry - 1] ?? 0));
    put(bytes, tables.expansion[entry]!);
    put(bytes, tables.reach[entry]!);
  });
  writeRuns(bytes, tables.symbols, new Uint8Array(tables.symbols.length), (value) => value);
  writeAutomaton(bytes, tables.words);
  writeAutomaton(bytes, tables.shapes);
  return { hash: hashOf(notations), data: toText(bytes) };
}

function read(data: string): Tables {
  const reader: Reader = { bytes: toBytes(data), at: 0 };
  const memory_units = get(reader);
  const count = get(reader);
  const notation = new Uint16Array(count);
  const expansion = new Uint8Array(count);
  const reach = new Uint8Array(count);
  for (let entry = 0; entry < count; entry++) {
    notation[entry] = get(reader) + (entry === 0 ? 0 : notation[entry - 1]!);
    expansion[entry] = get(reader);
    reach[entry] = get(reader);
  }
  const symbols = new Uint8Array(0x10000);
  readRuns(reader, symbols, 0, (value) => value);
  return {
    symbols,
    words: readAutomaton(reader),
    shapes: readAutomaton(reader),
    memory_units,
    notation,
    expansion,
    reach,
  };
}

/**
 * Most rows are like that of an earlier state but for a few entries, and many of those lead to states that no
 * row before led to. So a row is written as the other state, and as the runs of entries that differ.
 */
function writeAutomaton(bytes: number[], automaton: Automaton): void {
  const { classes, table } = automaton;
  writeRuns(bytes, classes, new Uint8Array(classes.length), (value) => value);
  const states = table.length >> CLASS_BITS;
  put(bytes, states);
  writeEndings(bytes, automaton);
  const like = likeRows(table, states);
  let fresh = 1;
  for (let state = 0; state < states; state++) {
    put(bytes, state - like[state]!);
    const other = state === 0 ? new Uint16Array(1 << CLASS_BITS) : rowOf(table, like[state]!);
    writeRuns(bytes, rowOf(table, state), other, (entry) => {
      const back = fresh - (entry & STATE);
      if (back === 0) fresh += 1;
      return back;
    });
  }
}

function readAutomaton(reader: Reader): Automaton {
  const classes = new Uint8Array(SYMBOLS_MAX);
  readRuns(reader, classes, 0, (value) => value);
  const table = new Uint16Array(get(reader) << CLASS_BITS);
  const ended = readEndings(reader, table.length >> CLASS_BITS);
  let fresh = 1;
  for (let state = 0; state < table.length >> CLASS_BITS; state++) {
    const like = (state - get(reader)) << CLASS_BITS;
    table.copyWithin(state << CLASS_BITS, like, like + (1 << CLASS_BITS));
    readRuns(reader, table, state << CLASS_BITS, (back) => {
      const next = fresh - back;
      if (back === 0) fresh += 1;
      return ended[next]!.length > 0 ? next | ENDING : next;
    });
  }
  return { classes, table, ...flatEndings(ended) };
}

/** The states with endings, and the heads that end in each. */
function writeEndings(bytes: number[], { endings, endings_from }: Automaton): void {
  let last = 0;
  for (let state = 0; state < endings_from.length - 1; state++) {
    const heads = endings.subarray(endings_from[state], endings_from[state + 1]);
    if (heads.length === 0) continue;
    put(bytes, heads.length);
    put(bytes, state - last);
    heads.forEach((head, at) => {
      put(bytes, head - (heads[at - 1] ?? 0));
    });
    last = state;
  }
  put(bytes, 0);
}

function readEndings(reader: Reader, states: number): readonly (readonly number[])[] {
  const none: readonly number[] = [];
  const ended = new Array<readonly number[]>(states).fill(none);
  let state = 0;
  for (let count = get(reader); count > 0; count = get(reader)) {
    state += get(reader);
    const heads: number[] = [];
    for (let at = 0; at < count; at++) heads.push(get(reader) + (heads[at - 1] ?? 0));
    ended[state] = heads;
  }
  return ended;
}

function rowOf(table: Uint16Array, state: number): Uint16Array {
  return table.subarray(state << CLASS_BITS, (state + 1) << CLASS_BITS);
}

/** Per state, an earlier one whose row differs little: where the states that it came from lead, or themselves. */
function likeRows(table: Uint16Array, states: number): Uint16Array {
  const like = new Uint16Array(states);
  const seen = new Uint8Array(states).fill(1, 0, 1);
  for (let state = 0; state < states; state++) {
    rowOf(table, state).forEach((entry, c) => {
      const next = entry & STATE;
      if (seen[next] === 1) return;
      seen[next] = 1;
      const others = [state, next - 1, table[c]! & STATE, rowOf(table, like[state]!)[c]! & STATE];
      like[next] = nearest(table, next, others);
    });
  }
  return like;
}

function nearest(table: Uint16Array, state: number, others: readonly number[]): number {
  const row = rowOf(table, state);
  let best = 0;
  let fewest = Number.POSITIVE_INFINITY;
  for (const other of others.filter((earlier) => earlier < state)) {
    const row_of_other = rowOf(table, other);
    const differing = row.reduce((sum, entry, c) => sum + (entry === row_of_other[c] ? 0 : 1), 0);
    if (differing >= fewest) continue;
    best = other;
    fewest = differing;
  }
  return best;
}

/** The runs of one value in which a list differs from another: units that are skipped, length, value. */
function writeRuns(
  bytes: number[],
  list: Uint8Array | Uint16Array,
  other: Uint8Array | Uint16Array,
  code: (value: number) => number,
): void {
  const runs: number[] = [];
  let end = 0;
  for (let at = 0; at < list.length; at++) {
    if (list[at] === other[at]) continue;
    let length = 1;
    while (list[at + length] === list[at] && other[at + length] !== list[at] && at + length < list.length)
      length += 1;
    runs.push(at - end, length, code(list[at]!));
    end = at + length;
    at = end - 1;
  }
  put(bytes, runs.length / 3);
  for (const number of runs) put(bytes, number);
}

function readRuns(
  reader: Reader,
  list: Uint8Array | Uint16Array,
  start: number,
  decode: (value: number) => number,
): void {
  const count = get(reader);
  let at = start;
  for (let run = 0; run < count; run++) {
    at += get(reader);
    const end = at + get(reader);
    list.fill(decode(get(reader)), at, end);
    at = end;
  }
}

/** FNV-1a of the notations, twice 32 bits: a mark, and no guard against somebody who wants it the same. */
function hashOf(notations: readonly string[]): string {
  let low = 0x811c9dc5;
  let high = 0x050c5d1f;
  const add = (unit: number): void => {
    low = Math.imul(low ^ unit, 0x01000193) >>> 0;
    high = Math.imul(high ^ unit, 0x01000197) >>> 0;
  };
  for (const notation of notations) {
    for (let at = 0; at < notation.length; at++) add(notation.charCodeAt(at));
    add(0xffff);
  }
  return low.toString(16).padStart(8, '0') + high.toString(16).padStart(8, '0');
}

interface Reader {
  readonly bytes: Uint8Array;
  at: number;
}

/** Seven bits a byte, the lowest first; the eighth says that there are more. */
function put(bytes: number[], number: number): void {
  let rest = number;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  bytes.push(rest);
}

function get(reader: Reader): number {
  let number = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = reader.bytes[reader.at]!;
    reader.at += 1;
    number |= (byte & 127) << shift;
    if (byte < 128) return number;
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Base64 of whole groups of three bytes, filled up with zeros. */
function toText(bytes: readonly number[]): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const group = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    for (let shift = 18; shift >= 0; shift -= 6) text += ALPHABET[(group >> shift) & 63];
  }
  return text;
}

function toBytes(text: string): Uint8Array {
  const six_bits = new Uint8Array(128);
  for (let six = 0; six < ALPHABET.length; six++) six_bits[ALPHABET.charCodeAt(six)] = six;
  const bytes = new Uint8Array((text.length / 4) * 3);
  for (let from = 0, to = 0; from < text.length; from += 4, to += 3) {
    const group =
      (six_bits[text.charCodeAt(from)]! << 18) |
      (six_bits[text.charCodeAt(from + 1)]! << 12) |
      (six_bits[text.charCodeAt(from + 2)]! << 6) |
      six_bits[text.charCodeAt(from + 3)]!;
    bytes[to] = group >> 16;
    bytes[to + 1] = group >> 8;
    bytes[to + 2] = group;
  }
  return bytes;
}
