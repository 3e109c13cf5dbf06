import { getUniqueText } from '../json/nodes.ts';
import type { JsonMember, JsonNode, StringNode } from '../types/json.ts';

/**
 * What the value of a key is in a provider's protocol.
 * - `said`: strings in it are texts, objects in it are the protocol's own.
 * - `word`: strings are names, ids and choices, as long as they look like one.
 * - `map`: keys in it are texts, values are as in `said`.
 * - `free`: whoever wrote the call made all of it up; keys and strings are texts.
 * - `sealed`: strings mean something to the provider alone, as long as they look like it.
 * - `media`: strings are pictures, sound or files where they say so; else texts.
 * A key that is not in the vocabulary is a text, and its value is `free`: what a provider adds tomorrow is judged.
 */
export type MemberMeaning = 'said' | 'word' | 'map' | 'free' | 'sealed' | 'media';

/** The keys of a protocol. */
export type WireVocabulary = ReadonlyMap<string, MemberMeaning>;

/** A vocabulary from lists of keys, written with spaces between them. A key that means two things is a fault. */
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

/** Keys of JSON Schema. What stands in its examples and choices was made up by whoever wrote it. */
export const SCHEMA_KEYS = {
  word: 'type format $schema $ref $id $anchor contentEncoding contentMediaType propertyOrdering',
  said: `items prefixItems required additionalProperties unevaluatedProperties additionalItems propertyNames contains
    anyOf oneOf allOf not if then else title description $comment pattern minimum maximum exclusiveMinimum exclusiveMaximum
    multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties minContains maxContains
    nullable deprecated readOnly writeOnly strict`,
  map: 'properties patternProperties $defs definitions dependentSchemas dependentRequired',
  free: 'default const enum example examples',
} as const;

/** Takes every text; `path` leads there from where the walk began, and is `''` unless the walk was asked for it. */
export type TextVisitor = (node: StringNode, path: string) => void;

interface Visit {
  readonly node: JsonNode;
  readonly meaning: MemberMeaning;
  /** The object that the node is a member of; it tells what data is. */
  readonly holder: JsonNode | null;
  /** A text whatever it looks like: a key. */
  readonly is_key: boolean;
  readonly path: string | null;
}

/**
 * Gives every text in a value to `take`, in the order of the body, and returns how many UTF-16 units are handed on
 * without a look. Each string is a text, or a word that looks like one (for `takeWord`), or sealed, or media.
 */
export function visitTexts(
  node: JsonNode,
  meaning: MemberMeaning,
  vocabulary: WireVocabulary,
  take: TextVisitor,
  path: string | null = null,
  takeWord: TextVisitor | null = null,
): number {
  let opaque_units = 0;
  const ahead: Visit[] = [{ node, meaning, holder: null, is_key: false, path }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { node: at } = next;
    if (at.kind === 'string') {
      if (next.is_key || isText(at.value, next)) take(at, next.path ?? '');
      else if (next.meaning === 'word') takeWord?.(at, next.path ?? '');
      else opaque_units += at.value.length;
    } else if (at.kind === 'array') pushItems(ahead, next, at.items);
    else if (at.kind === 'object') pushMembers(ahead, next, at.members, vocabulary);
  }
  return opaque_units;
}

/** As `readSaid`, for a member with its key. */
export function visitMemberTexts(
  member: JsonMember,
  holder: JsonNode,
  vocabulary: WireVocabulary,
  take: TextVisitor,
  path: string | null = null,
  takeWord: TextVisitor | null = null,
): number {
  const meaning = vocabulary.get(member.key.value);
  if (meaning === undefined) take(member.key, path ?? '');
  if (member.value.kind !== 'string')
    return visitTexts(member.value, meaning ?? 'free', vocabulary, take, path, takeWord);
  const visit: Visit = { node: member.value, meaning: meaning ?? 'free', holder, is_key: false, path };
  if (isText(member.value.value, visit)) take(member.value, path ?? '');
  else if (meaning === 'word') takeWord?.(member.value, path ?? '');
  else return member.value.value.length;
  return 0;
}

/** From behind, for the last that is pushed is looked at first. */
function pushItems(ahead: Visit[], { meaning, holder, path }: Visit, items: readonly JsonNode[]): void {
  for (let index = items.length - 1; index >= 0; index--) {
    const node = items[index]!;
    if (node.kind !== 'string' && node.kind !== 'array' && node.kind !== 'object') continue;
    ahead.push({ node, meaning, holder, is_key: false, path: path === null ? null : `${path}.${index}` });
  }
}

function pushMembers(
  ahead: Visit[],
  { meaning, node: holder, path }: Visit,
  members: readonly JsonMember[],
  vocabulary: WireVocabulary,
): void {
  for (let index = members.length - 1; index >= 0; index--) {
    const { key, value: node } = members[index]!;
    const known = meaning === 'free' ? undefined : meaning === 'map' ? 'said' : vocabulary.get(key.value);
    const inner = path === null ? null : `${path}.${key.value}`;
    ahead.push({ node, meaning: known ?? 'free', holder, is_key: false, path: inner });
    if (known !== undefined && meaning !== 'map') continue;
    ahead.push({
      node: key,
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

/** Longer than any id that a provider gives out; behind that is room for a message. */
const WORD_UNITS_MAX = 256;
const WORD = /^[\w.:/+=~#$-]*$/;

/** Whether a text looks like a name or an id: no spaces, no address of a person, no sentence. */
export function looksLikeIdentifier(text: string): boolean {
  return text.length <= WORD_UNITS_MAX && WORD.test(text);
}

const NOT_BASE64 = /[^A-Za-z0-9+/_=-]/g;

/** Whether a text is base64 from there on, in any alphabet: nothing that anybody reads. */
export function isBase64(text: string, from = 0): boolean {
  NOT_BASE64.lastIndex = from;
  return !NOT_BASE64.test(text);
}

/** Types whose bytes are no text. SVG is one; other types may be, and are judged. */
const BINARY =
  /^(?:image\/(?!svg)|audio\/|video\/|application\/(?:pdf|zip|msword|vnd\.ms-|vnd\.openxmlformats-))/i;
const DATA_URL = /^data:([^,;]{1,100})(?:;[^,;]{0,100}){0,4};base64,/i;

/** Whether a text is bytes that say of themselves, or of which their object says, that they are no text. */
function isMedia(text: string, holder: JsonNode | null): boolean {
  const url = DATA_URL.exec(text);
  if (url !== null) return BINARY.test(url[1]!) && isBase64(text, url[0].length);
  if (!isBase64(text)) return false;
  const type = ['media_type', 'mimeType', 'mime_type']
    .map((key) => getUniqueText(holder, key))
    .find((each) => each !== null);
  if (type !== undefined && type !== null) return BINARY.test(type);
  // OpenAI names the format of sound alone.
  return AUDIO.test(getUniqueText(holder, 'format') ?? '');
}

const AUDIO = /^(?:wav|mp3|aac|flac|opus|pcm16)$/;
