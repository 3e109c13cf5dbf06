import { decodeDataUrl, decodeMediaText, type MediaText } from './media.ts';

/** A text in a server's answer, with a setter. */
export interface ContentPart {
  readonly text: string;
  /** Replaces the text. Returns `false` if it cannot be replaced. */
  readonly put: (text: string) => boolean;
  /** True for the text of a block. Clients may show such blocks joined without a separator. */
  readonly is_block: boolean;
}

/**
 * Lists every text in a protocol value, keys included. Omits the protocol's own enum values, short numbers, and
 * declared media that are not text.
 */
export function listContentParts(value: unknown): ContentPart[] {
  const parts: ContentPart[] = [];
  const ahead: unknown[] = [value];
  for (let holder = ahead.pop(); holder !== undefined; holder = ahead.pop()) {
    if (typeof holder !== 'object' || holder === null) continue;
    const inner = holder as Record<string, unknown>;
    const containers: unknown[] = [];
    for (const key of Object.keys(inner)) {
      const isNamed = !Array.isArray(holder);
      if (isNamed && !KEYS.has(key)) parts.push({ text: key, put: () => false, is_block: false });
      addPart(parts, inner, key, isNamed);
      containers.push(inner[key]);
    }
    for (const each of containers.reverse()) ahead.push(each);
  }
  return parts;
}

function addPart(parts: ContentPart[], holder: Record<string, unknown>, key: string, isNamed: boolean): void {
  const value = holder[key];
  if (typeof value === 'number' && Math.abs(value) >= LONG_NUMBER)
    parts.push({ text: String(value), put: createSetter(holder, key), is_block: false });
  if (typeof value !== 'string' || (isNamed && isProtocolWord(key, value))) return;
  const media = readMediaText(holder, key, value);
  if (media === null) return;
  const put = createSetter(holder, key);
  parts.push({
    text: media.text,
    put: (text) => {
      const written = media.encode(text);
      return written !== null && put(written);
    },
    is_block: key === 'text',
  });
}

function createSetter(holder: Record<string, unknown>, key: string): (text: string) => boolean {
  return (text) => {
    Object.defineProperty(holder, key, { value: text, enumerable: true, writable: true, configurable: true });
    return true;
  };
}

/** The minimum integer that can be a card or account number. */
const LONG_NUMBER = 10_000_000;

function readMediaText(holder: Record<string, unknown>, key: string, value: string): MediaText | null {
  if (key === 'blob' || (key === 'data' && (holder.type === 'image' || holder.type === 'audio')))
    return decodeMediaText(value, holder.mimeType);
  return decodeDataUrl(value);
}

/** The member names that the protocol defines in content, lists and forms. Any other name is text of the server. */
const KEYS = new Set(
  `additionalProperties annotations anyOf arguments audience blob const content contents cost data default description enum enumNames
  format icons inputRequests intelligencePriority isError items lastModified maxItems maxLength maximum message messages
  method mimeType minItems minLength minimum mode name oneOf params priority prompts properties requestState requestedSchema required
  resource resourceTemplates resources resultType role size sizes src structuredContent text theme title type uri uriTemplate
  url`.split(/\s+/),
);

/** The values that the protocol defines for these members. Any other value is text of the server. */
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
