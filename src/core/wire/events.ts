import { readJson } from './json-text.ts';
import { type Meaning, readMember, readSaid, type Vocabulary } from './said.ts';
import type { EventParts, EventPiece, EventReader, JsonMember, JsonNode, SseEvent } from './types.ts';

/** What a reader knows of a stream: which channels are open, and how often a name was used. */
export interface Channels {
  readonly open: Set<string>;
  readonly closed: Set<string>;
  /** What is known of the calls by now, for only their first event says it. */
  readonly calls: Map<string, CallName>;
  /** Counts texts that stand by themselves, so that each has a channel of its own. */
  others: number;
}

/** Which tool a piece of arguments is for; `null` where that is not known. */
export interface CallName {
  readonly tool: string | null;
  readonly call_id: string | null;
}

const NO_CALL: CallName = { tool: null, call_id: null };

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/** What one event brings, while it is read. */
export interface EventDraft extends Writable<EventParts> {
  readonly channels: Channels;
  readonly vocabulary: Vocabulary;
}

/** One event of a stream has a size limit as a text already; these bound what is made of it. */
const LIMITS = { depth_max: 200, nodes_max: 1_000_000 };

/** More texts and calls side by side than any answer has; each holds memory until it ends. */
const CHANNELS_MAX = 4096;

/**
 * A reader of events that hold JSON. `readBody` fills the draft from one of them; it gives `false` where that is
 * nothing of the protocol. `[DONE]`, which OpenAI ends streams with, ends any.
 */
export function openJsonEvents(
  vocabulary: Vocabulary,
  readBody: (draft: EventDraft, body: JsonNode, event: SseEvent) => boolean,
): EventReader {
  const channels: Channels = { open: new Set(), closed: new Set(), calls: new Map(), others: 0 };
  return {
    read: (event) => {
      const draft = startEvent(vocabulary, channels);
      if (event.data.trim() === '') return partsOf(draft);
      if (event.data.startsWith('[DONE]')) {
        closeAll(draft);
        draft.is_last = true;
        return partsOf(draft);
      }
      const body = readJson(event.data, LIMITS);
      if (body.kind !== 'object' || !readBody(draft, body, event)) return null;
      return channels.open.size + channels.closed.size > CHANNELS_MAX ? null : partsOf(draft);
    },
  };
}

/** A piece of a text or of a call's arguments, on a channel that this opens. */
export function addPiece(
  draft: EventDraft,
  channel: string,
  kind: EventPiece['kind'],
  node: JsonNode,
  call: CallName = NO_CALL,
): void {
  const name = openName(draft.channels, channel);
  const known = draft.channels.calls.get(name) ?? NO_CALL;
  const named = { tool: known.tool ?? call.tool, call_id: known.call_id ?? call.call_id };
  if (kind === 'arguments') draft.channels.calls.set(name, named);
  draft.channels.open.add(name);
  draft.pieces.push({ channel: name, kind, node, ...named });
}

/** A whole text or call that is said again, or that has no pieces. */
export function addRepeat(
  draft: EventDraft,
  channel: string,
  kind: EventPiece['kind'],
  node: JsonNode,
  call: CallName = NO_CALL,
): void {
  draft.repeats.push({ channel, kind, node, ...call });
}

/** Texts that stand by themselves in this event: each is judged whole. */
export function addTexts(draft: EventDraft, node: JsonNode, meaning: Meaning = 'said'): void {
  readSaid(node, meaning, draft.vocabulary, (text) => addRepeat(draft, otherChannel(draft), 'text', text));
}

/** As `addTexts`, for a member with its key. */
export function addMemberTexts(draft: EventDraft, member: JsonMember, holder: JsonNode): void {
  readMember(member, holder, draft.vocabulary, (text) => addRepeat(draft, otherChannel(draft), 'text', text));
}

/** Texts of a member that go on from event to event: each place in it is a channel. */
export function addMemberPieces(draft: EventDraft, member: JsonMember, holder: JsonNode, path: string): void {
  readMember(
    member,
    holder,
    draft.vocabulary,
    (text, at) => addPiece(draft, at, 'text', text),
    `${path}.${member.key.value}`,
  );
}

/** Ends a channel and those below it; a name that is used again later is another channel. */
export function closeChannels(draft: EventDraft, root: string): void {
  close(draft, (name) => name === root || name.startsWith(`${root}.`) || name.startsWith(`${root}~`));
}

/** Ends all channels. */
export function closeAll(draft: EventDraft): void {
  close(draft, () => true);
}

function close({ channels, closed }: EventDraft, concerns: (name: string) => boolean): void {
  for (const name of channels.open) {
    if (!concerns(name)) continue;
    channels.open.delete(name);
    channels.closed.add(name);
    closed.push(name);
  }
}

function startEvent(vocabulary: Vocabulary, channels: Channels): EventDraft {
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

function partsOf({ channels: _channels, vocabulary: _vocabulary, ...parts }: EventDraft): EventParts {
  return parts;
}

function otherChannel({ channels }: EventDraft): string {
  channels.others += 1;
  return `other.${channels.others}`;
}

function openName({ closed }: Channels, channel: string): string {
  let name = channel;
  for (let again = 2; closed.has(name); again++) name = `${channel}~${again}`;
  return name;
}
