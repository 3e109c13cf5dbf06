import type { Boundary } from '../../core/types/index.ts';
import { wireFormats } from '../../core/wire/formats/index.ts';
import type { WireError, WireFormat } from '../../core/wire/wire-format.ts';
import { type Context, Refusal, type RefusalCode } from '../../operations/operation.ts';
import { buildVerdictReply, findChangedContent, type VerdictReply } from '../../operations/reply.ts';
import type { ActorContext } from '../../runtime/enforcement/crossings.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import type { ApiRoute } from '../llm/api-routes.ts';
import type { LlmReply } from '../llm/llm-call.ts';
import type { UpstreamAnswer } from '../upstream/types.ts';
import type { ForwardResponse } from './forwarder.ts';

/** A call of a model that `proxy_forward` forwards. */
export interface ForwardedModelCall {
  readonly route: Extract<ApiRoute, { readonly kind: 'served' }>;
  /** The URL after changes by the policy. */
  readonly url: URL;
  readonly body: Uint8Array;
  readonly acting: ActorContext;
  readonly approval_request_id: string | null;
  /** Sends the body as the policy changed it. */
  readonly send: (body: Uint8Array | null, signal: AbortSignal) => Promise<ForwardResponse>;
}

/** The answer to a forwarded call of a model. */
export interface ForwardedModelAnswer {
  readonly answered: ForwardResponse;
  readonly input_event_id: string;
  /** `null` if the provider answered with an error, which was not judged. */
  readonly reply: (VerdictReply & { readonly body: string }) | null;
}

/** The outcome of a call, as the LLM proxy reports it. */
interface CallOutcome {
  answered: ForwardResponse | null;
  denial: Ruling | null;
  error: WireError | null;
  readonly rulings: Map<Boundary, Ruling>;
}

/**
 * Calls a model through the LLM proxy.
 * @throws Refusal if nothing was sent, or no answer arrived
 */
export async function forwardModelCall(
  call: ForwardedModelCall,
  context: Context,
): Promise<ForwardedModelAnswer> {
  const outcome: CallOutcome = { answered: null, denial: null, error: null, rulings: new Map() };
  const text = await callAndCollect(call, context, outcome);
  const { answered, denial, error, rulings } = outcome;
  if (denial?.verdict.fault === true) throw new Error('a decision of the call met a fault');
  if (answered === null) throw buildRefusal(denial, error);
  const inputEventId = rulings.get('input')?.event_id ?? '';
  if (denial !== null) {
    const instead = findChangedContent(denial.verdict);
    const body = instead?.kind === 'text' ? instead.text : '';
    return {
      answered,
      input_event_id: inputEventId,
      reply: { ...buildVerdictReply(denial), body },
    };
  }
  if (error !== null) throw buildRefusal(null, error);
  const output = rulings.get('output');
  const reply = output === undefined ? null : { ...buildVerdictReply(output), body: text };
  return { answered, input_event_id: inputEventId, reply };
}

async function callAndCollect(
  call: ForwardedModelCall,
  context: Context,
  outcome: CallOutcome,
): Promise<string> {
  const { caller, request_id, user_id, signal } = context;
  const { route, url, body, acting, approval_request_id } = call;
  if (context.llm === undefined)
    throw new Refusal('not_configured', 'Models cannot be called over this transport.');
  const llm = await context.llm();
  const reply = await llm.call({
    format: buildErrorKeepingFormat(route.wire, outcome),
    path: `${url.pathname}${url.search}`,
    headers: [],
    body,
    in_path: route.in_path,
    acting,
    user_id: user_id ?? null,
    caller,
    request_id,
    approval_request_id,
    capability_token: null,
    signal: signal?.() ?? new AbortController().signal,
    describeDenial: (denial) => {
      outcome.denial = denial;
      return { status: 403, code: 'policy_violation', message: '', request_id, extra: {} };
    },
    send: async ({ bodyFor, model, signal }) => {
      outcome.answered = await call.send(bodyFor(model), signal);
      return buildUpstreamAnswer(outcome.answered, url, model);
    },
    onRuling: (ruling) => void outcome.rulings.set(ruling.crossing.boundary, ruling),
  });
  return readWholeText(reply);
}

/**
 * Returns the format with error writers that store the error instead, because this operation reports its own errors.
 */
function buildErrorKeepingFormat(wire: WireFormat['name'], outcome: CallOutcome): WireFormat {
  const format = wireFormats.find(({ name }) => name === wire)!;
  const keep = (error: WireError): string => {
    outcome.error = error;
    return '';
  };
  return { ...format, errorBody: keep, errorEvents: keep };
}

function buildUpstreamAnswer(
  { status, headers, text }: ForwardResponse,
  url: URL,
  model: string | null,
): UpstreamAnswer {
  async function* streamBody(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  return {
    status,
    headers: Object.entries(headers).flat(),
    body: streamBody(),
    provider: url.hostname,
    model,
    attempts: 1,
  };
}

async function readWholeText({ body }: LlmReply): Promise<string> {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  const pieces: string[] = [];
  for await (const piece of body) pieces.push(piece);
  return pieces.join('');
}

/** The codes of the LLM proxy that are also refusal codes. Every other code is a failure of the provider. */
const CODES: Readonly<Record<string, RefusalCode>> = {
  budget_exceeded: 'budget_exceeded',
  invalid_request: 'invalid_request',
  upstream_timeout: 'upstream_timeout',
};

function buildRefusal(denial: Ruling | null, error: WireError | null): Refusal {
  if (denial !== null) {
    const reply = buildVerdictReply(denial);
    return new Refusal('policy_violation', reply.reason, [], { ...reply });
  }
  const { code, message, extra } = error!;
  const refused = CODES[code] ?? 'upstream_failed';
  return new Refusal(refused, message, [], code === 'budget_exceeded' ? { ...extra } : {});
}
