import { parseJsonContent } from '../../core/json/source.ts';
import { getContentValue, SOURCE_LIMITS, writeExactJson } from '../../core/json/value-source.ts';
import type { Json } from '../../core/types/index.ts';
import type { HookReply, HookSubject, Payload } from './dialect.ts';

/** A payload that is not what its event should be. The message repeats nothing of it. */
export class Unreadable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unreadable';
  }
}

const TOOL_UNITS_MAX = 256;
const NAME_UNITS_MAX = 256;

/** A text that must be there. @throws Unreadable */
export function textAt(payload: Payload, key: string): string {
  const value = payload[key];
  if (typeof value !== 'string') throw new Unreadable(`\`${key}\` is missing or is no text`);
  return value;
}

/** A JSON value that must be there. @throws Unreadable */
export function valueAt(payload: Payload, key: string): Json {
  const value = payload[key];
  if (value === undefined) throw new Unreadable(`\`${key}\` is missing`);
  return value as Json;
}

/** The name of a tool. @throws Unreadable */
export function toolAt(payload: Payload, key: string): string {
  const name = textAt(payload, key);
  if (name.trim() === '' || name.length > TOOL_UNITS_MAX || /[\p{Cc}\p{Cs}]/u.test(name))
    throw new Unreadable(`\`${key}\` is not a valid tool name`);
  return name;
}

/** A name that need not be there. One that is there and cannot be used is not passed over. @throws Unreadable */
export function nameAt(payload: Payload, key: string): string | null {
  const value = payload[key];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > NAME_UNITS_MAX || /[\p{Cc}\p{Cs}]/u.test(value))
    throw new Unreadable(`\`${key}\` is no name`);
  return value;
}

/** The value of a text that holds JSON, or the text itself; also where an object in it has two members of one name. */
export function parsedText(value: Json): Json {
  return typeof value === 'string' ? getContentValue(parseJsonContent(value, SOURCE_LIMITS)) : value;
}

/** Whom an event is about, where the host has these names for it. @throws Unreadable */
export function subjectAt(payload: Payload, session: string, tool_use: string | null): HookSubject {
  return {
    agent_id: null,
    session_id: nameAt(payload, session),
    tenant_id: null,
    tool_use_id: tool_use === null ? null : nameAt(payload, tool_use),
    approval_request_id: null,
  };
}

/** JSON on standard output, which is how all hosts read a decision. */
export function jsonReply(value: object): HookReply {
  return { stdout: `${writeExactJson(value)}\n`, stderr: '', code: 0 };
}

/** Nothing at all, and exit code 0. */
export const SILENCE: HookReply = { stdout: '', stderr: '', code: 0 };

/** Exit code 2 with a reason on standard error, which blocks in every host that has no word for the event. */
export function exitReply(reason: string): HookReply {
  return { stdout: '', stderr: `${reason}\n`, code: 2 };
}

/** A member of a JSON object; `undefined` where there is none. */
export function memberOf(value: Json, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return (value as Readonly<Record<string, Json>>)[key];
}

/** A text of what a tool gave back, for hosts that take nothing else. */
export function textOfResult(value: Json): string {
  return typeof value === 'string' ? value : writeExactJson(value);
}

/**
 * A result of the same shape in which a notice takes the place of the first text, and nothing is left of the others:
 * hosts take only what looks like the tool's own.
 */
export function withNotice(value: Json, notice: string): Json {
  let is_told = false;
  const replaced = (inner: Json, depth: number): Json => {
    if (typeof inner === 'string') {
      if (is_told) return '';
      is_told = true;
      return notice;
    }
    if (depth >= DEPTH_MAX || inner === null || typeof inner === 'boolean')
      return inner === null ? null : inner;
    if (typeof inner === 'number') return 0;
    if (Array.isArray(inner)) return inner.slice(0, 1).map((each) => replaced(each, depth + 1));
    const kept = ([key, each]: readonly [string, Json]) =>
      [key, key === 'type' && KIND.test(String(each)) ? each : replaced(each, depth + 1)] as const;
    return Object.fromEntries(Object.entries(inner).map(kept));
  };
  const shape = replaced(value, 0);
  return is_told ? shape : notice;
}

const DEPTH_MAX = 32;
/** What kind of content a block of it is, which says nothing by itself. */
const KIND = /^[a-z_]{1,24}$/;
