/** Answers of providers on their whole way to the client: read, judged, written anew, without any network. */
import { parseJsonTree } from '../../../core/json/json-tree.ts';
import { openAccount } from '../account.ts';
import { answerCall } from '../answer-call.ts';
import { sizeOf } from '../estimate.ts';
import { guardRequest } from '../guard-request.ts';
import { answerOf, type RoadOptions, roadOf, type TestRoad } from './road.ts';

/** What a client gets. */
export interface Answered {
  readonly status: number;
  readonly body: string;
}

export interface Answering {
  readonly events: TestRoad['events'];
  /** Gives a whole answer or the pieces of a stream of server-sent events back. */
  readonly answer: (chunks: readonly (string | Uint8Array)[], type?: string) => Promise<Answered>;
}

/** Asks once, and has any number of answers to it given back. */
export async function openAnswering(options: RoadOptions = {}): Promise<Answering> {
  const { road, events } = roadOf(options);
  const text = Buffer.from(road.call.body).toString();
  const node = parseJsonTree(text, road.ports.policy.limits);
  if (node.kind === 'problem') throw new Error('the request of this test is no JSON');
  const request = road.call.format.readRequest(node);
  const guarded = await guardRequest(road, request);
  const { input } = await guarded.written;
  if (input === null) throw new Error('the request of this test is denied');
  const read = { text, request, size: sizeOf(text, road.call.body, request) };
  return {
    events,
    answer: async (chunks, type = 'text/event-stream') => {
      const settle = async () => ({ micro_usd: 0, is_assumed: true });
      const isPlain = () => true;
      const parts = { reservation: { settle }, model: guarded.model, isPlain, span: null, calls: null };
      const account = openAccount({ ...parts, keep: (settling) => void settling.catch(() => {}) });
      const answer = { ...answerOf(chunks), headers: ['content-type', type] };
      const reply = await answerCall(road, { read, guarded, input, account }, answer);
      const { status, body } = reply;
      if (typeof body === 'string') return { status, body };
      if (body instanceof Uint8Array) return { status, body: Buffer.from(body).toString('utf8') };
      const pieces: string[] = [];
      for await (const piece of body) pieces.push(piece);
      return { status, body: pieces.join('') };
    },
  };
}
