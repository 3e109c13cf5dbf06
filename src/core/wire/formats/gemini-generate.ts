import { countOf, isTrue, itemsOf, memberOf, membersOf, tellsError, textOf } from '../../json/nodes.ts';
import type { JsonMember, JsonNode } from '../../types/json.ts';
import {
  type AnswerDraft,
  addEcho,
  addMember,
  addPiece,
  addRepeat,
  addTexts,
  closeChannels,
  endChannels,
  endStream,
  failAnswer,
  isOpen,
  requireText,
  runName,
} from '../answer.ts';
import { openJsonEvents, type ReadBody, readWhole } from '../events.ts';
import { openGeminiEnding } from '../gemini-ending.ts';
import { geminiErrorBody, geminiErrorEvents } from '../gemini-errors.ts';
import { readGenerateRequest } from '../gemini-request.ts';
import { camelCase, GEMINI } from '../gemini-vocabulary.ts';
import { rootsOf } from '../openai-choices.ts';
import type { AnswerAsked, WireFormat, WireUsage } from '../types.ts';

/**
 * `generateContent` and `streamGenerateContent` of Gemini. The path says which of them it is, and of which model.
 * A stream is guarded as server-sent events (`alt=sse`); without that Gemini answers with one JSON array that
 * grows, in which nothing can be held back, so `entry/llm` refuses such a request.
 */
export const geminiGenerate: WireFormat = {
  name: 'gemini.generate',
  family: 'gemini',
  operation_name: 'generate_content',
  readRequest: readGenerateRequest,
  readAnswer: (body) => readWhole(GEMINI, readerFor(), body),
  openEvents: (asked) => openJsonEvents(GEMINI, readerFor(asked)),
  errorBody: geminiErrorBody,
  errorEvents: geminiErrorEvents,
  openEnding: openGeminiEnding,
};

/** Counts the calls of an answer: each comes whole, and is named by its number. */
interface Counted {
  calls: number;
}

function readerFor(asked?: AnswerAsked): ReadBody {
  const counted: Counted = { calls: 0 };
  return (draft, body) => readResponse(draft, body, counted, asked);
}

function readResponse(
  draft: AnswerDraft,
  body: JsonNode,
  counted: Counted,
  asked: AnswerAsked | undefined,
): boolean {
  draft.id = textOf(body, 'responseId');
  draft.model = textOf(body, 'modelVersion');
  draft.usage = usageOf(memberOf(body, 'usageMetadata'));
  for (const member of membersOf(body)) {
    if (member.key.value !== 'candidates' || member.value.kind !== 'array') {
      addMember(draft, member, body);
      continue;
    }
    const roots = rootsOf(draft, member.value.items, asked);
    for (const [at, candidate] of member.value.items.entries()) {
      if (!readCandidate(draft, candidate, roots[at]!, counted)) return false;
    }
  }
  // A prompt that is refused has no candidates, and so none that says why it ends.
  const is_refused = textOf(memberOf(body, 'promptFeedback'), 'blockReason') !== null;
  if (is_refused || tellsError(body)) endStream(draft);
  return true;
}

function readCandidate(draft: AnswerDraft, candidate: JsonNode, root: string, counted: Counted): boolean {
  if (candidate.kind !== 'object') addTexts(draft, candidate);
  const runs = runsOf(candidate);
  endOtherRuns(draft, root, runs.at(0));
  for (const member of membersOf(candidate)) {
    const { key, value } = member;
    if (key.value === 'content' && value.kind === 'object') {
      if (!readContent(draft, value, root, counted)) return false;
    } else if (key.value !== 'logprobsResult') addMember(draft, member, candidate);
  }
  // After the text that they tell again, wherever it stands.
  for (const member of membersOf(candidate)) {
    if (member.key.value !== 'logprobsResult') continue;
    const of = runName(draft, `${root}.text`);
    if (isOpen(draft, of)) addEcho(draft, of, member.value, '{}');
    else addMember(draft, member, candidate);
  }
  endOtherRuns(draft, root, runs.at(-1));
  const reason = textOf(candidate, 'finishReason') ?? textOf(candidate, 'finish_reason') ?? '';
  if (reason === '') return true;
  draft.finish_reasons.push(reason);
  if (draft.is_stream) endChannels(draft, root);
  return true;
}

/** The runs of text to which the parts that say something belong, in their order; `none` for parts of other kinds. */
function runsOf(candidate: JsonNode): readonly Run[] {
  const parts = itemsOf(memberOf(memberOf(candidate, 'content'), 'parts'));
  return parts.flatMap((part) => {
    const text = textOf(part, 'text');
    if (text === null) return ['none'];
    return text === '' ? [] : [runOf(part)];
  });
}

type Run = 'text' | 'thought' | 'none';

function runOf(part: JsonNode): 'text' | 'thought' {
  return isTrue(part, 'thought') ? 'thought' : 'text';
}

/**
 * Parts have an order, in which clients give them back: a run of text ends where parts of another kind follow, so that
 * what of it is held goes out before them.
 */
function endOtherRuns(draft: AnswerDraft, root: string, run: Run | undefined): void {
  for (const other of ['thought', 'text'] as const) {
    const channel = runName(draft, `${root}.${other}`);
    if (run !== undefined && run !== other && isOpen(draft, channel)) closeChannels(draft, channel);
  }
}

function readContent(draft: AnswerDraft, content: JsonNode, root: string, counted: Counted): boolean {
  for (const member of membersOf(content)) {
    const { key, value } = member;
    if (key.value !== 'parts' || value.kind !== 'array') addMember(draft, member, content);
    else if (!value.items.every((part) => readPart(draft, part, root, counted))) return false;
  }
  return true;
}

/** A part; `false` where it is a call whose arguments come in pieces by path, which cannot be put together here. */
function readPart(draft: AnswerDraft, part: JsonNode, root: string, counted: Counted): boolean {
  if (part.kind !== 'object') addTexts(draft, part);
  // What is neither true nor false is a thought to some clients, and to others it is none.
  const thought = memberOf(part, 'thought')?.kind ?? 'null';
  if (thought !== 'true' && thought !== 'false' && thought !== 'null') return false;
  for (const member of membersOf(part)) {
    const { value } = member;
    const key = camelCase(member.key.value);
    if (key === 'text') requireText(draft, value);
    if (key === 'text' && value.kind === 'string') {
      const run = runOf(part);
      // Clients join the texts that are no thoughts, or all of them.
      const joins = [`${root}.${run}`, `${root}.all`];
      addPiece(draft, runName(draft, `${root}.${run}`), 'text', value, { joins });
    } else if (key === 'functionCall') {
      if (memberOf(value, 'partialArgs') !== null || isTrue(value, 'willContinue')) return false;
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
  const said = memberOf(value, 'args');
  const named = { tool: textOf(value, 'name'), call_id: textOf(value, 'id') };
  const none: JsonNode = { kind: 'null', start: value.end, end: value.end };
  addRepeat(draft, channel, 'arguments', said ?? none, { call: named });
  for (const member of membersOf(value)) if (member.value !== said) addMember(draft, member, value);
}

/** Thinking is paid as what comes out, and what tools brought in as what goes in. */
function usageOf(usage: JsonNode | null): WireUsage | null {
  const input = countOf(usage, 'promptTokenCount');
  if (input === null) return null;
  return {
    input_tokens: input + (countOf(usage, 'toolUsePromptTokenCount') ?? 0),
    output_tokens:
      (countOf(usage, 'candidatesTokenCount') ?? 0) + (countOf(usage, 'thoughtsTokenCount') ?? 0),
    cache_read_tokens: countOf(usage, 'cachedContentTokenCount') ?? 0,
    cache_write_tokens: 0,
  };
}
