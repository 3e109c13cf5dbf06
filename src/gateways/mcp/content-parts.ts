import { decodeDataUrl, decodeMediaText, type MediaText } from './media.ts';

/** A piece of text in what a server answered, and a way to replace it. */
export interface ContentPart {
  readonly text: string;
  /** Puts what is left of the text in its place. Gives `false` where it cannot stand there. */
  readonly put: (text: string) => boolean;
  /** The text of a block: clients may show such blocks one behind the other with nothing in between. */
  readonly is_block: boolean;
}

/**
 * Lists every text in a value of the protocol, keys included, each with a way to replace it. Left out are the words of
 * the protocol itself, short numbers, and media that say what they are and are no text.
 */
export function listContentParts(value: unknown): ContentPart[] {
  const parts: ContentPart[] = [];
  const ahead: unknown[] = [value];
  for (let holder = ahead.pop(); holder !== undefined; holder = ahead.pop()) {
    if (typeof holder !== 'object' || holder === null) continue;
    const inner = holder as Record<string, unknown>;
    const containers: unknown[] = [];
    for (const key of Object.keys(inner)) {
      const is_named = !Array.isArray(holder);
      if (is_named && !KEYS.has(key)) parts.push({ text: key, put: () => false, is_block: false });
      addPart(parts, inner, key, is_named);
      containers.push(inner[key]);
    }
    for (const each of containers.reverse()) ahead.push(each);
  }
  return parts;
}

function addPart(
  parts: ContentPart[],
  holder: Record<string, unknown>,
  key: string,
  is_named: boolean,
): void {
  const value = holder[key];
  if (typeof value === 'number' && Math.abs(value) >= LONG_NUMBER)
    parts.push({ text: String(value), put: putter(holder, key), is_block: false });
  if (typeof value !== 'string' || (is_named && isProtocolWord(key, value))) return;
  const media = readMediaText(holder, key, value);
  if (media === null) return;
  const put = putter(holder, key);
  parts.push({
    text: media.text,
    put: (text) => {
      const written = media.encode(text);
      return written !== null && put(written);
    },
    is_block: key === 'text',
  });
}

function putter(holder: Record<string, unknown>, key: string): (text: string) => boolean {
  return (text) => {
    Object.defineProperty(holder, key, { value: text, enumerable: true, writable: true, configurable: true });
    return true;
  };
}

/** A whole number that is shorter cannot be a card or an account. */
const LONG_NUMBER = 10_000_000;

function readMediaText(holder: Record<string, unknown>, key: string, value: string): MediaText | null {
  if (key === 'blob' || (key === 'data' && (holder.type === 'image' || holder.type === 'audio')))
    return decodeMediaText(value, holder.mimeType);
  return decodeDataUrl(value);
}

/** Names of members that the protocol has in content, in lists and in forms. Any other name is the server's own text. */
const KEYS = new Set(
  `additionalProperties annotations anyOf arguments audience blob const content contents cost data default description enum enumNames
  format icons inputRequests intelligencePriority isError items lastModified maxItems maxLength maximum message messages
  method mimeType minItems minLength minimum mode name oneOf params priority prompts properties requestState requestedSchema required
  resource resourceTemplates resources resultType role size sizes src structuredContent text theme title type uri uriTemplate
  url`.split(/\s+/),
);

/** What the protocol itself says in these members. Anything else in them was made up by the server. */
const WORDS: ReadonlyMap<string, RegExp> = new Map([
  ['type', /^(?:text|image|audio|resource|resource_link|object|string|number|integer|boolean|array)$/],
  ['role', /^(?:user|assistant)$/],
  ['method', /^elicitation\/create$/],
  ['mode', /^(?:form|url)$/],
  ['theme', /^(?:light|dark)$/],
  ['format', /^(?:email|uri|date|date-time)$/],
  ['lastModified', /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/],
  [
    'mimeType',
    /^(?:text\/(?:plain|html|css|csv|markdown|xml|javascript|x-python)|application\/(?:json|pdf|xml|zip|gzip|octet-stream|javascript|yaml)|image\/(?:png|jpeg|gif|webp|svg\+xml)|audio\/(?:wav|mpeg|ogg|mp4)|video\/(?:mp4|webm))(?:; ?charset=utf-8)?$/,
  ],
]);

function isProtocolWord(key: string, value: string): boolean {
  return WORDS.get(key)?.test(value) ?? false;
}
