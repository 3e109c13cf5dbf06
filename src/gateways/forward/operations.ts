import {
  createContent as contentOfValue,
  findMemberSource,
  parseJsonSource,
  writeContentJson,
} from '../../core/json/source.ts';
import { Type } from '../../core/schema.ts';
import type { Content, Json } from '../../core/types/index.ts';
import { readContentMember, readContentValue, runCheck } from '../../operations/check.ts';
import { checkBody } from '../../operations/check-body.ts';
import { type Context, defineOperation, Refusal, type RefusalCode } from '../../operations/operation.ts';
import { buildVerdictReply, findChangedContent } from '../../operations/reply.ts';
import {
  agentId,
  approvalRequestId,
  dataTags,
  name,
  sessionId,
  tenantId,
  verdictProperties,
  whoContext,
} from '../../operations/shapes.ts';
import { buildActor, dropBlankName, resolveSubject } from '../../operations/subject.ts';
import { type ActorContext, buildTextCrossing } from '../../runtime/enforcement/crossings.ts';
import { type ApiRoute, findApiRoute } from '../llm/api-routes.ts';
import { UpstreamFailure, type UpstreamFailureCode } from '../upstream/failure.ts';
import { CREDENTIAL_HEADERS } from '../upstream/headers.ts';
import { forwardModelCall } from './forward-model.ts';
import { rebuildUrl, splitUrl } from './forwarded-url.ts';
import type { ForwardDestination, Forwarder, ForwardResponse } from './forwarder.ts';

export const proxyForward = defineOperation({
  name: 'proxy_forward',
  summary: 'Forward one request, and check it and its answer',
  description:
    'Checks a request by the `input` rules, sends it to `proxy.target` or to a public address, and checks the response by the `output` rules. A blocked request is a 403 with `decision` and `violations`, and nothing is sent. A blocked response is a 200 without its body. Calls of a model provider’s API also count against budgets, and their tool calls are checked. The response of the upstream, also an error, is in `upstream_status` and `body`.',
  http: { method: 'POST', path: '/v1/proxy/forward' },
  permission: 'check',
  counts_checks: true,
  needs: 'policy',
  calls_models: true,
  check_body: {},
  input: checkBody(
    Type.Object({
      method: Type.Optional(Type.String({ maxLength: 16, description: 'Without it `POST`.' })),
      path: Type.Optional(
        Type.Nullable(
          Type.String({
            maxLength: 8_192,
            description: 'Path and query at `proxy.target`; ignored with `upstream_url`.',
          }),
        ),
      ),
      upstream_url: Type.Optional(
        Type.Nullable(
          Type.String({
            maxLength: 8_192,
            description: 'A public address in place of `proxy.target`. One that is not public is refused.',
          }),
        ),
      ),
      headers: Type.Optional(
        Type.Nullable(
          Type.Unsafe<object>({
            type: 'object',
            description:
              'Headers by their names. Their values are judged, but for those in which a credential for `proxy.target` goes.',
          }),
        ),
      ),
      json_body: Type.Optional(
        Type.Unknown({
          description: 'Any JSON value as the body; `null` is none. It comes before `text_body`.',
        }),
      ),
      text_body: Type.Optional(Type.Nullable(Type.String({ description: 'The body, as it is.' }))),
      timeout_seconds: Type.Optional(
        Type.Nullable(
          Type.Number({
            minimum: 0.001,
            maximum: 3_600,
            description: 'Time limit of the whole call (default: `proxy.timeout_seconds`).',
          }),
        ),
      ),
      agent_id: Type.Optional(agentId),
      tenant_id: Type.Optional(tenantId),
      session_id: Type.Optional(sessionId),
      context: Type.Optional(whoContext),
      source_agent_id: Type.Optional({
        ...name,
        description: 'The agent that sends the request (default: `agent_id`).',
      }),
      destination_agent_id: Type.Optional({
        ...name,
        description: 'The agent that receives the request (default: the host).',
      }),
      data_tags: Type.Optional(dataTags),
      approval_request_id: Type.Optional(approvalRequestId),
    }),
  ),
  output: Type.Object({
    ...verdictProperties,
    input_event_id: Type.String({
      description: 'The audit event of the request; `event_id` is that of the answer.',
    }),
    upstream_status: Type.Nullable(Type.Integer({ description: '`null` where nothing was sent.' })),
    upstream_headers: Type.Unsafe<object>({
      type: 'object',
      description: 'Those that are safe to show, in lower case.',
    }),
    body: Type.String({
      description:
        'The response, the changed response, or, if it is blocked, the text of the rule or nothing.',
    }),
  }),
  example: {
    method: 'POST',
    path: '/v1/tickets',
    json_body: { subject: 'When are you open?' },
    agent_id: 'support-bot',
  },
  answer: {
    decision: 'allow',
    action: 'allow',
    rule: 'default.allow',
    reason: 'Nothing was found that a rule acts on.',
    event_id: 'evt_0123456789abcdef01234568',
    violations: [],
    scan_duration_ms: 1,
    coverage: 'full',
    input_event_id: 'evt_0123456789abcdef01234567',
    upstream_status: 200,
    upstream_headers: { 'content-type': 'application/json' },
    body: '{"ticket":17,"answer":"From nine to five."}',
  },
  refusals: [
    'agent_context_required',
    'policy_violation',
    'budget_exceeded',
    'not_configured',
    'upstream_failed',
    'upstream_timeout',
  ],
  async run(input, context) {
    const subject = resolveSubject(input, context);
    const acting = buildActor(input, subject, context.runtime);
    const forwarder = await context.runtime.forward();
    const requested = { upstream_url: dropBlankName(input.upstream_url), path: readPath(input.path) };
    const place = refuseOnFailure(() => forwarder.resolveDestination(requested));
    const outgoing = readOutgoing(input, place, context);
    const who: RequestSender = {
      acting,
      destination_agent_id: dropBlankName(input.destination_agent_id) ?? place.url.hostname,
    };
    const timeoutMs = input.timeout_seconds == null ? null : Math.ceil(input.timeout_seconds * 1_000);
    const route = findApiRoute(place.url, outgoing.method);
    if (route?.kind === 'unserved') throw buildUnservedRefusal();
    if (route !== null) {
      const { approval_request_id } = input;
      const call = { ...outgoing, route, timeout_ms: timeoutMs, approval_request_id };
      return callModel(call, who, forwarder, context);
    }
    const crossing = buildTextCrossing('input', who.acting, buildContent(outgoing, context), who);
    const ruling = await runCheck(
      { crossing, endpoint: 'proxy_forward', approval_request_id: input.approval_request_id },
      context,
    );
    const reply = buildVerdictReply(ruling);
    const nothing = { input_event_id: reply.event_id, upstream_status: null, upstream_headers: {}, body: '' };
    if (reply.fault === true) return { ...reply, ...nothing };
    if (reply.decision === 'block') throw new Refusal('policy_violation', reply.reason, [], { ...reply });
    const changed = findChangedContent(ruling.verdict);
    const sent = changed === null ? outgoing : applyChange(changed, outgoing);
    const answer = await sendRequest(forwarder, { ...sent, timeout_ms: timeoutMs }, context);
    return {
      ...(await guardAnswer(answer, who, context)),
      input_event_id: reply.event_id,
      upstream_status: answer.status,
      upstream_headers: answer.headers,
    };
  },
});

/** A request for a model: its parts and its route at the provider. */
interface ModelCall extends OutgoingRequest {
  readonly route: Extract<ApiRoute, { readonly kind: 'served' }>;
  readonly timeout_ms: number | null;
  readonly approval_request_id: string | null | undefined;
}

/**
 * Calls a model as the LLM routes do: with budgets, and with every tool call of the answer judged. Path, query and
 * headers are judged here, because in those routes the caller does not choose them.
 */
async function callModel(
  { route, timeout_ms, approval_request_id, ...outgoing }: ModelCall,
  who: RequestSender,
  forwarder: Forwarder,
  context: Context,
) {
  const bare: OutgoingRequest = { ...outgoing, body: { kind: 'none' } };
  const crossing = buildTextCrossing('input', who.acting, buildContent(bare, context), who);
  const ruling = await runCheck({ crossing, endpoint: 'proxy_forward' }, context);
  const reply = buildVerdictReply(ruling);
  const changed = findChangedContent(ruling.verdict);
  const nothing = { input_event_id: reply.event_id, upstream_status: null, upstream_headers: {}, body: '' };
  if (reply.fault === true) return { ...reply, ...nothing };
  if (reply.decision === 'block') throw new Refusal('policy_violation', reply.reason, [], { ...reply });
  const shown = changed === null ? bare : applyChange(changed, bare);
  const { answered, ...answer } = await forwardModelCall(
    {
      route,
      url: shown.place.url,
      body: encodeBody(outgoing.body) ?? new Uint8Array(),
      acting: who.acting,
      approval_request_id: dropBlankName(approval_request_id),
      send: (body, signal) =>
        forwarder.send(shown.place, {
          method: shown.method,
          headers: addContentType(shown.headers, outgoing.body).flat(),
          body,
          timeout_ms,
          signal,
        }),
    },
    context,
  );
  // An error of a provider is judged as text because its format is unknown.
  const judged = answer.reply ?? (await guardAnswer(answered, who, context));
  return {
    ...judged,
    input_event_id: answer.input_event_id,
    upstream_status: answered.status,
    upstream_headers: answered.headers,
  };
}

function buildUnservedRefusal(): Refusal {
  return new Refusal(
    'invalid_request',
    'This route of a model provider cannot be guarded or charged to a budget, so it is not forwarded. Use one of the routes in docs/reference/llm-proxy.md.',
    [{ path: 'path', message: 'is a route of a model provider that is not served' }],
  );
}

/** Judges the answer, and returns it as the policy changed it. */
async function guardAnswer(answer: ForwardResponse, who: RequestSender, context: Context) {
  const acting = { ...who.acting, now_ms: context.runtime.now_ms() };
  const crossing = buildTextCrossing('output', acting, { kind: 'text', text: answer.text }, who);
  const ruling = await runCheck({ crossing, endpoint: 'proxy_forward' }, context);
  const reply = buildVerdictReply(ruling);
  const changed = findChangedContent(ruling.verdict);
  const instead = changed?.kind === 'text' ? changed.text : '';
  return { ...reply, body: reply.decision === 'allow' ? answer.text : instead };
}

/** The acting agent of a request, and the agent or host that it goes to. */
interface RequestSender {
  readonly acting: ActorContext;
  readonly destination_agent_id: string;
}

/** The outgoing request, in the parts that are judged. */
interface OutgoingRequest {
  readonly place: ForwardDestination;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

type Body =
  | { readonly kind: 'none' }
  /** A JSON text, as sent. */
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

interface Envelope {
  readonly method?: string;
  readonly headers?: object | null;
  readonly json_body?: unknown;
  readonly text_body?: string | null;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];

function readOutgoing(input: Envelope, place: ForwardDestination, context: Context): OutgoingRequest {
  const method = (input.method ?? 'POST').toUpperCase();
  if (!METHODS.includes(method)) throw buildInvalidRefusal('method', `must be one of ${METHODS.join(', ')}`);
  const body = readBody(input, context);
  if (body.kind !== 'none' && ['GET', 'HEAD'].includes(method))
    throw buildInvalidRefusal('method', 'must be another one where there is a body');
  return { place, method, headers: readHeaders(input.headers ?? {}), body };
}

function readBody(input: Envelope, context: Context): Body {
  const { json_body, text_body } = input;
  if (json_body !== undefined && json_body !== null)
    return { kind: 'json', text: writeContentJson(readContentMember(input, 'json_body', context)) };
  if (text_body !== undefined && text_body !== null) return { kind: 'text', text: text_body };
  return { kind: 'none' };
}

const HEADERS_MAX = 100;
const HEADER_CHARACTERS_MAX = 16_384;

function readHeaders(written: object): Record<string, string> {
  const entries: [string, unknown][] = Object.entries(written);
  if (entries.length > HEADERS_MAX)
    throw buildInvalidRefusal('headers', `must have at most ${HEADERS_MAX} headers`);
  for (const [header, value] of entries) {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/.test(header))
      throw buildInvalidRefusal('headers', 'has a name that is not a valid header name');
    const fits = typeof value === 'string' && value.length <= HEADER_CHARACTERS_MAX;
    if (!fits || /[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw buildInvalidRefusal('headers', 'has a value that HTTP does not allow, or a very long one');
  }
  return written as Record<string, string>;
}

function readPath(path: string | null | undefined): string | null {
  const given = dropBlankName(path);
  if (given === null) return null;
  return given.startsWith('/') ? given : `/${given}`;
}

/** Builds the judged content: the whole request except headers for credentials. */
function buildContent({ place, headers, body }: OutgoingRequest, { runtime }: Context): Content {
  const judged = Object.entries(headers).filter(([header]) => !holdsCredential(header, place));
  const around = JSON.stringify({ ...splitUrl(place.url), headers: Object.fromEntries(judged) });
  const text = body.kind === 'none' ? around : `${around.slice(0, -1)},"body":${formatJson(body)}}`;
  // Content over a limit has no source positions. It is blocked because of the limit.
  return contentOfValue(JSON.parse(text) as Json, parseJsonSource(text, runtime.policy().limits));
}

function formatJson({ kind, text }: Exclude<Body, { kind: 'none' }>): string {
  return kind === 'json' ? text : JSON.stringify(text);
}

/**
 * Returns whether a header may hold a credential unjudged. That is allowed at the configured address only: at an
 * address of the caller, any key could be sent to any server.
 */
function holdsCredential(header: string, { is_configured }: ForwardDestination): boolean {
  return is_configured && CREDENTIAL_HEADERS.has(header.toLowerCase());
}

/** Applies the policy's changes to the request. */
function applyChange(changed: Content, { place, method, headers, body }: OutgoingRequest): OutgoingRequest {
  const value = readContentValue(changed) as Record<string, Json>;
  const credentials = Object.entries(headers).filter(([header]) => holdsCredential(header, place));
  return {
    method,
    place: { ...place, url: rebuildUrl(place.url, value) },
    headers: { ...readHeaders(value.headers as object), ...Object.fromEntries(credentials) },
    body: applyBodyChange(body, value.body, changed),
  };
}

function applyBodyChange(body: Body, value: Json | undefined, changed: Content): Body {
  if (body.kind === 'text') return { kind: 'text', text: value as string };
  if (body.kind === 'none') return body;
  const source = changed.kind === 'json' && changed.source ? findMemberSource(changed.source, 'body') : null;
  if (source === null) throw new TypeError('The changed request has no body.');
  return { kind: 'json', text: source.text.slice(source.root.start, source.root.end) };
}

async function sendRequest(
  forwarder: Forwarder,
  { place, method, headers, body, timeout_ms }: OutgoingRequest & { readonly timeout_ms: number | null },
  { signal }: Context,
): Promise<ForwardResponse> {
  const call = {
    method,
    headers: addContentType(headers, body).flat(),
    body: encodeBody(body),
    timeout_ms,
    signal: signal?.() ?? new AbortController().signal,
  };
  return forwarder.send(place, call).catch(throwRefusal);
}

function addContentType(headers: OutgoingRequest['headers'], body: Body): [string, string][] {
  const hasType = Object.keys(headers).some((header) => header.toLowerCase() === 'content-type');
  const typed = body.kind === 'none' || hasType ? headers : { ...headers, 'content-type': TYPES[body.kind] };
  return Object.entries(typed);
}

const TYPES = { json: 'application/json', text: 'text/plain; charset=utf-8' } as const;

function encodeBody(body: Body): Uint8Array | null {
  if (body.kind === 'none') return null;
  return Buffer.from(body.text);
}

function refuseOnFailure<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (fault) {
    return throwRefusal(fault);
  }
}

function throwRefusal(fault: unknown): never {
  if (!(fault instanceof UpstreamFailure)) throw fault;
  throw new Refusal(CODES[fault.code] ?? 'upstream_failed', fault.message);
}

/** The refusal codes of upstream failures. Every other failure is `upstream_failed`. */
const CODES: Partial<Record<UpstreamFailureCode, RefusalCode>> = {
  not_configured: 'not_configured',
  invalid_request: 'invalid_request',
  upstream_timeout: 'upstream_timeout',
};

function buildInvalidRefusal(path: string, message: string): Refusal {
  return new Refusal('invalid_request', `\`${path}\` ${message}.`, [{ path, message }]);
}
