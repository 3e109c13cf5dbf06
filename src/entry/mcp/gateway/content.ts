import { canonical } from '../../../core/compile/canonical.ts';
import type { Json } from '../../../core/types.ts';
import type { Guard, Judged } from './guard.ts';
import type { Naming } from './naming.ts';

/** A block of content, as far as it is looked into: its texts. Pictures and sound are passed on unseen. */
type Block = Record<string, unknown>;

/** What a tool answers. */
export interface ToolAnswer {
  readonly content: readonly Block[];
  readonly structuredContent?: Json;
  readonly isError?: boolean;
}

/**
 * Has a tool's answer judged: the structured value as the contract knows it, and every text of the content. Where
 * a text repeats the structured value, it says the changed one afterwards. `_meta` does not pass.
 */
export async function guardAnswer(
  guard: Guard,
  tool: string,
  answer: ToolAnswer,
): Promise<{ readonly answer: ToolAnswer } | { readonly blocked: string }> {
  const before = answer.structuredContent;
  const structured = before === undefined ? null : await guard.response(tool, before);
  if (structured !== null && 'blocked' in structured) return structured;
  const content = answer.content.map(withoutMeta);
  const repeats = (text: string) => before !== undefined && sameJson(text, before);
  const leaves = content.flatMap(textsOf);
  for (const leaf of leaves)
    if (structured !== null && repeats(leaf.text)) leaf.put(JSON.stringify(structured.value));
  const others = leaves.filter(({ text }) => !repeats(text));
  const stop = await guardTexts(guard, tool, others);
  if (stop !== null) return { blocked: stop };
  return {
    answer: {
      content,
      ...(structured !== null && { structuredContent: structured.value }),
      ...(answer.isError === true && { isError: true }),
    },
  };
}

export interface Leaf {
  readonly text: string;
  readonly put: (text: string) => void;
}

/** Has texts judged together and puts what is left of them in their places. Gives the sentence where they stop here. */
export async function guardTexts(
  guard: Guard,
  tool: string,
  leaves: readonly Leaf[],
): Promise<string | null> {
  if (leaves.length === 0) return null;
  const [only] = leaves;
  const value = leaves.length === 1 ? readJson(only!.text) : null;
  const asked: Json = value ?? (leaves.length === 1 ? only!.text : leaves.map(({ text }) => text));
  const judged: Judged = await guard.response(tool, asked);
  if ('blocked' in judged) return judged.blocked;
  if (judged.value === asked) return null;
  if (leaves.length === 1) {
    only!.put(typeof judged.value === 'string' ? judged.value : JSON.stringify(judged.value));
    return null;
  }
  const texts = judged.value;
  if (!Array.isArray(texts) || texts.length !== leaves.length)
    return 'The changed result does not fit its place.';
  leaves.forEach((leaf, at) => {
    leaf.put(String(texts[at]));
  });
  return null;
}

/** Fields of blocks that hold bytes and no text. */
const OPAQUE = new Set(['data', 'blob', 'type', 'mimeType']);

/** Every string in a value but bytes, each with a way to replace it. The depth of content is that of the protocol. */
export function textsOf(value: unknown): Leaf[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.entries(holder).flatMap(([key, inner]) => {
    if (typeof inner !== 'string') return textsOf(inner);
    if (OPAQUE.has(key)) return [];
    const put = (text: string) => {
      holder[key] = text;
    };
    return [{ text: inner, put }];
  });
}

/** A copy without `_meta` and `annotations`, which no person or model is shown and nobody has judged. */
export function withoutMeta<T>(value: T): T {
  const dropped = new Set(['_meta', 'annotations', 'icons']);
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (dropped.has(key) ? undefined : inner)),
  ) as T;
}

function readJson(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function sameJson(text: string, value: Json): boolean {
  const read = readJson(text);
  return read !== null && canonical(read) === canonical(value);
}

/** The same with the URIs of resources as agents know them: of links, of resources inside messages, of what was read. */
export function withShownUris<T>(value: T, naming: Pick<Naming, 'uriShown'>): T {
  const shown = (holder: unknown, key: string): unknown => {
    if (Array.isArray(holder)) return holder.map((one) => shown(one, key));
    if (typeof holder !== 'object' || holder === null) return holder;
    const { uri } = holder as { uri?: unknown };
    return Object.fromEntries(
      Object.entries(holder).map(([name, inner]) => {
        if (name === 'uri' && typeof uri === 'string') return [name, naming.uriShown(uri)];
        return [name, HOLDERS.has(name) ? shown(inner, name) : inner];
      }),
    );
  };
  return shown(value, '') as T;
}

/** Where the protocol has content; a structured value is the server's own, and stays as it is. */
const HOLDERS = new Set(['content', 'contents', 'messages', 'resource']);
