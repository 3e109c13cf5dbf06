import type { EventParts, EventReader, StreamEnding } from '../../../core/wire/wire-format.ts';
import type { GuardedStream } from '../../../runtime/enforcement/enforce-stream.ts';
import type { Ruling } from '../../../runtime/enforcement/types.ts';
import type { ModelAnswerContext } from '../guard-tool-call.ts';
import type { CallChannel } from './call-channel.ts';
import { type OutgoingEvent, writeOutgoingEvent } from './outgoing-event.ts';
import type { TextChannel } from './text-channel.ts';

/** The dependencies of the guard of one answer's events. */
export interface EventGuardParts {
  readonly reader: EventReader;
  readonly ending: StreamEnding;
  readonly texts: GuardedStream;
  readonly context: ModelAnswerContext;
  /** The number of choices that the answer streams in parallel. */
  readonly choices: number;
  /** True if usage is dropped because only this service requested it. */
  readonly drops_usage: boolean;
  /** Receives the parsed parts of each event. */
  readonly onEvent: (parts: EventParts) => void;
}

/** The end of a stream. The client receives an error for every end except `whole`. */
export type AnswerEnding =
  | { readonly how: 'whole'; readonly ruling: Ruling }
  | { readonly how: 'denied'; readonly denial: Ruling }
  /** The stream breaks off, or continues in a way that cannot be guarded. */
  | { readonly how: 'broken' };

export const BROKEN_END: AnswerEnding = { how: 'broken' };

/** Texts that clients join. */
export interface TextJoin {
  /** The channel that currently receives text. */
  current: string;
  /** The end of the text of the channels before it. */
  before: string;
}

/** The state of a guarded stream. */
export interface GuardState extends EventGuardParts {
  readonly channels: Map<string, TextChannel>;
  readonly calls: Map<string, CallChannel>;
  /** The joined texts by name. */
  readonly joins: Map<string, TextJoin>;
  /** Judged words with no findings except personal data. */
  readonly clean_words: Set<string>;
  /** Words that the reader put into events, if they passed the check. */
  readonly put_words: Set<string>;
  /** The end of the earlier texts of each place that the protocol does not define. */
  readonly places: Map<string, string>;
  /** The last whole text of each name, as received and as sent. */
  readonly wholes: Map<string, { readonly received: string; readonly shown: string }>;
  /** The output that may be sent now. */
  out: string[];
  /** The held events, in order, until a tool call is judged or the event on the texts is durable. */
  held: OutgoingEvent[];
  /** The events to send before all held ones, because they belong to events that were already sent. */
  first: OutgoingEvent[];
  held_units: number;
  /** The number of choices with a finish reason. */
  finished: number;
}

/** Creates the state of a stream before its first event. */
export function createGuardState(parts: EventGuardParts): GuardState {
  return {
    ...parts,
    channels: new Map(),
    calls: new Map(),
    joins: new Map(),
    clean_words: new Set(),
    put_words: new Set(),
    places: new Map(),
    wholes: new Map(),
    out: [],
    held: [],
    first: [],
    held_units: 0,
    finished: 0,
  };
}

/**
 * Returns whether new events must be held. All tool calls of an answer are sent together or not at all: clients run
 * the calls that they have received when a block of another call ends the stream.
 */
export function shouldHoldEvents({ calls, finished, choices }: GuardState): boolean {
  return calls.size > 0 || finished >= choices;
}

/** Serializes an event into the output. */
export function sendEvent(state: GuardState, outgoing: OutgoingEvent): void {
  state.out.push(writeOutgoingEvent(outgoing, state.ending));
}

/** Sends an event, or holds it. */
export function emitEvent(state: GuardState, outgoing: OutgoingEvent): void {
  if (!shouldHoldEvents(state)) {
    releaseHeldEvents(state);
    sendEvent(state, outgoing);
    return;
  }
  outgoing.is_waiting = true;
  state.held.push(outgoing);
  state.held_units += outgoing.event.raw.length;
}

/** Sends or holds an event that belongs directly after an earlier one, so that later events do not overtake it. */
export function emitAfter(state: GuardState, before: OutgoingEvent, outgoing: OutgoingEvent): void {
  if (!shouldHoldEvents(state)) {
    emitEvent(state, outgoing);
    return;
  }
  (before.is_waiting ? before.followers : state.first).push(outgoing);
  state.held_units += outgoing.event.raw.length;
}

/** Sends all held events. */
export function releaseHeldEvents(state: GuardState): void {
  for (const outgoing of state.first) sendEvent(state, outgoing);
  for (const outgoing of state.held) {
    outgoing.is_waiting = false;
    sendEvent(state, outgoing);
    for (const follower of outgoing.followers) sendEvent(state, follower);
  }
  state.first = [];
  state.held = [];
  state.held_units = 0;
}
