import type { JsonMember, JsonNode, StringNode } from '../types/json.ts';
import {
  isBase64,
  type MemberMeaning,
  type TextVisitor,
  visitMemberTexts,
  visitTexts,
  type WireVocabulary,
} from './vocabulary.ts';
import type { EventParts, EventPiece, WireAnswer } from './wire-format.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/**
 * What an answer brings, while it is read: one event of it, or all of it as if it were a single event. Each string
 * is given to one of the functions below exactly once, unless it is sealed.
 */
export interface AnswerDraft extends Writable<EventParts> {
  readonly channels: AnswerChannels;
  readonly vocabulary: WireVocabulary;
  /** Whether it is read event by event. */
  readonly is_stream: boolean;
  /** See `failAnswer`. */
  is_faulty: boolean;
}

/** What is known of the channels of an answer. */
export interface AnswerChannels {
  readonly open: Set<string>;
  readonly closed: Set<string>;
  /** What is known of the calls, for only the first event of each says it. */
  readonly calls: Map<string, CallIdentity>;
  /** First parts of names of channels on which nothing may follow. */
  readonly ended: Set<string>;
  /** Names of channels on which something was said whole. */
  readonly whole: Set<string>;
}

/** Which tool a piece of arguments is for; `null` where that is not known. */
export interface CallIdentity {
  readonly tool: string | null;
  readonly call_id: string | null;
  readonly is_free?: boolean;
}

/** What of a piece is not known by its channel alone. */
export interface PieceDetails {
  readonly call?: CallIdentity;
  readonly joins?: readonly string[];
}

/** Longer names come of keys that no protocol has, and would be kept as long as the stream lasts. */
const CHANNEL_UNITS_MAX = 500;

const NO_CALL: CallIdentity = { tool: null, call_id: null };
const NO_JOINS: readonly string[] = [];

/** No channels yet. */
export function createChannels(): AnswerChannels {
  return { open: new Set(), closed: new Set(), calls: new Map(), ended: new Set(), whole: new Set() };
}

/** An answer, or an event of one if `channels` are given, of which nothing was read yet. */
export function createAnswerDraft(vocabulary: WireVocabulary, channels?: AnswerChannels): AnswerDraft {
  return {
    pieces: [],
    closed: [],
    repeats: [],
    echoes: [],
    words: [],
    repairs: [],
    put_words: [],
    name: '',
    usage: null,
    id: null,
    model: null,
    finish_reasons: [],
    is_last: false,
    is_added_usage: false,
    channels: channels ?? createChannels(),
    vocabulary,
    is_stream: channels !== undefined,
    is_faulty: false,
  };
}

/** Refuses the answer: clients could read it in another way than it is judged. */
export function failAnswer(draft: AnswerDraft): void {
  draft.is_faulty = true;
}

/** Refuses a value that is no text where clients expect one: some of them put it together with texts all the same. */
export function requireText(draft: AnswerDraft, { kind }: JsonNode): void {
  if (kind !== 'string' && kind !== 'null') failAnswer(draft);
}

/** A piece of a text or of a call's arguments, on a channel that this opens. Behind its end a channel says nothing more. */
export function addPiece(
  draft: AnswerDraft,
  channel: string,
  kind: EventPiece['kind'],
  node: JsonNode,
  more: PieceDetails = {},
): void {
  if (channel.length > CHANNEL_UNITS_MAX) {
    addRepeat(draft, 'other', kind, node, more);
    return;
  }
  const { open, closed, calls } = draft.channels;
  if (hasEnded(draft, channel) || closed.has(channel)) {
    if (kind !== 'text' || node.kind !== 'string' || node.value !== '') failAnswer(draft);
    return;
  }
  const named = nameCall(draft, channel, more.call ?? NO_CALL);
  if (kind === 'arguments') calls.set(channel, named);
  open.add(channel);
  draft.pieces.push({ channel, kind, node, ...named, joins: more.joins ?? NO_JOINS });
}

/** A whole text or call that is said again, or that has no pieces. */
export function addRepeat(
  draft: AnswerDraft,
  channel: string,
  kind: EventPiece['kind'],
  node: JsonNode,
  more: PieceDetails = {},
): void {
  const { joins = NO_JOINS, call = NO_CALL } = more;
  const is_own = kind === 'text' && joins.length === 0;
  if (!is_own && hasEnded(draft, channel)) failAnswer(draft);
  const named = nameCall(draft, channel, call);
  if (kind === 'arguments') draft.channels.calls.set(channel, named);
  if (!is_own) draft.channels.whole.add(channel);
  draft.repeats.push({ channel, kind, node, ...named, joins });
}

/** Which call a channel is for. One that changes its tool or its id is two calls in the eyes of some clients. */
function nameCall(draft: AnswerDraft, channel: string, call: CallIdentity): Required<CallIdentity> {
  const known = draft.channels.calls.get(channel) ?? NO_CALL;
  if (differs(known.tool, call.tool) || differs(known.call_id, call.call_id)) failAnswer(draft);
  return {
    tool: known.tool ?? call.tool,
    call_id: known.call_id ?? call.call_id,
    is_free: known.is_free ?? call.is_free ?? false,
  };
}

function differs(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

function hasEnded({ channels: { ended } }: AnswerDraft, channel: string): boolean {
  return ended.size > 0 && ended.has(channel.split('.', 1)[0]!);
}

/** Texts that stand by themselves: each is judged whole. */
export function addTexts(draft: AnswerDraft, node: JsonNode, meaning: MemberMeaning = 'said'): void {
  visitTexts(node, meaning, draft.vocabulary, addOnOwnChannel(draft, ''), null, onWord(draft));
}

/** As `addTexts`, for a member, with its key where the protocol does not know it. */
export function addMember(draft: AnswerDraft, member: JsonMember, holder: JsonNode): void {
  visitMemberTexts(
    member,
    holder,
    draft.vocabulary,
    addOnOwnChannel(draft, member.key.value),
    null,
    onWord(draft),
  );
}

/** As `addMember`, but for texts that the request said: they were judged on their way in. */
export function addMemberUnless(
  draft: AnswerDraft,
  member: JsonMember,
  holder: JsonNode,
  said: ReadonlySet<string>,
): void {
  const take = addOnOwnChannel(draft, member.key.value);
  const unlessSaid: TextVisitor = (text, path) => {
    if (!said.has(text.value)) take(text, path);
  };
  visitMemberTexts(member, holder, draft.vocabulary, unlessSaid, null, onWord(draft));
}

/** Texts of a member that go on from event to event: each place in it is a channel. */
export function addMemberPieces(
  draft: AnswerDraft,
  member: JsonMember,
  holder: JsonNode,
  root: string,
  add: typeof addPiece = addPiece,
): void {
  const path = `${root}.${member.key.value}`;
  const take: TextVisitor = (text, at) => add(draft, at, 'text', text);
  visitMemberTexts(member, holder, draft.vocabulary, take, path, onWord(draft));
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
  draft.echoes.push({ of, splice: { start: value.start, end: value.end, text: blank } });
}

function isSealed(value: JsonNode): boolean {
  return value.kind === 'string' && value.value !== '' && isBase64(value.value);
}

/** Whether a channel has pieces, in this event or in one before it, or a whole text in this one. */
export function isChannelOpen({ channels, repeats }: AnswerDraft, channel: string): boolean {
  return channels.open.has(channel) || repeats.some((each) => each.channel === channel);
}

/** The name of a channel that may be used again after its end: then it is another one. */
export function nameChannelRun({ channels: { closed } }: AnswerDraft, channel: string): string {
  let name = channel;
  for (let again = 2; closed.has(name); again++) name = `${channel}~${again}`;
  return name;
}

/** Ends a channel and those below it. */
export function closeChannels(draft: AnswerDraft, root: string): void {
  close(draft, (name) => name === root || name.startsWith(`${root}.`) || name.startsWith(`${root}~`));
}

/** Ends all channels that are open. */
export function closeAllChannels(draft: AnswerDraft): void {
  close(draft, () => true);
}

/** Ends all channels whose names begin so: what follows on one of them is a fault. */
export function endChannels(draft: AnswerDraft, root: string): void {
  closeChannels(draft, root);
  draft.channels.ended.add(root);
}

/** Ends all channels; the stream is over. */
export function endStream(draft: AnswerDraft): void {
  closeAllChannels(draft);
  draft.is_last = true;
}

/** What an event brings; `null` if it must not be handed on. */
export function buildEventParts(draft: AnswerDraft): EventParts | null {
  const { channels: _channels, vocabulary: _vocabulary, is_stream: _is_stream, is_faulty, ...parts } = draft;
  return is_faulty ? null : parts;
}

/** A whole answer, from what was read of it; `null` if it must not be handed on. */
export function buildWireAnswer(draft: AnswerDraft): WireAnswer | null {
  if (draft.is_faulty) return null;
  const all = [...draft.pieces, ...draft.repeats].toSorted((one, other) => one.node.start - other.node.start);
  const texts = all.flatMap(({ kind, node }) => (kind === 'text' && node.kind === 'string' ? [node] : []));
  return {
    id: draft.id,
    model: draft.model,
    finish_reasons: draft.finish_reasons,
    texts,
    tool_calls: all
      .filter((each) => each.kind === 'arguments')
      .map(({ tool, call_id, node, is_free }) => ({ tool: tool ?? '', call_id, arguments: node, is_free })),
    usage: draft.usage,
    echoes: draft.echoes.map(({ of, splice }) => ({
      of: all.flatMap(({ channel, node }) => (channel === of && node.kind === 'string' ? [node] : [])),
      splice,
    })),
    joined: joinedIn(all),
    words: draft.words,
  };
}

function joinedIn(pieces: readonly EventPiece[]): readonly (readonly StringNode[])[] {
  const by_join = new Map<string, StringNode[]>();
  for (const { kind, node, joins } of pieces) {
    if (kind !== 'text' || node.kind !== 'string') continue;
    for (const join of joins) {
      const nodes = by_join.get(join);
      if (nodes === undefined) by_join.set(join, [node]);
      else nodes.push(node);
    }
  }
  return [...by_join.values()].filter(({ length }) => length > 1);
}

/**
 * Texts that stand by themselves are on a channel for each member that the protocol knows, so that one which comes
 * with every event is the same one again, and so that names do not grow without bound.
 */
function addOnOwnChannel(draft: AnswerDraft, key: string): TextVisitor {
  const channel = draft.vocabulary.has(key) ? `other.${key}` : 'other';
  return (text) => addRepeat(draft, channel, 'text', text);
}

function onWord({ words }: AnswerDraft): TextVisitor {
  return (word) => {
    if (word.value !== '') words.push(word);
  };
}

function close({ channels, closed }: AnswerDraft, concerns: (name: string) => boolean): void {
  for (const name of channels.open) {
    if (!concerns(name)) continue;
    channels.open.delete(name);
    channels.closed.add(name);
    closed.push(name);
  }
}
