import type { EventParts, EventReader, StreamEnding } from '../../../core/wire/wire-format.ts';
import type { GuardedStream } from '../../../runtime/enforcement/enforce-stream.ts';
import type { Ruling } from '../../../runtime/enforcement/types.ts';
import type { ModelAnswerContext } from '../guard-tool-call.ts';
import type { CallDenial } from '../llm-call.ts';
import type { CallChannel } from './call-channel.ts';
import { type OutgoingEvent, writeOutgoingEvent } from './outgoing-event.ts';
import type { TextChannel } from './text-channel.ts';

/** What guarding the events of one answer works with. */
export interface EventGuardParts {
  readonly reader: EventReader;
  readonly ending: StreamEnding;
  readonly texts: GuardedStream;
  readonly context: ModelAnswerContext;
  /** How many answers come side by side. */
  readonly choices: number;
  /** Whether the usage comes only because this service asked for it. */
  readonly drops_usage: boolean;
  /** Told what each event says beside its texts. */
  readonly onEvent: (parts: EventParts) => void;
}

/** How a stream ends. All but `whole` has to be told to the client as an error. */
export type StreamEnd =
  | { readonly how: 'whole'; readonly ruling: Ruling }
  | { readonly how: 'denied'; readonly denial: CallDenial }
  /** It breaks off, or goes on in a way that cannot be guarded. */
  | { readonly how: 'broken' };

export const BROKEN_END: StreamEnd = { how: 'broken' };

/** Texts that clients put together. */
export interface TextJoin {
  /** The channel that says something by now. */
  current: string;
  /** The end of what the channels before it said. */
  before: string;
}

/** How far the events have come. */
export interface GuardState extends EventGuardParts {
  readonly channels: Map<string, TextChannel>;
  readonly calls: Map<string, CallChannel>;
  /** What clients put together, by its name. */
  readonly joins: Map<string, TextJoin>;
  /** Words that were judged, and that nothing speaks about. */
  readonly clean_words: Set<string>;
  /** Those that were put into events, as far as nothing was found in them. */
  readonly put_words: Set<string>;
  /** Texts that came at once, the last of each name: as they came, and as they went out. */
  readonly wholes: Map<string, { readonly came: string; readonly shown: string }>;
  /** What may go out now. */
  out: string[];
  /** What waits, in its order, until a tool call is judged or the end is written down. */
  held: OutgoingEvent[];
  /** What goes out before all that waits: it belongs to events that are gone. */
  first: OutgoingEvent[];
  held_units: number;
  /** How many answers have said why they end. */
  finished: number;
}

/** Events of which none came yet. */
export function createGuardState(parts: EventGuardParts): GuardState {
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
export function mustHoldEvents({ calls, finished, choices }: GuardState): boolean {
  return calls.size > 0 || finished >= choices;
}

/** Writes an event as it goes out. */
export function sendEvent(state: GuardState, outgoing: OutgoingEvent): void {
  state.out.push(writeOutgoingEvent(outgoing, state.ending));
}

/** Lets an event go out, or wait. */
export function emitEvent(state: GuardState, outgoing: OutgoingEvent): void {
  if (!mustHoldEvents(state)) {
    releaseHeldEvents(state);
    sendEvent(state, outgoing);
    return;
  }
  outgoing.is_waiting = true;
  state.held.push(outgoing);
  state.held_units += outgoing.event.raw.length;
}

/** As `emit`, for what belongs to an event that came earlier: it does not go behind what came after that. */
export function emitAfter(state: GuardState, before: OutgoingEvent, outgoing: OutgoingEvent): void {
  if (!mustHoldEvents(state)) {
    emitEvent(state, outgoing);
    return;
  }
  (before.is_waiting ? before.followers : state.first).push(outgoing);
  state.held_units += outgoing.event.raw.length;
}

/** Lets all that waited go out. */
export function releaseHeldEvents(state: GuardState): void {
  for (const outgoing of state.first) sendEvent(state, outgoing);
  for (const outgoing of state.held) {
    outgoing.is_waiting = false;
    sendEvent(state, outgoing);
    for (const behind of outgoing.followers) sendEvent(state, behind);
  }
  state.first = [];
  state.held = [];
  state.held_units = 0;
}
