/** Runs answers of providers through the proxy without a network: parsed, judged and rewritten. */
import { parseJsonTree } from '../../../core/json/json-tree.ts';
import { openCallAccount } from '../call-account.ts';
import { measureRequest } from '../estimate.ts';
import { guardRequest } from '../guard-request.ts';
import { relayAnswer } from '../relay-answer.ts';
import {
  buildCallContext,
  buildUpstreamAnswer,
  type CallContextOptions,
  type TestCallContext,
} from './call-context.ts';

/** The status and body that a client receives. */
export interface ClientAnswer {
  readonly status: number;
  readonly body: string;
}

/** Relays answers to one request, and records their audit events. */
export interface AnswerHarness {
  readonly events: TestCallContext['events'];
  /** Relays a whole answer, or the chunks of a stream of server-sent events. */
  readonly answer: (chunks: readonly (string | Uint8Array)[], type?: string) => Promise<ClientAnswer>;
}

/** Sends one request, and relays any number of answers to it. */
export async function openAnswerHarness(options: CallContextOptions = {}): Promise<AnswerHarness> {
  const { call_context, events } = buildCallContext(options);
  const text = Buffer.from(call_context.call.body).toString();
  const node = parseJsonTree(text, call_context.ports.policy.limits);
  if (node.kind === 'problem') throw new Error('the request of this test is no JSON');
  const request = call_context.call.format.readRequest(node);
  const guarded = await guardRequest(call_context, request);
  const input = await guarded.recorded;
  if (input.verdict.decision === 'block') throw new Error('the request of this test is denied');
  const read = { text, request, size: measureRequest(text, call_context.call.body, request) };
  return {
    events,
    answer: async (chunks, type = 'text/event-stream') => {
      const cost = { micro_usd: 7, is_assumed: true };
      const reservation = { settle: async () => cost, computeCost: () => cost };
      const hasNoFindings = () => true;
      const parts = { reservation, model: guarded.model, hasNoFindings, span: null, calls: null };
      const account = openCallAccount({ ...parts, keep: (settling) => void settling.catch(() => {}) });
      const answer = { ...buildUpstreamAnswer(chunks), headers: ['content-type', type] };
      const reply = await relayAnswer(call_context, { read, guarded, input, account }, answer);
      const { status, body } = reply;
      if (typeof body === 'string') return { status, body };
      if (body instanceof Uint8Array) return { status, body: Buffer.from(body).toString('utf8') };
      const pieces: string[] = [];
      for await (const piece of body) pieces.push(piece);
      return { status, body: pieces.join('') };
    },
  };
}
