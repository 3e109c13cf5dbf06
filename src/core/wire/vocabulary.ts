import { getMembers, getUniqueText } from '../json/nodes.ts';
import type { JsonMember, JsonNode, StringNode } from '../types/json.ts';
import { isCallKey } from './unlisted-calls.ts';

/**
 * The meaning of a key's value in a provider's protocol:
 * - `said`: strings in it are texts, and objects in it belong to the protocol.
 * - `word`: strings are names, ids and enum values, as long as they look like one.
 * - `map`: keys in it are texts, and values are as in `said`.
 * - `free`: the author of the call defines all of it; keys and strings are texts.
 * - `sealed`: strings mean something to the provider only, as long as they look like it.
 * - `media`: strings are images, sound or files if they declare it; otherwise texts.
 *
 * A key that is not in the vocabulary is a text and its value is `free`, so members that a provider adds later are
 * judged.
 */
export type MemberMeaning = 'said' | 'word' | 'map' | 'free' | 'sealed' | 'media';

/** The keys of a protocol. */
export type WireVocabulary = ReadonlyMap<string, MemberMeaning>;

/** Builds a vocabulary from lists of keys separated by spaces. Throws if a key has two meanings. */
export function buildVocabulary(lists: Readonly<Partial<Record<MemberMeaning, string>>>): WireVocabulary {
  const vocabulary = new Map<string, MemberMeaning>();
  for (const [meaning, keys] of Object.entries(lists) as [MemberMeaning, string][]) {
    for (const key of keys.trim().split(/\s+/)) {
      if ((vocabulary.get(key) ?? meaning) !== meaning) throw new Error(`\`${key}\` means two things.`);
      vocabulary.set(key, meaning);
    }
  }
  return vocabulary;
}

/** Keys of JSON Schema. Its examples and enum values are defined by the author of the schema. */
export const SCHEMA_KEYS = {
  word: 'type format $schema $ref $id $anchor contentEncoding contentMediaType propertyOrdering',
  said: `items prefixItems required additionalProperties unevaluatedProperties additionalItems propertyNames contains
    anyOf oneOf allOf not if then else title description $comment pattern minimum maximum exclusiveMinimum exclusiveMaximum
    multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties minContains maxContains
    nullable deprecated readOnly writeOnly strict`,
  map: 'properties patternProperties $defs definitions dependentSchemas dependentRequired',
  free: 'default const enum example examples',
} as const;

/** The origin of a text: a member that the protocol defines, a member that it does not, or the name of such a member. */
export type TextOrigin = 'defined' | 'undefined' | 'name';

/**
 * Receives each text. `path` leads to it from the start of the walk; it is `''` unless the caller requested paths.
 */
export type TextVisitor = (node: StringNode, path: string, origin: TextOrigin) => void;

/**
 * Receives each object with the key that holds it. Returns its arguments if it is a call, which are no texts then, or `null`.
 */
export type CallVisitor = (node: JsonNode, key: string) => JsonNode | null;

interface Visit {
  readonly node: JsonNode;
  /** The key that holds the node, also in a list; `null` where no client looks for calls. */
  readonly call_key: string | null;
  readonly meaning: MemberMeaning;
  /** The object that the node is a member of. It states the type of data. */
  readonly holder: JsonNode | null;
  /** `true` for a key, which is always a text. */
  readonly is_key: boolean;
  readonly path: string | null;
}

/** The other visitors of a walk, and the place where it starts. */
export interface VisitOptions {
  readonly path?: string | null;
  readonly takeWord?: TextVisitor;
  readonly takeCall?: CallVisitor;
}

/**
 * Passes every text in a value to `take`, in the order of the body. Returns the number of UTF-16 units that are
 * forwarded without a scan. Each string is a text, a word that looks like one (passed to `takeWord`), sealed, or
 * media.
 */
export function visitTexts(
  node: JsonNode,
  meaning: MemberMeaning,
  vocabulary: WireVocabulary,
  take: TextVisitor,
  { path = null, takeWord, takeCall }: VisitOptions = {},
  callKey: string | null = '',
): number {
  let opaqueUnits = 0;
  const ahead: Visit[] = [{ node, call_key: callKey, meaning, holder: null, is_key: false, path }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { node: at } = next;
    if (at.kind === 'string') {
      const origin = getOrigin(next);
      if (next.is_key || isText(at.value, next)) take(at, next.path ?? '', origin);
      else if (next.meaning === 'word') takeWord?.(at, next.path ?? '', origin);
      else opaqueUnits += at.value.length;
    } else if (at.kind === 'array') pushItems(ahead, next, at.items);
    else if (at.kind === 'object') {
      const call = next.call_key === null ? null : (takeCall?.(at, next.call_key) ?? null);
      const members = call === null ? at.members : at.members.filter(({ value }) => value !== call);
      pushMembers(ahead, next, members, vocabulary);
    }
  }
  return opaqueUnits;
}

/** Visits the texts of a member as `visitTexts` does, with its key. */
export function visitMemberTexts(
  member: JsonMember,
  holder: JsonNode,
  vocabulary: WireVocabulary,
  take: TextVisitor,
  options: VisitOptions = {},
): number {
  const { path = null, takeWord } = options;
  const meaning = vocabulary.get(member.key.value);
  if (meaning === undefined) take(member.key, path ?? '', 'name');
  if (member.value.kind !== 'string')
    return visitTexts(
      member.value,
      meaning ?? 'free',
      vocabulary,
      take,
      options,
      getCallKey(member.key.value, meaning, ''),
    );
  const visit: Visit = {
    node: member.value,
    call_key: null,
    meaning: meaning ?? 'free',
    holder,
    is_key: false,
    path,
  };
  if (isText(member.value.value, visit)) take(member.value, path ?? '', getOrigin(visit));
  else if (meaning === 'word') takeWord?.(member.value, path ?? '', 'defined');
  else return member.value.value.length;
  return 0;
}

/**
 * Returns the key under which an object of a member may be a call. Clients look for calls in members of the protocol,
 * and in others that are named after calls. Definitions of tools are not calls.
 */
function getCallKey(key: string, meaning: MemberMeaning | undefined, around: string | null): string | null {
  if (around === null || meaning === 'free' || key === 'tools') return null;
  return meaning !== undefined || isCallKey(key) ? key : null;
}

function getOrigin({ is_key, meaning }: Visit): TextOrigin {
  if (is_key) return 'name';
  return meaning === 'free' ? 'undefined' : 'defined';
}

/** Pushes the items in reverse, because the last one pushed is visited first. */
function pushItems(
  ahead: Visit[],
  { meaning, holder, path, call_key }: Visit,
  items: readonly JsonNode[],
): void {
  for (let index = items.length - 1; index >= 0; index--) {
    const node = items[index]!;
    if (node.kind !== 'string' && node.kind !== 'array' && node.kind !== 'object') continue;
    const at = path === null ? null : `${path}.${index}`;
    ahead.push({ node, call_key, meaning, holder, is_key: false, path: at });
  }
}

function pushMembers(
  ahead: Visit[],
  { meaning, node: holder, path, call_key: around }: Visit,
  members: readonly JsonMember[],
  vocabulary: WireVocabulary,
): void {
  for (let index = members.length - 1; index >= 0; index--) {
    const { key, value: node } = members[index]!;
    const known = meaning === 'free' ? undefined : meaning === 'map' ? 'said' : vocabulary.get(key.value);
    const inner = path === null ? null : `${path}.${key.value}`;
    const callKey = getCallKey(key.value, known, around);
    ahead.push({ node, call_key: callKey, meaning: known ?? 'free', holder, is_key: false, path: inner });
    if (known !== undefined && meaning !== 'map') continue;
    ahead.push({
      node: key,
      call_key: null,
      meaning: 'free',
      holder,
      is_key: true,
      path: path === null ? null : `${inner}.key`,
    });
  }
}

function isText(text: string, { meaning, holder }: Visit): boolean {
  if (meaning === 'word') return !looksLikeIdentifier(text);
  if (meaning === 'sealed') return !isBase64(text);
  return meaning !== 'media' || !isMedia(text, holder);
}

/** Longer than any id of a provider; a longer string could carry a message. */
const WORD_UNITS_MAX = 256;
const WORD = /^[\w.:/+=~#$-]*$/;

/** Returns whether a text looks like a name or an id: no spaces, no e-mail address, no sentence. */
export function looksLikeIdentifier(text: string): boolean {
  return text.length <= WORD_UNITS_MAX && WORD.test(text);
}

const NOT_BASE64 = /[^A-Za-z0-9+/_=-]/g;

/** Returns whether a text is base64 from the offset on, in any alphabet, so that it is not readable text. */
export function isBase64(text: string, from = 0): boolean {
  NOT_BASE64.lastIndex = from;
  return !NOT_BASE64.test(text);
}

/** Types whose bytes are not text. SVG is text; other types may be, and are judged. */
const BINARY =
  /^(?:image\/(?!svg)|audio\/|video\/|application\/(?:pdf|zip|msword|vnd\.ms-|vnd\.openxmlformats-))/i;
const DATA_URL = /^data:([^,;]{1,100})(?:;[^,;]{0,100}){0,4};base64,/i;

/** Returns whether a text is binary data, according to itself or to its object. */
function isMedia(text: string, holder: JsonNode | null): boolean {
  const url = DATA_URL.exec(text);
  if (url !== null) return BINARY.test(url[1]!) && isBase64(text, url[0].length);
  if (!isBase64(text)) return false;
  // Providers read more than one spelling of the key, so no spelling may contradict another.
  const stated = getMembers(holder).filter(({ key }) => TYPE_KEY.test(key.value));
  if (stated.length > 0)
    return stated.every(({ value }) => value.kind === 'string' && BINARY.test(value.value));
  // OpenAI states only the format of sound.
  return AUDIO.test(getUniqueText(holder, 'format') ?? '');
}

const TYPE_KEY = /^(?:media_?type|mime_?type)$/i;
const AUDIO = /^(?:wav|mp3|aac|flac|opus|pcm16)$/;
