import type {
  Dialect,
  HookCheck,
  HookEvent,
  HookReply,
  Payload,
} from '../../coding-agents/record/dialect.ts';
import { replyWithExitCode, UnreadablePayload } from '../../coding-agents/record/payload.ts';
import type { Json } from '../../core/types/index.ts';
import {
  buildAnswer,
  type PayloadResult,
  readEventName,
  readPayloadChecks,
  readPayloadSubject,
} from '../../runtime/adapters/read-payload.ts';
import type { DialectReply, DialectSpec, EventSpec, FoundCheck } from '../../runtime/adapters/types.ts';

/**
 * Builds the dialect that a plug-in describes. It reads payloads by paths and writes replies from templates; it runs no
 * code of the plug-in.
 */
export function buildPluginDialect(declared: DialectSpec): Dialect {
  const { name, agent_id = name, events, ignored_events = [], pass = {} } = declared;
  return {
    name,
    agent_id,
    // The dialect is chosen only by `--dialect`, never by the shape of a payload.
    recognises: () => false,
    readEvent: (payload, given) => unwrapResult(readEventName(declared, payload, given)),
    readSubject: (payload) => ({
      ...unwrapResult(readPayloadSubject(declared, payload)),
      approval_request_id: null,
    }),
    events: Object.fromEntries(Object.entries(events).map(([key, event]) => [key, buildEvent(event)])),
    ignored_events,
    pass: buildReply(pass, {}, {}),
    refuse: replyWithExitCode,
  };
}

function buildEvent({ deny, change, ask, ...event }: EventSpec<DialectReply>): HookEvent {
  return {
    checks: (payload) => unwrapResult(readPayloadChecks(event, payload)).map(buildCheck),
    deny: (reason, payload) => buildReply(deny, payload, { reason }),
    ...(change !== undefined && {
      change: (changed: Json, reason: string, payload: Payload) =>
        buildReply(change, payload, { reason, changed }),
    }),
    ...(ask !== undefined && {
      ask: (reason: string, payload: Payload) => buildReply(ask, payload, { reason }),
    }),
  };
}

function buildCheck({ kind, tool = '', content }: FoundCheck): HookCheck {
  if (kind === 'call') return { kind, tool, input: content };
  if (kind === 'result') return { kind, tool, output: content };
  if (typeof content === 'string') return { kind: 'prompt', text: content };
  throw new UnreadablePayload('its prompt is no text');
}

function buildReply(
  { stdout = '', stderr = '', code = 0 }: DialectReply,
  payload: Payload,
  values: { readonly reason?: string; readonly changed?: Json },
): HookReply {
  return {
    stdout: formatOutput(buildAnswer(stdout, payload, values)),
    stderr: formatOutput(buildAnswer(stderr, payload, values)),
    code,
  };
}

/** Formats texts as they are, other values as JSON, and an empty text as nothing. */
function formatOutput(value: Json): string {
  if (value === '') return '';
  return `${typeof value === 'string' ? value : JSON.stringify(value)}\n`;
}

/** Returns the value of a result. @throws UnreadablePayload */
function unwrapResult<Value>(read: PayloadResult<Value>): Value {
  if (read.ok) return read.value;
  throw new UnreadablePayload(`it ${read.why}`);
}
