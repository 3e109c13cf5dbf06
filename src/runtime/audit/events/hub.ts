import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describeFault, type Log } from '../../../platform/log.ts';
import { openSerialQueue } from '../../../platform/queue/serial-queue.ts';
import { Unavailable } from '../../../platform/unavailable.ts';
import type { StreamPage } from './replay.ts';
import { isInScope, matchesStreamFilter } from './streamed.ts';
import type {
  EventFrame,
  EventStream,
  StreamBatch,
  StreamEndReason,
  StreamEvent,
  StreamedEvent,
  StreamFilter,
  StreamScope,
  Subscription,
  SubscriptionRequest,
} from './types.ts';

/** The service and index functions that a hub uses. */
export interface EventHubPorts {
  /** Subscribes to the parent's batches for this turn, and returns the position at which they begin. */
  readonly join: (turn: number) => Promise<number>;
  readonly leave: (turn: number) => Promise<unknown>;
  readonly read: (from: number, to: number) => Promise<StreamPage>;
  readonly find: (
    eventId: string,
  ) => Promise<{ readonly position: number; readonly streamed: StreamedEvent } | null>;
  readonly log: Pick<Log, 'error'>;
  /** The time in which a reader that catches up must drain its buffer, in milliseconds; 30,000 by default. */
  readonly patience_ms?: number;
}

/** Serves the event stream readers of one worker. */
export interface EventHub extends EventStream {
  /** Receives a batch from the parent; resolves when it was written to all readers. */
  readonly receive: (batch: StreamBatch) => Promise<void>;
  /** Ends all readers, because the service stops. */
  readonly close: () => void;
}

/** The maximum number of readers per worker. */
const READERS_MAX = 1_000;
/** The maximum bytes buffered for one reader. Beyond it the reader is dropped. */
const WAITING_BYTES_MAX = 1_048_576;
/** The buffered bytes beyond which a catch-up pauses reading. */
const READ_AHEAD_BYTES = 262_144;
const PATIENCE_MS = 30_000;

interface Member {
  readonly request: SubscriptionRequest;
  filter: StreamFilter;
  /** The readers with the same filter, scope and format; `null` while it catches up. */
  group: Group | null;
  /** The hub's position when the reader subscribed. */
  readonly joined_at: number;
  ended: boolean;
}

/** Readers that receive the same bytes. */
interface Group {
  readonly key: string;
  readonly frame: EventFrame;
  readonly wants: (streamed: StreamedEvent) => boolean;
  readonly members: Set<Member>;
}

interface State {
  readonly ports: EventHubPorts;
  readonly members: Set<Member>;
  readonly groups: Map<string, Group>;
  /** The number of readers, including those that are being opened. */
  readers: number;
  turn: number;
  /** Settled once the parent has returned its start position; `null` while there are no readers. */
  joined: Promise<void> | null;
  /** The position up to which live readers were served. */
  position: number;
  closed: boolean;
}

/** Opens the hub of a worker. The parent sends events only while there are readers. */
export function openEventHub(ports: EventHubPorts): EventHub {
  const state: State = {
    ports,
    members: new Set(),
    groups: new Map(),
    readers: 0,
    turn: 0,
    joined: null,
    position: 0,
    closed: false,
  };
  const inTurn = openSerialQueue();
  return {
    subscribe: (request) => subscribeMember(state, request),
    receive: (batch) => inTurn(() => receiveBatch(state, batch)),
    close: () => {
      state.closed = true;
      for (const member of state.members) finishMember(state, member, 'stopping');
    },
  };
}

async function subscribeMember(state: State, request: SubscriptionRequest): Promise<Subscription | null> {
  if (state.closed) throw new Unavailable('The service stops.', null);
  if (state.readers >= READERS_MAX)
    throw new Unavailable('Too many read the event stream. Try again later.', null);
  state.readers += 1;
  try {
    await joinFeed(state);
    const after = request.after === null ? null : await getPlace(state, request, request.after);
    if (after === 'unknown') {
      leaveFeed(state);
      return null;
    }
    if (state.closed) throw new Unavailable('The service stops.', null);
    const { filter } = request;
    const member: Member = { request, filter, group: null, joined_at: state.position, ended: false };
    state.members.add(member);
    if (after === null) goLive(state, member);
    else void catchUp(state, member, after);
    return {
      narrow: (wanted, missed) => narrowMember(state, member, wanted, missed),
      close: () => dropMember(state, member),
    };
  } catch (fault) {
    leaveFeed(state);
    throw fault;
  }
}

function joinFeed(state: State): Promise<void> {
  if (state.joined === null) {
    const turn = ++state.turn;
    const joined = state.ports.join(turn).then((position) => {
      if (state.turn === turn) state.position = position;
    });
    joined.catch(() => {
      if (state.turn === turn) state.joined = null;
    });
    state.joined = joined;
  }
  return state.joined;
}

/** Counts one reader less. Without readers, unsubscribes from the parent. */
function leaveFeed(state: State): void {
  state.readers -= 1;
  if (state.readers > 0 || state.joined === null) return;
  state.joined = null;
  // If this call fails the parent keeps sending, and `receive` drops its batches.
  state.ports.leave(state.turn).catch(() => {});
}

async function getPlace(
  state: State,
  { scope }: SubscriptionRequest,
  eventId: string,
): Promise<number | 'unknown'> {
  const place = await state.ports.find(eventId);
  // An event outside the scope must look like an unknown one.
  return place === null || !isInScope(place.streamed, scope) ? 'unknown' : place.position;
}

async function narrowMember(
  state: State,
  member: Member,
  filter: StreamFilter,
  after: string | null,
): Promise<boolean> {
  const from = after === null ? null : await getPlace(state, member.request, after);
  if (from === 'unknown') return false;
  if (member.ended) return true;
  member.filter = filter;
  if (member.group === null) return true;
  leaveGroup(state, member);
  if (from === null) goLive(state, member);
  else void catchUp(state, member, from);
  return true;
}

async function receiveBatch(state: State, batch: StreamBatch): Promise<void> {
  await state.joined;
  if (state.joined === null || batch.turn !== state.turn) return;
  // The index has the events that the parent dropped from the queue of this worker.
  while (state.position < batch.from) {
    const page = await state.ports.read(state.position, batch.from);
    if (batch.turn !== state.turn) return;
    await deliverEvents(state, page.events, page.to);
  }
  const events = batch.events.map(({ caller_id, json }) => ({
    event: JSON.parse(json) as StreamEvent,
    caller_id,
    json,
  }));
  await deliverEvents(state, events, batch.to);
}

/** The number of readers written to before waiting decisions run. */
const WRITTEN_AT_ONCE = 32;

/**
 * Delivers events to all live readers and advances the position to `to`. Assigns events to readers synchronously, so
 * that a reader that subscribes meanwhile neither misses an event nor receives it twice.
 */
async function deliverEvents(state: State, events: readonly StreamedEvent[], to: number): Promise<void> {
  const given = shareOut(state, events);
  state.position = to;
  for (const [at, [member, bytes]] of given.entries()) {
    if (at % WRITTEN_AT_ONCE === WRITTEN_AT_ONCE - 1) await nextTurn();
    writeToMember(state, member, bytes);
  }
}

/** Returns the bytes for each reader. Frames each event once per format. */
function shareOut(state: State, events: readonly StreamedEvent[]): [Member, Buffer][] {
  const framed = new Map<EventFrame, Map<StreamedEvent, Buffer>>();
  const given: [Member, Buffer][] = [];
  for (const group of state.groups.values()) {
    const wanted = events.filter(group.wants);
    if (wanted.length === 0) continue;
    const frames = framed.get(group.frame) ?? new Map<StreamedEvent, Buffer>();
    framed.set(group.frame, frames);
    const bytes = Buffer.concat(wanted.map((each) => getFrame(each, group.frame, frames)));
    for (const member of group.members) given.push([member, bytes]);
  }
  return given;
}

function getFrame(streamed: StreamedEvent, frame: EventFrame, frames: Map<StreamedEvent, Buffer>): Buffer {
  const made = frames.get(streamed) ?? frame.bytes(streamed);
  frames.set(streamed, made);
  return made;
}

/** Writes to a reader. Drops a reader that has too much buffered, which bounds the memory it uses. */
function writeToMember(state: State, member: Member, bytes: Buffer): void {
  if (member.ended) return;
  if (member.request.sink.waitingBytes() > WAITING_BYTES_MAX) finishMember(state, member, 'slow');
  else member.request.sink.write(bytes);
}

/**
 * Delivers the events after `missed` that precede the subscription, then the events that came meanwhile, at the
 * reader's speed. Makes the reader live in the same turn in which it reaches the hub's position.
 */
async function catchUp(state: State, member: Member, missed: number): Promise<void> {
  const leftAt = state.position;
  try {
    await readOut(state, member, missed, () => member.joined_at);
    await readOut(state, member, leftAt, () => state.position);
    if (!member.ended) goLive(state, member);
  } catch (fault) {
    state.ports.log.error('a reader of the event stream could not be served', describeFault(fault));
    finishMember(state, member, 'fault');
  }
}

async function readOut(state: State, member: Member, from: number, to: () => number): Promise<void> {
  const { sink } = member.request;
  for (let at = from; at < to() && !member.ended; ) {
    const page = await state.ports.read(at, to());
    if (member.ended) return;
    at = page.to;
    const wanted = page.events.filter(getWants(member.request.scope, member.filter));
    if (wanted.length > 0) sink.write(Buffer.concat(wanted.map(sink.frame.bytes)));
    await nextTurn();
    if (sink.waitingBytes() <= READ_AHEAD_BYTES) continue;
    const late = new AbortController();
    const { patience_ms = PATIENCE_MS } = state.ports;
    await Promise.race([sink.drained(), sleep(patience_ms, null, { signal: late.signal, ref: false })]);
    late.abort();
    if (sink.waitingBytes() > READ_AHEAD_BYTES) finishMember(state, member, 'slow');
  }
}

function getWants(scope: StreamScope, filter: StreamFilter): (streamed: StreamedEvent) => boolean {
  return (streamed) => matchesStreamFilter(streamed, filter) && isInScope(streamed, scope);
}

function goLive(state: State, member: Member): void {
  const { scope, sink } = member.request;
  const { frame } = sink;
  const { filter } = member;
  const key = JSON.stringify([frame.name, scope, filter]);
  const group: Group = state.groups.get(key) ?? {
    key,
    frame,
    wants: getWants(scope, filter),
    members: new Set(),
  };
  group.members.add(member);
  state.groups.set(key, group);
  member.group = group;
}

function leaveGroup(state: State, member: Member): void {
  const { group } = member;
  if (group === null) return;
  member.group = null;
  group.members.delete(member);
  if (group.members.size === 0) state.groups.delete(group.key);
}

function finishMember(state: State, member: Member, why: StreamEndReason): void {
  if (member.ended) return;
  dropMember(state, member);
  member.request.sink.end(why);
}

function dropMember(state: State, member: Member): void {
  if (member.ended) return;
  member.ended = true;
  leaveGroup(state, member);
  state.members.delete(member);
  leaveFeed(state);
}
