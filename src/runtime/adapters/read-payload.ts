import { parseJsonContent } from '../../core/json/source.ts';
import { getContentValue, SOURCE_LIMITS } from '../../core/json/value-source.ts';
import type { Json } from '../../core/types/index.ts';
import { isName } from '../access/names.ts';
import { buildPlaceLookup, fillTemplate } from './template.ts';
import {
  type AdapterProtocol,
  type AdapterTemplate,
  type CheckSpec,
  type EventSpec,
  type FoundCheck,
  SUBJECT_KEYS,
  type SubjectKey,
} from './types.ts';

/** A payload as received: one JSON object. */
type Payload = Readonly<Record<string, unknown>>;

/**
 * The value that was read, or the predicate of a sentence with the reason why it could not be. It never repeats
 * content of the payload.
 */
export type PayloadResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly why: string };

/** The limit of checks in one payload. */
const CHECKS_MAX = 100;

/** Returns the event name of a payload. `request` is the name that the caller gives, and takes precedence. */
export function readEventName(
  { event, events }: Pick<AdapterProtocol<unknown>, 'event' | 'events'>,
  payload: Payload,
  request: string | null,
): PayloadResult<string> {
  if (request !== null) return { ok: true, value: request };
  const names = Object.keys(events);
  if (event === undefined)
    return names.length === 1
      ? { ok: true, value: names[0]! }
      : buildFailedResult('does not say what event it is of');
  return getName(event, payload as Json, 'event');
}

/** Returns the subject of a payload, or `null` if it names none. A present but invalid name is an error. */
export function readPayloadSubject(
  { subject = {} }: Pick<AdapterProtocol<unknown>, 'subject'>,
  payload: Payload,
): PayloadResult<Readonly<Record<SubjectKey, string | null>>> {
  const found: Record<SubjectKey, string | null> = {
    agent_id: null,
    session_id: null,
    tenant_id: null,
    tool_use_id: null,
  };
  for (const key of SUBJECT_KEYS) {
    const template = subject[key];
    if (template === undefined) continue;
    const { value, missing } = fillTemplate(template, buildPlaceLookup(payload as Json));
    if (missing.length > 0 || value === null || value === '') continue;
    if (!isName(value)) return buildFailedResult(`has no name as \`${key}\``);
    found[key] = value;
  }
  return { ok: true, value: found };
}

/** Returns all checks of a payload, at least one. */
export function readPayloadChecks(
  { checks }: Pick<EventSpec<unknown>, 'checks'>,
  payload: Payload,
): PayloadResult<readonly FoundCheck[]> {
  const found: FoundCheck[] = [];
  for (const check of checks) {
    const items = getItems(check, payload as Json);
    if (!items.ok) return items;
    if (found.length + items.value.length > CHECKS_MAX)
      return buildFailedResult(`holds more than ${CHECKS_MAX} things to judge`);
    for (const item of items.value) {
      const one = readCheck(check, item);
      if (!one.ok) return one;
      if (one.value !== null) found.push(one.value);
    }
  }
  return found.length === 0
    ? buildFailedResult('holds nothing that could be judged')
    : { ok: true, value: found };
}

function getItems({ each, optional = false }: CheckSpec, payload: Json): PayloadResult<readonly Json[]> {
  if (each === undefined) return { ok: true, value: [payload] };
  const list = buildPlaceLookup(payload)(each);
  if (optional && (list === undefined || list === null)) return { ok: true, value: [] };
  return Array.isArray(list) ? { ok: true, value: list } : buildFailedResult(`has no list at \`${each}\``);
}

function readCheck(
  { kind, tool, content, json = false, optional = false }: CheckSpec,
  item: Json,
): PayloadResult<FoundCheck | null> {
  const filled = fillTemplate(content, buildPlaceLookup(item));
  if (optional && (filled.missing.length > 0 || filled.value === null)) return { ok: true, value: null };
  if (filled.missing.length > 0) return buildLackingResult(filled.missing);
  const value = json ? parseContent(filled.value) : filled.value;
  if (tool === undefined) return { ok: true, value: { kind, content: value } };
  const name = getName(tool, item, 'tool');
  return name.ok ? { ok: true, value: { kind, tool: name.value, content: value } } : name;
}

/** Text that is not valid JSON, or whose objects have duplicate members, stays text. */
function parseContent(value: Json): Json {
  return typeof value === 'string' ? getContentValue(parseJsonContent(value, SOURCE_LIMITS)) : value;
}

function getName(template: string, root: Json, what: string): PayloadResult<string> {
  const { value, missing } = fillTemplate(template, buildPlaceLookup(root));
  if (missing.length > 0) return buildLackingResult(missing);
  return isName(value) ? { ok: true, value } : buildFailedResult(`has no name as its ${what}`);
}

function buildLackingResult([place = '']: readonly string[]): { readonly ok: false; readonly why: string } {
  return buildFailedResult(`lacks \`${place}\``);
}

function buildFailedResult(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why };
}

/** Fills in a reply. Missing places become `null`, because a reply must not fail. */
export function buildAnswer(
  template: AdapterTemplate,
  payload: Payload,
  reported: { readonly reason?: string; readonly changed?: Json },
): Json {
  const look = buildPlaceLookup(payload as Json);
  const places: Readonly<Record<string, Json | undefined>> = { ...reported };
  return fillTemplate(template, (place) => places[place] ?? look(place)).value;
}
