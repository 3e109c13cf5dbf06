import { rewriteJson } from '../../core/json/rewrite.ts';
import { findSourceText, parseJson, rememberText } from '../../core/json/value-source.ts';
import { canonicalizeJson } from '../../core/policy/compile/canonical-json.ts';
import type { Json } from '../../core/types/index.ts';
import { type ContentPart, listContentParts } from './content-parts.ts';
import { buildSourceMeta, parseExactly, readSource } from './exact-numbers.ts';
import { joinTexts } from './join-texts.ts';
import type { NameMapping } from './name-mapping.ts';
import type { PolicyGuard } from './policy-guard.ts';

/** A content block: text, image, audio, a resource or a resource link. */
type Block = Record<string, unknown>;

/** The result of a tool. */
export interface ToolAnswer {
  readonly content: readonly Block[];
  readonly structuredContent?: Json;
  readonly isError?: boolean;
  readonly _meta?: object;
}

/**
 * Judges a tool result: the structured value under the tool's contract, and every text of the content. A text that
 * repeats the structured value is replaced with the changed value. `_meta` is dropped.
 */
export async function guardToolAnswer(
  guard: PolicyGuard,
  tool: string,
  answer: ToolAnswer,
): Promise<{ readonly answer: ToolAnswer } | { readonly blocked: string }> {
  const before = answer.structuredContent;
  const source = readSource(answer._meta);
  if (before !== undefined && source !== null) rememberText(before, source);
  const structured = before === undefined ? null : await guard.judgeResponse(tool, before);
  if (structured !== null && 'blocked' in structured) return structured;
  const content = answer.content.map(removeMeta);
  const others: ContentPart[] = [];
  for (const part of listContentParts(content)) {
    const isRepeat = structured !== null && part.is_block && repeatsExactly(part.text, before!);
    if (isRepeat) repeatStructured(part, structured.value);
    else others.push(part);
  }
  const stop = await guardParts(guard, tool, others);
  if (stop !== null) return { blocked: stop };
  return {
    answer: {
      content,
      ...(structured !== null && { structuredContent: structured.value }),
      ...(answer.isError === true && { isError: true }),
      ...buildSourceMeta(structured === null ? null : findSourceText(structured.value)),
    },
  };
}

/** Rewrites a text that repeats the structured value. */
function repeatStructured(part: ContentPart, value: Json): void {
  const written = rewriteJson(part.text, value);
  if (written !== part.text) part.put(written);
}

/** Judges every text in a protocol value, and replaces the changed ones in place. */
export function guardContent(guard: PolicyGuard, tool: string, value: unknown): Promise<string | null> {
  return guardParts(guard, tool, listContentParts(value));
}

/** A text as it is judged: JSON text as its value, because contracts describe fields. */
interface JudgedPart {
  readonly value: Json;
  readonly part: ContentPart;
  /** The text to send if nothing changes it. */
  text: string;
}

/** Judges texts together, and also joined as a client may show them. Returns the reason if they are blocked. */
async function guardParts(
  guard: PolicyGuard,
  tool: string,
  parts: readonly ContentPart[],
): Promise<string | null> {
  const all = parts.map(readPart);
  if (all.length === 0) return null;
  const joins = joinTexts(all.map(({ part, text }) => ({ text, is_block: part.is_block })));
  const isList = all.length > 1;
  const question = isList ? buildQuestion(all, joins) : all[0]!.value;
  if (!isList) rememberText(question, all[0]!.text);
  const judged = await guard.judgeResponse(tool, question);
  if ('blocked' in judged) return judged.blocked;
  if (judged.value === question) return null;
  const answers = isList ? judged.value : [judged.value];
  if (!Array.isArray(answers) || answers.length !== all.length + joins.length) return MISFIT;
  for (const [at, request] of all.entries()) if (!replacePart(request, answers[at]!)) return MISFIT;
  return judgeJoined(guard, tool, all, answers.slice(all.length));
}

/** Builds the list of all values from their texts, so that numbers are judged digit for digit. */
function buildQuestion(all: readonly JudgedPart[], joins: readonly string[]): Json {
  const texts = all.map(({ value, text }) => (typeof value === 'string' ? JSON.stringify(value) : text));
  return parseJson(`[${[...texts, ...joins.map((join) => JSON.stringify(join))].join(',')}]`);
}

const MISFIT = 'The changed result does not fit its place.';
const SPREAD = 'The finding spans several parts of the result, so it cannot be redacted.';

/** Judges the changed texts joined again, unless the judged joins already equal them. */
async function judgeJoined(
  guard: PolicyGuard,
  tool: string,
  all: readonly JudgedPart[],
  joined: readonly Json[],
): Promise<string | null> {
  const joins = joinTexts(all.map(({ part, text }) => ({ text, is_block: part.is_block })));
  // A contract that keeps fields only returns `null` for a text.
  if (joins.every((join, at) => joined[at] === join || joined[at] === null)) return null;
  const judged = await guard.judgeResponse(tool, joins);
  if ('blocked' in judged) return judged.blocked;
  return judged.value === joins ? null : SPREAD;
}

function readPart(part: ContentPart): JudgedPart {
  const value = readJson(part.text);
  if (value === null) return { value: part.text, part, text: part.text };
  // If keys are equal, the last member is judged and the others are not sent.
  const text = rewriteJson(part.text, value);
  if (text !== part.text) part.put(text);
  return { value, part, text };
}

function replacePart(request: JudgedPart, after: Json): boolean {
  if (isSameValue(after, request.value)) return true;
  const isJson = typeof request.value !== 'string';
  if (isJson) request.text = typeof after === 'string' ? after : rewriteJson(request.text, after);
  else request.text = after === null ? '' : String(after);
  return request.part.put(request.text);
}

const DROPPED = new Set(['_meta']);

/** Returns a copy without `_meta`, which no user or model sees. */
export function removeMeta<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (DROPPED.has(key) ? undefined : inner)),
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

/** Returns whether a text has the same value, digit for digit. */
function repeatsExactly(text: string, value: Json): boolean {
  if (readJson(text) === null) return false;
  const written = findSourceText(value) ?? JSON.stringify(value);
  return canonicalizeJson(parseExactly(text)) === canonicalizeJson(parseExactly(written));
}

function isSameValue(one: Json, other: Json): boolean {
  return one === other || canonicalizeJson(one) === canonicalizeJson(other);
}

/** Returns a copy with the agents' URIs of resources: in links, embedded resources and read contents. */
export function replaceUris<T>(value: T, naming: Pick<NameMapping, 'toAgentUri'>): T {
  const shown = (holder: unknown, key: string): unknown => {
    if (Array.isArray(holder)) return holder.map((one) => shown(one, key));
    if (typeof holder !== 'object' || holder === null) return holder;
    const { uri } = holder as { uri?: unknown };
    return Object.fromEntries(
      Object.entries(holder).map(([name, inner]) => {
        if (name === 'uri' && typeof uri === 'string') return [name, naming.toAgentUri(uri)];
        return [name, HOLDERS.has(name) ? shown(inner, name) : inner];
      }),
    );
  };
  return shown(value, '') as T;
}

/** The members that hold protocol content. A structured value belongs to the server and stays unchanged. */
const HOLDERS = new Set(['content', 'contents', 'messages', 'resource']);
