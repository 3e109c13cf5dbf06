import {
  getCount,
  getItems,
  getMember,
  getMembers,
  getText,
  hasProviderError,
  isMemberTrue,
} from '../../json/nodes.ts';
import type { JsonMember, JsonNode } from '../../types/json.ts';
import {
  type AnswerDraft,
  addEcho,
  addMember,
  addPiece,
  addRepeat,
  addStrayItem,
  addUnlistedCall,
  closeChannels,
  endChannels,
  endStream,
  failAnswer,
  isChannelOpen,
  nameChannelRun,
  requireList,
  requireText,
} from '../answer-draft.ts';
import { type BodyReader, createEventReader, readWholeAnswer } from '../event-reader.ts';
import { openGeminiEnding } from '../gemini-ending.ts';
import { writeGeminiErrorBody, writeGeminiErrorEvents } from '../gemini-errors.ts';
import { readGenerateRequest } from '../gemini-request.ts';
import { GEMINI, toCamelCase } from '../gemini-vocabulary.ts';
import { listChoiceRoots } from '../openai-choices.ts';
import type { AnswerContext, WireFormat, WireRoute, WireUsage } from '../wire-format.ts';

/**
 * `generateContent` and `streamGenerateContent` of Gemini. The path states the method and the model. A stream is
 * guarded as server-sent events (`alt=sse`). Without that, Gemini answers with one growing JSON array in which
 * nothing can be held back, so `entry/llm` refuses such a request.
 */
export const geminiGenerate: WireFormat = {
  name: 'gemini.generate',
  family: 'gemini',
  routes: [...buildRoutes('v1beta'), ...buildRoutes('v1')],
  path_pattern: /\/models\/(?<model>[^/:]+):(?<verb>generateContent|streamGenerateContent)$/i,
  operation_name: 'generate_content',
  readRequest: readGenerateRequest,
  readAnswer: (body) => readWholeAnswer(GEMINI, createBodyReader(), body),
  openEvents: (requested) => createEventReader(GEMINI, createBodyReader(requested)),
  errorBody: writeGeminiErrorBody,
  errorEvents: writeGeminiErrorEvents,
  openEnding: openGeminiEnding,
};

function buildRoutes(version: string): readonly WireRoute[] {
  const buildRoute = (verb: string, isStream: boolean, summary: string): WireRoute => ({
    path: `/${version}/models/{model}:${verb}`,
    url: `/${version}/models/:call`,
    name: `gemini_${version}_${isStream ? 'stream' : 'generate'}`,
    ending: { text: `:${verb}`, is_stream: isStream },
    summary,
    example: { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] },
  });
  return [
    buildRoute('generateContent', false, 'Gemini content, guarded'),
    buildRoute('streamGenerateContent', true, 'Gemini content as a stream, guarded'),
  ];
}

/** Counts the calls of an answer. Each call comes whole and is identified by its number. */
interface CallCounter {
  calls: number;
}

function createBodyReader(requested?: AnswerContext): BodyReader {
  const counted: CallCounter = { calls: 0 };
  return (draft, body) => readResponse(draft, body, counted, requested);
}

function readResponse(
  draft: AnswerDraft,
  body: JsonNode,
  counted: CallCounter,
  requested: AnswerContext | undefined,
): boolean {
  draft.id = getText(body, 'responseId');
  draft.model = getText(body, 'modelVersion');
  draft.usage = readGeminiUsage(getMember(body, 'usageMetadata'));
  for (const member of getMembers(body)) {
    if (member.key.value === 'candidates') requireList(draft, member.value);
    if (member.key.value !== 'candidates' || member.value.kind !== 'array') {
      addMember(draft, member, body);
      continue;
    }
    const roots = listChoiceRoots(draft, member.value.items, requested);
    for (const [at, candidate] of member.value.items.entries()) {
      if (!readCandidate(draft, candidate, roots[at]!, counted)) return false;
    }
  }
  // A refused prompt has no candidates, so no finish reason either.
  const isRefused = getText(getMember(body, 'promptFeedback'), 'blockReason') !== null;
  if (isRefused || hasProviderError(body)) endStream(draft);
  return true;
}

function readCandidate(draft: AnswerDraft, candidate: JsonNode, root: string, counted: CallCounter): boolean {
  if (candidate.kind !== 'object') addStrayItem(draft, candidate);
  const runs = getRuns(candidate);
  endOtherRuns(draft, root, runs.at(0));
  for (const member of getMembers(candidate)) {
    const { key, value } = member;
    if (key.value === 'content' && value.kind === 'object') {
      if (!readContent(draft, value, root, counted)) return false;
    } else if (key.value === 'content') addStrayItem(draft, value);
    else if (key.value !== 'logprobsResult') addMember(draft, member, candidate);
  }
  // Read after the text that they repeat, wherever they are in the object.
  for (const member of getMembers(candidate)) {
    if (member.key.value !== 'logprobsResult') continue;
    const of = nameChannelRun(draft, `${root}.text`);
    if (isChannelOpen(draft, of)) addEcho(draft, of, member.value, '{}');
    else addMember(draft, member, candidate);
  }
  endOtherRuns(draft, root, runs.at(-1));
  const reason = getText(candidate, 'finishReason') ?? getText(candidate, 'finish_reason') ?? '';
  if (reason === '') return true;
  draft.finish_reasons.push(reason);
  if (draft.is_stream) endChannels(draft, root);
  return true;
}

/** Returns the run of text that each part belongs to, in order; `none` for parts of other kinds. */
function getRuns(candidate: JsonNode): readonly PartRun[] {
  const parts = getItems(getMember(getMember(candidate, 'content'), 'parts'));
  return parts.flatMap((part) => {
    const text = getText(part, 'text');
    if (text === null) return ['none'];
    return text === '' ? [] : [getRun(part)];
  });
}

type PartRun = 'text' | 'thought' | 'none';

function getRun(part: JsonNode): 'text' | 'thought' {
  return isMemberTrue(part, 'thought') ? 'thought' : 'text';
}

/**
 * Closes the other runs of text. Parts have an order, which clients send back, so a run ends where parts of another
 * kind follow and its held text must be sent before them.
 */
function endOtherRuns(draft: AnswerDraft, root: string, run: PartRun | undefined): void {
  for (const other of ['thought', 'text'] as const) {
    const channel = nameChannelRun(draft, `${root}.${other}`);
    if (run !== undefined && run !== other && isChannelOpen(draft, channel)) closeChannels(draft, channel);
  }
}

function readContent(draft: AnswerDraft, content: JsonNode, root: string, counted: CallCounter): boolean {
  for (const member of getMembers(content)) {
    const { key, value } = member;
    if (key.value === 'parts') requireList(draft, value);
    if (key.value !== 'parts' || value.kind !== 'array') addMember(draft, member, content);
    else if (!value.items.every((part) => readPart(draft, part, root, counted))) return false;
  }
  return true;
}

/**
 * Reads a part; returns `false` for a call whose arguments arrive in pieces by path, which are not supported.
 */
function readPart(draft: AnswerDraft, part: JsonNode, root: string, counted: CallCounter): boolean {
  if (part.kind !== 'object') addStrayItem(draft, part);
  const call = addUnlistedCall(draft, part);
  // A value that is not a boolean is a thought to some clients and not to others.
  const thought = getMember(part, 'thought')?.kind ?? 'null';
  if (thought !== 'true' && thought !== 'false' && thought !== 'null') return false;
  for (const member of getMembers(part)) {
    const { value } = member;
    if (value === call) continue;
    const key = toCamelCase(member.key.value);
    if (key === 'text') requireText(draft, value);
    if (key === 'text' && value.kind === 'string') {
      const run = getRun(part);
      // Some clients join the texts that are not thoughts, others join all texts.
      const joins = [`${root}.${run}`, `${root}.all`];
      addPiece(draft, nameChannelRun(draft, `${root}.${run}`), 'text', value, { joins });
    } else if (key === 'functionCall') {
      if (getMember(value, 'partialArgs') !== null || isMemberTrue(value, 'willContinue')) return false;
      readCall(draft, member, `${root}.call.${counted.calls}`);
      counted.calls += 1;
    } else addMember(draft, member, part);
  }
  return true;
}

function readCall(draft: AnswerDraft, call: JsonMember, channel: string): void {
  const { value } = call;
  if (value.kind !== 'object') {
    if (value.kind !== 'null') failAnswer(draft);
    return;
  }
  const stated = getMember(value, 'args');
  const named = { tool: getText(value, 'name'), call_id: getText(value, 'id') };
  const none: JsonNode = { kind: 'null', start: value.end, end: value.end };
  addRepeat(draft, channel, 'arguments', stated ?? none, { call: named });
  for (const member of getMembers(value)) if (member.value !== stated) addMember(draft, member, value);
}

/** Reads the usage. Thinking is charged as output, and the tokens that tools added are charged as input. */
function readGeminiUsage(usage: JsonNode | null): WireUsage | null {
  const input = getCount(usage, 'promptTokenCount');
  if (input === null) return null;
  return {
    input_tokens: input + (getCount(usage, 'toolUsePromptTokenCount') ?? 0),
    output_tokens:
      (getCount(usage, 'candidatesTokenCount') ?? 0) + (getCount(usage, 'thoughtsTokenCount') ?? 0),
    cache_read_tokens: getCount(usage, 'cachedContentTokenCount') ?? 0,
    cache_write_tokens: 0,
  };
}
