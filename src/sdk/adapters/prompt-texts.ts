/** Checks the texts of prompts: those of their parts, and files of text in them. */

type Change = (text: string) => Promise<string>;

/** Members of a part that name the type of a file, and those that hold its data. */
const MEDIA_TYPES = ['mediaType', 'mimeType', 'mime_type', 'media_type'];
const DATA: ReadonlySet<string> = new Set(['data', 'base64', 'bytes']);
const TEXTUAL =
  /^(?:text\/.*|application\/(?:json|xml|yaml|x-ndjson|javascript|[\w.-]+\+(?:json|xml)))\s*(?:;|$)/i;

/** Returns the content of a prompt with changed texts; the same content if none changes. */
export async function mapPromptTexts<Content>(content: Content, change: Change): Promise<Content> {
  if (typeof content === 'string') return (content === '' ? content : await change(content)) as Content;
  if (Array.isArray(content)) {
    const parts = await Promise.all(content.map((each: unknown) => mapPromptTexts(each, change)));
    return parts.every((part, at) => part === content[at]) ? content : (parts as Content);
  }
  return isPlain(content) ? ((await mapPart(content, '', change)) as Content) : content;
}

async function mapPart(
  part: Readonly<Record<string, unknown>>,
  outerType: string,
  change: Change,
): Promise<Readonly<Record<string, unknown>>> {
  const mediaType = String(
    part[MEDIA_TYPES.find((name) => typeof part[name] === 'string') ?? ''] ?? outerType,
  );
  const members = await Promise.all(
    Object.entries(part).map(async ([name, value]) => [
      name,
      await mapMember(name, value, mediaType, change),
    ]),
  );
  return members.every(([name, value]) => value === part[name as string])
    ? part
    : Object.fromEntries(members);
}

async function mapMember(name: string, value: unknown, mediaType: string, change: Change): Promise<unknown> {
  if (name === 'text' && typeof value === 'string') return value === '' ? value : change(value);
  if (typeof value === 'string' && value.startsWith('data:')) return mapUrl(value, change);
  if (DATA.has(name) && (typeof value === 'string' || value instanceof Uint8Array))
    return TEXTUAL.test(mediaType) ? mapData(value, change) : value;
  // A text in a list below a part is no prompt, but may be a name.
  if (Array.isArray(value)) {
    const list = await Promise.all(
      value.map((each: unknown) => (isPlain(each) ? mapPart(each, mediaType, change) : each)),
    );
    return list.every((each, at) => each === value[at]) ? value : list;
  }
  return isPlain(value) ? mapPart(value, mediaType, change) : value;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

async function mapUrl(url: string, change: Change): Promise<string> {
  const comma = url.indexOf(',');
  const head = url.slice(0, comma);
  if (comma < 0 || !TEXTUAL.test(head.slice('data:'.length))) return url;
  const body = url.slice(comma + 1);
  if (head.endsWith(';base64')) return `${head},${String(await mapData(body, change))}`;
  const text = decodePercents(body);
  const changed = await change(text);
  return changed === text ? url : `${head},${encodeURIComponent(changed)}`;
}

function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function mapData(data: string | Uint8Array, change: Change): Promise<string | Uint8Array> {
  const bytes = typeof data === 'string' ? decodeBase64(data) : data;
  const text = bytes === null ? String(data) : new TextDecoder().decode(bytes);
  const changed = text === '' ? text : await change(text);
  if (changed === text) return data;
  if (bytes === null) return changed;
  const written = new TextEncoder().encode(changed);
  return typeof data === 'string'
    ? btoa(Array.from(written, (byte) => String.fromCharCode(byte)).join(''))
    : written;
}

/** Returns the bytes; `null` if the text is not base64. */
function decodeBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}
