import { getMembers } from '../json/nodes.ts';
import type { JsonMember, JsonNode, Splice, StringNode } from '../types/json.ts';
import { findUnlistedCall } from './unlisted-calls.ts';
import {
  isBase64,
  type MemberMeaning,
  type TextOrigin,
  type TextVisitor,
  type VisitOptions,
  visitMemberTexts,
  visitTexts,
  type WireVocabulary,
} from './vocabulary.ts';
import type { EventParts, EventPiece, WireAnswer } from './wire-format.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/**
 * The content of an answer while it is read: of one event, or of the whole answer as if it were a single event.
 * Each string is passed to one of the functions below exactly once, unless it is sealed.
 */
export interface AnswerDraft extends Writable<Omit<EventParts, 'removals'>> {
  /** Members of a stream's event that the protocol does not define, by the object around them. */
  readonly undefined_members: Map<JsonNode, Set<JsonMember>>;
  readonly channels: AnswerChannels;
  readonly vocabulary: WireVocabulary;
  /** `true` if the answer is read event by event. */
  readonly is_stream: boolean;
  /** Set by `failAnswer`. */
  is_faulty: boolean;
}

/** The state of the channels of an answer. */
export interface AnswerChannels {
  readonly open: Set<string>;
  readonly closed: Set<string>;
  /** The identity of each call, because only the first event of a call states it. */
  readonly calls: Map<string, CallIdentity>;
  /** Prefixes of channel names on which nothing may follow. */
  readonly ended: Set<string>;
  /** Names of channels that had a whole text. */
  readonly whole: Set<string>;
}

/** The tool and the id of a call that a piece of arguments belongs to; `null` if not known. */
export interface CallIdentity {
  readonly tool: string | null;
  readonly call_id: string | null;
  readonly is_free?: boolean;
}

/** Details of a piece that do not follow from its channel. */
export interface PieceDetails {
  readonly call?: CallIdentity;
  readonly joins?: readonly string[];
  readonly place?: string;
}

/** Longer names come from keys that no protocol has, and would be kept for the whole stream. */
const CHANNEL_UNITS_MAX = 500;

const NO_CALL: CallIdentity = { tool: null, call_id: null };
const NO_JOINS: readonly string[] = [];
const NO_PLACES: readonly string[] = [];

/** Returns the state without any channels. */
export function createChannels(): AnswerChannels {
  return { open: new Set(), closed: new Set(), calls: new Map(), ended: new Set(), whole: new Set() };
}

/** Returns the draft of an answer that was not read yet; with `channels`, of one event of a stream. */
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
    undefined_members: new Map(),
    is_faulty: false,
  };
}

/** Refuses the answer, because clients could read it in another way than it is judged. */
export function failAnswer(draft: AnswerDraft): void {
  draft.is_faulty = true;
}

/**
 * Refuses the answer if a value is not text where clients expect one, because some clients append it to texts
 * anyway.
 */
export function requireText(draft: AnswerDraft, { kind }: JsonNode): void {
  if (kind !== 'string' && kind !== 'null') failAnswer(draft);
}

/** Refuses the answer if an object is in the place of a list, because some clients read it as its only item. */
export function requireList(draft: AnswerDraft, { kind }: JsonNode): void {
  if (kind === 'object') failAnswer(draft);
}

/**
 * Adds a piece of a text or of a call's arguments and opens its channel. A piece after the end of a channel is a
 * fault.
 */
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
  draft.pieces.push({ channel, kind, node, ...named, joins: more.joins ?? NO_JOINS, places: NO_PLACES });
}

/** Adds a whole text or call that repeats earlier pieces, or that has no pieces. */
export function addRepeat(
  draft: AnswerDraft,
  channel: string,
  kind: EventPiece['kind'],
  node: JsonNode,
  more: PieceDetails = {},
): void {
  const { joins = NO_JOINS, call = NO_CALL } = more;
  const isOwn = kind === 'text' && joins.length === 0;
  if (!isOwn && hasEnded(draft, channel)) failAnswer(draft);
  const named = nameCall(draft, channel, call);
  if (kind === 'arguments') draft.channels.calls.set(channel, named);
  if (!isOwn) draft.channels.whole.add(channel);
  draft.repeats.push({
    channel,
    kind,
    node,
    ...named,
    joins,
    places: more.place === undefined ? NO_PLACES : [more.place],
  });
}

/**
 * Returns the identity of the call of a channel. A change of its tool or id is refused, because some clients then
 * read two calls.
 */
function nameCall(draft: AnswerDraft, channel: string, call: CallIdentity): Required<CallIdentity> {
  const known = draft.channels.calls.get(channel) ?? NO_CALL;
  if (isDifferent(known.tool, call.tool) || isDifferent(known.call_id, call.call_id)) failAnswer(draft);
  return {
    tool: known.tool ?? call.tool,
    call_id: known.call_id ?? call.call_id,
    is_free: known.is_free ?? call.is_free ?? false,
  };
}

function isDifferent(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other;
}

function hasEnded({ channels: { ended } }: AnswerDraft, channel: string): boolean {
  return ended.size > 0 && ended.has(channel.split('.', 1)[0]!);
}

/** Adds texts that belong to no other text; each is judged whole. */
export function addTexts(draft: AnswerDraft, node: JsonNode, meaning: MemberMeaning = 'said'): void {
  visitTexts(node, meaning, draft.vocabulary, addOnOwnChannel(draft, ''), visitAll(draft));
}

/** Adds an item of a list in which clients expect objects. A list in its place is refused, because clients differ in how they read it. */
export function addStrayItem(draft: AnswerDraft, item: JsonNode): void {
  if (item.kind === 'array') failAnswer(draft);
  addTexts(draft, item);
}

/** Adds the call in an object that no list of the format has, and returns its arguments; `null` if there is none. */
export function addUnlistedCall(draft: AnswerDraft, node: JsonNode, key?: string): JsonNode | null {
  const call = findUnlistedCall(node, key);
  if (call === null) return null;
  // Each of them is judged alone, also if it equals an earlier one.
  const channel = `unlisted.${draft.channels.calls.size}`;
  addRepeat(draft, channel, 'arguments', call.arguments, { call });
  return call.arguments;
}

function visitAll(draft: AnswerDraft, path: string | null = null): VisitOptions {
  const takeCall: VisitOptions['takeCall'] = (node, key) => addUnlistedCall(draft, node, key);
  return { path, takeWord: createWordVisitor(draft), takeCall };
}

/** Adds the texts of a member as `addTexts` does, with its key if the protocol does not define it. */
export function addMember(draft: AnswerDraft, member: JsonMember, holder: JsonNode): void {
  noteUndefinedMember(draft, member, holder);
  const { value: key } = member.key;
  const options = visitAll(draft, draft.is_stream ? key : null);
  visitMemberTexts(member, holder, draft.vocabulary, addOnOwnChannel(draft, key), options);
}

function noteUndefinedMember(
  { is_stream, vocabulary, undefined_members }: AnswerDraft,
  member: JsonMember,
  holder: JsonNode,
): void {
  if (!is_stream || vocabulary.has(member.key.value)) return;
  const known = undefined_members.get(holder);
  if (known === undefined) undefined_members.set(holder, new Set([member]));
  else known.add(member);
}

/**
 * Adds the texts of a member as `addMember` does, except texts of the request, which were judged as input.
 */
export function addMemberUnless(
  draft: AnswerDraft,
  member: JsonMember,
  holder: JsonNode,
  stated: ReadonlySet<string>,
): void {
  const take = addOnOwnChannel(draft, member.key.value);
  const unlessSaid: TextVisitor = (text, path, origin) => {
    if (!stated.has(text.value)) take(text, path, origin);
  };
  visitMemberTexts(member, holder, draft.vocabulary, unlessSaid, { takeWord: createWordVisitor(draft) });
}

/**
 * Adds the texts of a member that continue from event to event. Each place in the member is a channel. Texts that the
 * protocol does not define come whole: no client is known to join them, and their names never change.
 */
export function addMemberPieces(
  draft: AnswerDraft,
  member: JsonMember,
  holder: JsonNode,
  root: string,
  add: typeof addPiece = addPiece,
): void {
  noteUndefinedMember(draft, member, holder);
  const path = `${root}.${member.key.value}`;
  const take: TextVisitor = (text, at, origin) => {
    if (origin === 'defined') add(draft, at, 'text', text);
    else addUndefined(draft, text, at, origin);
  };
  visitMemberTexts(member, holder, draft.vocabulary, take, visitAll(draft, path));
}

/**
 * Records that a value repeats the text of a channel in another form. An empty value is ignored, and so is a string
 * that is a text of its own, because it is judged as a text.
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

/** Returns whether a channel has pieces, in this event or an earlier one, or a whole text in this event. */
export function isChannelOpen({ channels, repeats }: AnswerDraft, channel: string): boolean {
  return channels.open.has(channel) || repeats.some((each) => each.channel === channel);
}

/** Returns a channel name for a text that may begin again after its end; each run gets a new name. */
export function nameChannelRun({ channels: { closed } }: AnswerDraft, channel: string): string {
  let name = channel;
  for (let again = 2; closed.has(name); again++) name = `${channel}~${again}`;
  return name;
}

/** Closes a channel and the channels below it. */
export function closeChannels(draft: AnswerDraft, root: string): void {
  closeMatchingChannels(
    draft,
    (name) => name === root || name.startsWith(`${root}.`) || name.startsWith(`${root}~`),
  );
}

/** Closes all open channels. */
export function closeAllChannels(draft: AnswerDraft): void {
  closeMatchingChannels(draft, () => true);
}

/** Ends all channels below this name; a later piece on one of them is a fault. */
export function endChannels(draft: AnswerDraft, root: string): void {
  closeChannels(draft, root);
  draft.channels.ended.add(root);
}

/** Ends all channels, because the stream is over. */
export function endStream(draft: AnswerDraft): void {
  closeAllChannels(draft);
  draft.is_last = true;
}

/** Returns the parts of an event; `null` if the event must not be forwarded. */
export function buildEventParts(draft: AnswerDraft): EventParts | null {
  const {
    channels: _channels,
    vocabulary: _vocabulary,
    is_stream: _is_stream,
    is_faulty,
    undefined_members,
    ...parts
  } = draft;
  const removals = [...undefined_members].flatMap(([holder, removed]) => removeMembers(holder, removed));
  return is_faulty ? null : { ...parts, removals };
}

/** Returns the splices that remove members from an object, each with the comma before it, or the one after it. */
function removeMembers(holder: JsonNode, removed: ReadonlySet<JsonMember>): readonly Splice[] {
  const members = getMembers(holder);
  const splices: Splice[] = [];
  let hasKept = false;
  members.forEach((member, at) => {
    if (!removed.has(member)) {
      hasKept = true;
      return;
    }
    const { key, value } = member;
    const start = hasKept ? members[at - 1]!.value.end : key.start;
    const end = hasKept ? value.end : (members[at + 1]?.key.start ?? value.end);
    splices.push({ start, end, text: '' });
  });
  return splices;
}

/** Returns a whole answer; `null` if it must not be forwarded. */
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
    joined: groupJoined(all),
    words: draft.words,
  };
}

function groupJoined(pieces: readonly EventPiece[]): readonly (readonly StringNode[])[] {
  const byJoin = new Map<string, StringNode[]>();
  for (const { kind, node, joins } of pieces) {
    if (kind !== 'text' || node.kind !== 'string') continue;
    for (const join of joins) {
      const nodes = byJoin.get(join);
      if (nodes === undefined) byJoin.set(join, [node]);
      else nodes.push(node);
    }
  }
  return [...byJoin.values()].filter(({ length }) => length > 1);
}

/**
 * Returns a visitor that adds independent texts. Each member that the protocol defines has one channel, so a member
 * that is part of every event keeps its channel, and the number of names is bounded.
 */
function addOnOwnChannel(draft: AnswerDraft, key: string): TextVisitor {
  const channel = draft.vocabulary.has(key) ? `other.${key}` : 'other';
  return (text, path, origin) => {
    if (origin === 'defined') addRepeat(draft, channel, 'text', text);
    else addUndefined(draft, text, path, origin);
  };
}

/** Adds a text that the protocol does not define, or the name of its member. Longer places share one. */
function addUndefined(draft: AnswerDraft, text: StringNode, path: string, origin: TextOrigin): void {
  const place = path.slice(0, CHANNEL_UNITS_MAX);
  addRepeat(draft, 'other', 'text', text, origin === 'name' || !draft.is_stream ? {} : { place });
}

/** Adds the position in the event to the places of texts that the protocol does not define. */
export function addPositions(draft: AnswerDraft, body: JsonNode): void {
  const { repeats } = draft;
  if (repeats.every(({ places }) => places.length === 0)) return;
  const positions = new Map<number, string>();
  visitPositions(body, '$', positions);
  for (const [at, piece] of repeats.entries()) {
    const position = positions.get(piece.node.start);
    if (piece.places.length > 0 && position !== undefined)
      repeats[at] = { ...piece, places: [...piece.places, position] };
  }
}

function visitPositions(node: JsonNode, path: string, positions: Map<number, string>): void {
  const visit = (inner: JsonNode, step: string | number): void =>
    visitPositions(inner, `${path}.${step}`.slice(0, CHANNEL_UNITS_MAX), positions);
  if (node.kind === 'object') for (const { key, value } of node.members) visit(value, key.value);
  else if (node.kind === 'array') node.items.forEach(visit);
  else if (node.kind === 'string') positions.set(node.start, path);
}

function createWordVisitor({ words }: AnswerDraft): TextVisitor {
  return (word) => {
    if (word.value !== '') words.push(word);
  };
}

function closeMatchingChannels({ channels, closed }: AnswerDraft, concerns: (name: string) => boolean): void {
  for (const name of channels.open) {
    if (!concerns(name)) continue;
    channels.open.delete(name);
    channels.closed.add(name);
    closed.push(name);
  }
}
