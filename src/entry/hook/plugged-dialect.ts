import type {
  Dialect,
  HookCheck,
  HookEvent,
  HookReply,
  Payload,
} from '../../coding-agents/record/dialect.ts';
import { replyWithExitCode, Unreadable } from '../../coding-agents/record/payload.ts';
import type { Json } from '../../core/types/index.ts';
import {
  buildAnswer,
  type PayloadResult,
  readEventName,
  readPayloadChecks,
  readPayloadSubject,
} from '../../runtime/adapters/read.ts';
import type { DialectReply, DialectSpec, EventSpec, FoundCheck } from '../../runtime/adapters/types.ts';

/**
 * Builds the dialect that a plug-in describes. It reads payloads by paths and writes replies from templates; it runs no
 * code of the plug-in.
 */
export function dialectFrom(written: DialectSpec): Dialect {
  const { name, agent_id = name, events, ignored_events = [], pass = {} } = written;
  return {
    name,
    agent_id,
    // The dialect is chosen only by `--dialect`, never by the shape of a payload.
    recognises: () => false,
    readEvent: (payload, given) => must(readEventName(written, payload, given)),
    readSubject: (payload) => ({ ...must(readPayloadSubject(written, payload)), approval_request_id: null }),
    events: Object.fromEntries(Object.entries(events).map(([key, event]) => [key, eventFrom(event)])),
    ignored_events,
    pass: replyOf(pass, {}, {}),
    refuse: replyWithExitCode,
  };
}

function eventFrom({ deny, change, ask, ...event }: EventSpec<DialectReply>): HookEvent {
  return {
    checks: (payload) => must(readPayloadChecks(event, payload)).map(checkOf),
    deny: (reason, payload) => replyOf(deny, payload, { reason }),
    ...(change !== undefined && {
      change: (changed: Json, reason: string, payload: Payload) =>
        replyOf(change, payload, { reason, changed }),
    }),
    ...(ask !== undefined && {
      ask: (reason: string, payload: Payload) => replyOf(ask, payload, { reason }),
    }),
  };
}

function checkOf({ kind, tool = '', content }: FoundCheck): HookCheck {
  if (kind === 'call') return { kind, tool, input: content };
  if (kind === 'result') return { kind, tool, output: content };
  if (typeof content === 'string') return { kind: 'prompt', text: content };
  throw new Unreadable('its prompt is no text');
}

function replyOf(
  { stdout = '', stderr = '', code = 0 }: DialectReply,
  payload: Payload,
  told: { readonly reason?: string; readonly changed?: Json },
): HookReply {
  return {
    stdout: lineOf(buildAnswer(stdout, payload, told)),
    stderr: lineOf(buildAnswer(stderr, payload, told)),
    code,
  };
}

/** Formats texts as they are, other values as JSON, and an empty text as nothing. */
function lineOf(value: Json): string {
  if (value === '') return '';
  return `${typeof value === 'string' ? value : JSON.stringify(value)}\n`;
}

/** Returns the value of a result. @throws Unreadable */
function must<Value>(read: PayloadResult<Value>): Value {
  if (read.ok) return read.value;
  throw new Unreadable(`it ${read.why}`);
}
