import type { EventParts, EventReader, StreamEnding } from '../../../core/wire/wire-format.ts';
import type { GuardedStream } from '../../../runtime/enforcement/enforce-stream.ts';
import type { Ruling } from '../../../runtime/enforcement/types.ts';
import type { Denial } from '../call.ts';
import type { Answering } from '../guard-call.ts';
import type { CallChannel } from './call-channel.ts';
import { type Outgoing, sent } from './outgoing.ts';
import type { TextChannel } from './text-channel.ts';

/** What guarding the events of one answer works with. */
export interface EventGuardParts {
  readonly reader: EventReader;
  readonly ending: StreamEnding;
  readonly texts: GuardedStream;
  readonly answering: Answering;
  /** How many answers come side by side. */
  readonly choices: number;
  /** Whether the usage comes only because this service asked for it. */
  readonly drops_usage: boolean;
  /** Told what each event says beside its texts. */
  readonly note: (parts: EventParts) => void;
}

/** How a stream ends. All but `whole` has to be told to the client as an error. */
export type EventsEnd =
  | { readonly how: 'whole'; readonly ruling: Ruling }
  | { readonly how: 'denied'; readonly denial: Denial }
  /** It breaks off, or goes on in a way that cannot be guarded. */
  | { readonly how: 'broken' };

export const BROKEN: EventsEnd = { how: 'broken' };

/** Texts that clients put together. */
export interface Join {
  /** The channel that says something by now. */
  current: string;
  /** The end of what the channels before it said. */
  before: string;
}

/** How far the events have come. */
export interface Guarding extends EventGuardParts {
  readonly channels: Map<string, TextChannel>;
  readonly calls: Map<string, CallChannel>;
  /** What clients put together, by its name. */
  readonly joins: Map<string, Join>;
  /** Words that were judged, and that nothing speaks about. */
  readonly clean_words: Set<string>;
  /** Those that were put into events, as far as nothing was found in them. */
  readonly put_words: Set<string>;
  /** Texts that came at once, the last of each name: as they came, and as they went out. */
  readonly wholes: Map<string, { readonly came: string; readonly shown: string }>;
  /** What may go out now. */
  out: string[];
  /** What waits, in its order, until a tool call is judged or the end is written down. */
  held: Outgoing[];
  /** What goes out before all that waits: it belongs to events that are gone. */
  first: Outgoing[];
  held_units: number;
  /** How many answers have said why they end. */
  finished: number;
}

/** Events of which none came yet. */
export function startGuarding(parts: EventGuardParts): Guarding {
  return {
    ...parts,
    channels: new Map(),
    calls: new Map(),
    joins: new Map(),
    clean_words: new Set(),
    put_words: new Set(),
    wholes: new Map(),
    out: [],
    held: [],
    first: [],
    held_units: 0,
    finished: 0,
  };
}

/**
 * Whether what comes now has to stay behind what waits. The calls of an answer go out together or not at all: clients run the
 * ones that they have when the stream ends in a block of another one.
 */
export function isWaiting({ calls, finished, choices }: Guarding): boolean {
  return calls.size > 0 || finished >= choices;
}

/** Writes an event as it goes out. */
export function send(state: Guarding, outgoing: Outgoing): void {
  state.out.push(sent(outgoing, state.ending));
}

/** Lets an event go out, or wait. */
export function emit(state: Guarding, outgoing: Outgoing): void {
  if (!isWaiting(state)) {
    letGo(state);
    send(state, outgoing);
    return;
  }
  outgoing.is_waiting = true;
  state.held.push(outgoing);
  state.held_units += outgoing.event.raw.length;
}

/** As `emit`, for what belongs to an event that came earlier: it does not go behind what came after that. */
export function emitBehind(state: Guarding, before: Outgoing, outgoing: Outgoing): void {
  if (!isWaiting(state)) {
    emit(state, outgoing);
    return;
  }
  (before.is_waiting ? before.behind : state.first).push(outgoing);
  state.held_units += outgoing.event.raw.length;
}

/** Lets all that waited go out. */
export function letGo(state: Guarding): void {
  for (const outgoing of state.first) send(state, outgoing);
  for (const outgoing of state.held) {
    outgoing.is_waiting = false;
    send(state, outgoing);
    for (const behind of outgoing.behind) send(state, behind);
  }
  state.first = [];
  state.held = [];
  state.held_units = 0;
}
