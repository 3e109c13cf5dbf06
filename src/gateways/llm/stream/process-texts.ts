import { CONTEXT_UNITS } from '../../../core/stream/joined-stream.ts';
import type { StringNode } from '../../../core/types/json.ts';
import { looksLikeIdentifier } from '../../../core/wire/vocabulary.ts';
import type { EventParts, EventPiece } from '../../../core/wire/wire-format.ts';
import { hasNoFindings, hasNoFindingsAcross, isCleanIdentifier } from '../identifier-checks.ts';
import { buildStringSplice } from '../texts.ts';
import { emitAfter, type GuardState } from './guard-state.ts';
import type { OutgoingEvent } from './outgoing-event.ts';
import {
  buildHeldEvent,
  differsOnlyInText,
  openTextChannel,
  storeTemplate,
  type TextChannel,
} from './text-channel.ts';

/**
 * The outcome of processing texts. `hollow`: the event has no content left. `blocked`, `broken`: the stream ends
 * before it.
 */
export type TextOutcome = 'taken' | 'hollow' | 'blocked' | 'broken';

/** Processes the texts of an event: writes the text that may be sent into it, and sends held text before it. */
export function processTexts(state: GuardState, parts: EventParts, outgoing: OutgoingEvent): TextOutcome {
  const here = new Set(parts.pieces.map(({ channel }) => channel));
  for (const name of listEndedChannels(state, parts, here)) {
    const channel = state.channels.get(name);
    if (channel !== undefined && !flushText(state, channel)) return 'blocked';
  }
  let isHollow = false;
  for (const piece of parts.pieces) {
    if (piece.kind !== 'text') continue;
    const taken = processPiece(state, piece, parts, outgoing);
    if (taken === 'blocked' || taken === 'broken') return taken;
    isHollow = taken === 'hollow';
  }
  for (const piece of parts.repeats) {
    const taken = piece.kind === 'text' ? processRepeat(state, piece, outgoing) : 'taken';
    if (taken !== 'taken') return taken;
  }
  if (!processWords(state, parts.words, outgoing)) return 'blocked';
  for (const { of, splice } of parts.echoes) {
    if (isAltered(state, of)) outgoing.edits.push(splice);
  }
  return isHollow ? 'hollow' : 'taken';
}

function listEndedChannels(
  state: GuardState,
  parts: EventParts,
  here: ReadonlySet<string>,
): readonly string[] {
  const ending = parts.is_last ? [...state.channels.keys()] : parts.closed;
  return ending.filter((name) => !here.has(name));
}

/**
 * Sends the held part of a text, after the last event that contained some of it. Returns `false` if the stream is
 * blocked.
 */
export function flushText(state: GuardState, channel: TextChannel): boolean {
  const rest = channel.end();
  if (rest === null) return false;
  const { template } = channel;
  if (rest !== '' && template !== null) emitAfter(state, template.outgoing, buildHeldEvent(template, rest));
  return true;
}

function processPiece(
  state: GuardState,
  piece: EventPiece,
  parts: EventParts,
  outgoing: OutgoingEvent,
): TextOutcome {
  const { node } = piece;
  if (node.kind !== 'string') return 'broken';
  const channel = findChannel(state, piece);
  if (typeof channel === 'string') return channel;
  if (channel.hasEnded()) return 'broken';
  let text = channel.push(node.value);
  if (text !== null && (parts.is_last || parts.closed.includes(piece.channel))) {
    const rest = channel.end();
    text = rest === null ? null : text + rest;
  }
  if (text === null) return 'blocked';
  const saysNothing =
    text === '' && hasNothingElse(parts) && differsOnlyInText(channel.template, outgoing.event, node);
  storeTemplate(channel, piece, outgoing, parts);
  if (text === node.value) return 'taken';
  outgoing.edits.push(buildStringSplice(node, text));
  return saysNothing ? 'hollow' : 'taken';
}

function hasNothingElse({ pieces, closed, repeats, usage, finish_reasons, is_last }: EventParts): boolean {
  const others = pieces.length - 1 + closed.length + repeats.length + finish_reasons.length;
  return others === 0 && usage === null && !is_last;
}

/**
 * Finds or opens the channel of a piece. A channel is judged with the earlier text of the channels that clients join
 * with it. Joined channels that alternate are `broken`, because the order in which clients join them is unknown.
 */
function findChannel(
  state: GuardState,
  { channel: name, joins: names }: EventPiece,
): TextChannel | 'blocked' | 'broken' {
  const { channels, joins, texts, context } = state;
  const known = channels.get(name);
  if (known !== undefined) {
    const isCurrent = names.every((each) => joins.get(each)?.current === name);
    return isCurrent ? known : 'broken';
  }
  const contexts: string[] = [];
  for (const each of names) {
    const join = joins.get(each);
    const last = join === undefined ? undefined : channels.get(join.current);
    if (last !== undefined && !flushText(state, last)) return 'blocked';
    const before = ((join?.before ?? '') + (last?.received() ?? '')).slice(-CONTEXT_UNITS);
    joins.set(each, { current: name, before });
    if (before !== '') contexts.push(before);
  }
  const opened = texts.open(contexts);
  if (opened === null) return 'blocked';
  const channel = openTextChannel(opened, context.tokens);
  channels.set(name, channel);
  return channel;
}

/** Processes a repeated text. If it equals the earlier one, it is sent as that was sent; else it is judged here. */
function processRepeat(
  state: GuardState,
  piece: EventPiece,
  outgoing: OutgoingEvent,
): 'taken' | 'blocked' | 'broken' {
  const { channel: name, node, joins } = piece;
  if (node.kind !== 'string') return 'broken';
  const channel = state.channels.get(name);
  if (channel !== undefined && !flushText(state, channel)) return 'blocked';
  if (channel !== undefined && channel.received() !== node.value && joins.length > 0) return 'broken';
  let shown: string | null;
  if (channel?.received() === node.value) shown = channel.shown();
  else if (joins.length > 0) shown = judgeWholeText(state, piece, node.value);
  else shown = judgeOnce(state, name, node.value);
  if (shown === null || !piece.places.every((place) => judgePlace(state, place, node.value)))
    return 'blocked';
  if (shown !== node.value) outgoing.edits.push(buildStringSplice(node, shown));
  return 'taken';
}

/**
 * Judges a text together with the earlier texts of its place. Returns `false` if they hold a finding together that is
 * masked or blocked, because the earlier texts were sent.
 */
function judgePlace({ places, texts, context }: GuardState, place: string, text: string): boolean {
  if (text === '') return true;
  const name = places.size < PLACES_MAX || places.has(place) ? place : '';
  const before = places.get(name) ?? '';
  places.set(name, (before + text).slice(-CONTEXT_UNITS));
  if (before === '' || hasNoFindingsAcross(before, text, context.call_context.ports.policy)) return true;
  const joined = texts.open([before]);
  return joined !== null && joined.push(text).decision !== 'block' && joined.end().decision !== 'block';
}

/** The maximum number of places that one stream remembers. All others are one. */
const PLACES_MAX = 1_000;

/** Judges a text that came without pieces, after the text that clients join with it. */
function judgeWholeText(state: GuardState, piece: EventPiece, text: string): string | null {
  const channel = findChannel(state, piece);
  if (typeof channel === 'string' || channel.push(text) === null || channel.end() === null) return null;
  return channel.shown();
}

/**
 * Judges names and ids of the protocol, because a provider may put any content into them. Words with no findings are
 * sent as they are. Personal data is allowed, because the digits of ids may look like it.
 */
function processWords(state: GuardState, words: readonly StringNode[], outgoing: OutgoingEvent): boolean {
  const { clean_words, context } = state;
  for (const word of words) {
    const isRewritten = outgoing.edits.some(({ start }) => start === word.start);
    if (isRewritten || clean_words.has(word.value)) continue;
    if (clean_words.size < WORDS_MAX && isCleanIdentifier(word.value, context.call_context.ports.policy)) {
      clean_words.add(word.value);
      continue;
    }
    const shown = judgeOnce(state, 'word', word.value);
    if (shown === null) return false;
    if (shown !== word.value) outgoing.edits.push(buildStringSplice(word, shown));
  }
  return true;
}

/**
 * Returns whether a word that the reader puts into an event has no findings. Personal data is allowed in identifiers
 * only.
 */
export function isVerifiedWord({ put_words, context }: GuardState, word: string): boolean {
  if (put_words.has(word)) return true;
  const isClean = looksLikeIdentifier(word) ? isCleanIdentifier : hasNoFindings;
  if (!isClean(word, context.call_context.ports.policy)) return false;
  if (put_words.size < WORDS_MAX) put_words.add(word);
  return true;
}

/** The maximum number of words that one stream remembers. */
const WORDS_MAX = 10_000;

/** Judges a text that came as a whole. The last one of each name is remembered, because some come with every event. */
function judgeOnce({ wholes, texts, context }: GuardState, name: string, received: string): string | null {
  const known = wholes.get(name);
  if (known?.received === received) return known.shown;
  const judged = texts.judge(received);
  if (judged === null) return null;
  const shown = context.tokens?.restore(judged) ?? judged;
  wholes.set(name, { received, shown });
  return shown;
}

/** Returns whether a text was sent changed, or not completely yet. */
function isAltered({ channels, wholes }: GuardState, name: string): boolean {
  const whole = wholes.get(name);
  return channels.get(name)?.isWhole() === false || (whole !== undefined && whole.received !== whole.shown);
}
