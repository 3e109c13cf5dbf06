import { parseJsonContent } from '../../core/json/source.ts';
import { getContentValue, SOURCE_LIMITS, writeExactJson } from '../../core/json/value-source.ts';
import type { Json } from '../../core/types/index.ts';
import type { HookEvent, HookReply, HookSubject, Payload } from './dialect.ts';

/** A payload that does not fit its event. The message repeats none of it. */
export class UnreadablePayload extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadablePayload';
  }
}

const TOOL_UNITS_MAX = 256;
const NAME_UNITS_MAX = 256;

/** Returns a required text. @throws UnreadablePayload */
export function readRequiredText(payload: Payload, key: string): string {
  const value = payload[key];
  if (typeof value !== 'string') throw new UnreadablePayload(`\`${key}\` is missing or is no text`);
  return value;
}

/** Returns a required JSON value. @throws UnreadablePayload */
export function readRequiredValue(payload: Payload, key: string): Json {
  const value = payload[key];
  if (value === undefined) throw new UnreadablePayload(`\`${key}\` is missing`);
  return value as Json;
}

/** Returns the name of a tool. @throws UnreadablePayload */
export function readToolName(payload: Payload, key: string): string {
  const name = readRequiredText(payload, key);
  if (name.trim() === '' || name.length > TOOL_UNITS_MAX || /[\p{Cc}\p{Cs}]/u.test(name))
    throw new UnreadablePayload(`\`${key}\` is not a valid tool name`);
  return name;
}

/** Returns an optional name. @throws UnreadablePayload if there is one that cannot be used */
export function readOptionalName(payload: Payload, key: string): string | null {
  const value = payload[key];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > NAME_UNITS_MAX || /[\p{Cc}\p{Cs}]/u.test(value))
    throw new UnreadablePayload(`\`${key}\` is no name`);
  return value;
}

/** Parses a text that may hold JSON; returns any other text itself, also if an object in it repeats a member. */
export function parseIfJson(value: Json): Json {
  return typeof value === 'string' ? getContentValue(parseJsonContent(value, SOURCE_LIMITS)) : value;
}

/** Returns the IDs of an event. The parameters name their members. @throws UnreadablePayload */
export function readSubject(payload: Payload, session: string, toolUse: string | null): HookSubject {
  return {
    agent_id: null,
    session_id: readOptionalName(payload, session),
    tenant_id: null,
    tool_use_id: toolUse === null ? null : readOptionalName(payload, toolUse),
    approval_request_id: null,
  };
}

/** Returns a reply with JSON on standard output, which all agents accept. */
export function replyWithJson(value: object): HookReply {
  return { stdout: `${writeExactJson(value)}\n`, stderr: '', code: 0 };
}

/** The empty reply with exit code 0. */
export const EMPTY_REPLY: HookReply = { stdout: '', stderr: '', code: 0 };

/** Returns a reply with exit code 2 and the reason on standard error, which every agent treats as a denial. */
export function replyWithExitCode(reason: string): HookReply {
  return { stdout: '', stderr: `${reason}\n`, code: 2 };
}

/** Returns a member of a JSON object; `undefined` if there is none. */
export function getJsonMember(value: Json, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return (value as Readonly<Record<string, Json>>)[key];
}

/** Returns the result of a tool as text, for agents that accept nothing else. */
export function formatResult(value: Json): string {
  return typeof value === 'string' ? value : writeExactJson(value);
}

/**
 * Returns a result of the same shape with a notice for the first text and without all other content. Agents accept only
 * a result that has the shape of the tool's own.
 */
export function replaceWithNotice(value: Json, notice: string): Json {
  let isWritten = false;
  const replace = (inner: Json, depth: number): Json => {
    if (typeof inner === 'string') {
      if (isWritten) return '';
      isWritten = true;
      return notice;
    }
    if (depth >= DEPTH_MAX || inner === null || typeof inner === 'boolean')
      return inner === null ? null : inner;
    if (typeof inner === 'number') return 0;
    if (Array.isArray(inner)) return inner.slice(0, 1).map((each) => replace(each, depth + 1));
    const replaceMember = ([key, each]: readonly [string, Json]) =>
      [key, key === 'type' && KIND.test(String(each)) ? each : replace(each, depth + 1)] as const;
    return Object.fromEntries(Object.entries(inner).map(replaceMember));
  };
  const shape = replace(value, 0);
  return isWritten ? shape : notice;
}

const DEPTH_MAX = 32;
/** The kinds of content blocks, which hold no content themselves. */
const KIND = /^[a-z_]{1,24}$/;

/** Builds the event with which a coding agent opens a session. It has nothing to evaluate. */
export function buildOpeningEvent(): HookEvent {
  return { opens_session: true, checks: () => [], deny: replyWithExitCode };
}
