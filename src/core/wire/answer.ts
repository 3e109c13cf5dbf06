import { isBase64, type Meaning, readMember, readSaid, type Take, type Vocabulary } from './said.ts';
import type { EventParts, EventPiece, JsonMember, JsonNode, WireAnswer } from './types.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/**
 * What an answer brings, while it is read: one event of it, or all of it as if it were a single event. Each string
 * is given to one of the functions below exactly once, unless it is a word or sealed.
 */
export interface AnswerDraft extends Writable<EventParts> {
  readonly channels: Channels;
  readonly vocabulary: Vocabulary;
}

/** What is known of the channels of an answer. */
export interface Channels {
  readonly open: Set<string>;
  readonly closed: Set<string>;
  /** What is known of the calls, for only the first event of each says it. */
  readonly calls: Map<string, CallName>;
}

/** Which tool a piece of arguments is for; `null` where that is not known. */
export interface CallName {
  readonly tool: string | null;
  readonly call_id: string | null;
}

/** Longer names come of keys that no protocol has, and would be kept as long as the stream lasts. */
const CHANNEL_UNITS_MAX = 500;

const NO_CALL: CallName = { tool: null, call_id: null };

/** No channels yet. */
export function startChannels(): Channels {
  return { open: new Set(), closed: new Set(), calls: new Map() };
}

/** An answer, or an event of one, of which nothing was read yet. */
export function startAnswer(vocabulary: Vocabulary, channels: Channels = startChannels()): AnswerDraft {
  return {
    pieces: [],
    closed: [],
    repeats: [],
    echoes: [],
    usage: null,
    id: null,
    model: null,
    finish_reasons: [],
    is_last: false,
    is_added_usage: false,
    channels,
    vocabulary,
  };
}

/** A piece of a text or of a call's arguments, on a channel that this opens. */
export function addPiece(
  draft: AnswerDraft,
  channel: string,
  kind: EventPiece['kind'],
  node: JsonNode,
  call: CallName = NO_CALL,
): void {
  if (channel.length > CHANNEL_UNITS_MAX) {
    addRepeat(draft, 'other', kind, node, call);
    return;
  }
  const { open, calls } = draft.channels;
  const name = openName(draft.channels, channel);
  const known = calls.get(name) ?? NO_CALL;
  const named = { tool: known.tool ?? call.tool, call_id: known.call_id ?? call.call_id };
  if (kind === 'arguments') calls.set(name, named);
  open.add(name);
  draft.pieces.push({ channel: name, kind, node, ...named });
}

/** A whole text or call that is said again, or that has no pieces. */
export function addRepeat(
  draft: AnswerDraft,
  channel: string,
  kind: EventPiece['kind'],
  node: JsonNode,
  call: CallName = NO_CALL,
): void {
  const known = draft.channels.calls.get(channel) ?? NO_CALL;
  const named = { tool: call.tool ?? known.tool, call_id: call.call_id ?? known.call_id };
  draft.repeats.push({ channel, kind, node, ...named });
}

/** Texts that stand by themselves: each is judged whole. */
export function addTexts(draft: AnswerDraft, node: JsonNode, meaning: Meaning = 'said'): void {
  readSaid(node, meaning, draft.vocabulary, onOwn(draft, ''));
}

/** As `addTexts`, for a member, with its key where the protocol does not know it. */
export function addMember(draft: AnswerDraft, member: JsonMember, holder: JsonNode): void {
  readMember(member, holder, draft.vocabulary, onOwn(draft, member.key.value));
}

/** Texts of a member that go on from event to event: each place in it is a channel. */
export function addMemberPieces(
  draft: AnswerDraft,
  member: JsonMember,
  holder: JsonNode,
  root: string,
): void {
  const path = `${root}.${member.key.value}`;
  readMember(member, holder, draft.vocabulary, (text, at) => addPiece(draft, at, 'text', text), path);
}

/**
 * Says that a value tells a channel's text again. One that holds nothing is left alone, and so is a string that is
 * a text of its own: that is judged as one.
 */
export function addEcho(
  draft: AnswerDraft,
  of: string,
  value: JsonNode,
  blank: 'null' | '""' | '[]' | '{}',
): void {
  if (value.kind === 'null' || (blank === '""' && !isSealed(value))) return;
  // What is said again behind the end of its channel is said on that one, and not on one that would follow it.
  const name = isOpen(draft, of) ? openName(draft.channels, of) : of;
  draft.echoes.push({
    of: name,
    splice: { start: value.start, end: value.end, text: blank },
  });
}

function isSealed(value: JsonNode): boolean {
  return value.kind === 'string' && value.value !== '' && isBase64(value.value);
}

/** Whether a channel has pieces, in this event or in one before it. */
export function isOpen({ channels }: AnswerDraft, channel: string): boolean {
  return channels.open.has(openName(channels, channel));
}

/** Ends a channel and those below it; a name that is used again later is another channel. */
export function closeChannels(draft: AnswerDraft, root: string): void {
  close(draft, (name) => name === root || name.startsWith(`${root}.`) || name.startsWith(`${root}~`));
}

/** Ends all channels; what comes behind has others. */
export function closeAll(draft: AnswerDraft): void {
  close(draft, () => true);
}

/** Ends all channels; the stream is over. */
export function endStream(draft: AnswerDraft): void {
  closeAll(draft);
  draft.is_last = true;
}

/** What an event brings. */
export function partsOf({ channels: _channels, vocabulary: _vocabulary, ...parts }: AnswerDraft): EventParts {
  return parts;
}

/** A whole answer, from what was read of it. */
export function wholeOf(draft: AnswerDraft): WireAnswer {
  const all = [...draft.pieces, ...draft.repeats].toSorted((one, other) => one.node.start - other.node.start);
  const texts = all.flatMap(({ kind, node }) => (kind === 'text' && node.kind === 'string' ? [node] : []));
  return {
    id: draft.id,
    model: draft.model,
    finish_reasons: draft.finish_reasons,
    texts,
    tool_calls: all
      .filter((each) => each.kind === 'arguments')
      .map(({ tool, call_id, node }) => ({ tool: tool ?? '', call_id, arguments: node })),
    usage: draft.usage,
    echoes: draft.echoes.map(({ of, splice }) => ({
      of: all.flatMap(({ channel, node }) => (channel === of && node.kind === 'string' ? [node] : [])),
      splice,
    })),
  };
}

/**
 * Texts that stand by themselves are on a channel for each member that the protocol knows, so that one which comes
 * with every event is the same one again, and so that names do not grow without bound.
 */
function onOwn(draft: AnswerDraft, key: string): Take {
  const channel = draft.vocabulary.has(key) ? `other.${key}` : 'other';
  return (text) => addRepeat(draft, channel, 'text', text);
}

function openName({ closed }: Channels, channel: string): string {
  let name = channel;
  for (let again = 2; closed.has(name); again++) name = `${channel}~${again}`;
  return name;
}

function close({ channels, closed }: AnswerDraft, concerns: (name: string) => boolean): void {
  for (const name of channels.open) {
    if (!concerns(name)) continue;
    channels.open.delete(name);
    channels.closed.add(name);
    closed.push(name);
  }
}
