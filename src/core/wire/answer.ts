import { memberOf, textOf } from './nodes.ts';
import { type Meaning, readMember, readSaid, type Vocabulary } from './said.ts';
import type { Echo, JsonMember, JsonNode, StringNode, WireAnswer, WireToolCall, WireUsage } from './types.ts';

/** A whole answer while it is read. */
export interface AnswerDraft {
  readonly texts: StringNode[];
  readonly tool_calls: WireToolCall[];
  readonly finish_reasons: string[];
  readonly echoes: Echo[];
  readonly vocabulary: Vocabulary;
}

/** An answer of which nothing was read yet. */
export function startAnswer(vocabulary: Vocabulary): AnswerDraft {
  return { texts: [], tool_calls: [], finish_reasons: [], echoes: [], vocabulary };
}

/** Takes all texts of a value. */
export function hear(draft: AnswerDraft, node: JsonNode, meaning: Meaning = 'said'): void {
  readSaid(node, meaning, draft.vocabulary, (text) => draft.texts.push(text));
}

/** Takes all texts of a member, its key too where the protocol does not know it. */
export function hearMember(draft: AnswerDraft, member: JsonMember, holder: JsonNode): void {
  readMember(member, holder, draft.vocabulary, (text) => draft.texts.push(text));
}

/** The answer, with what only its format knows. */
export function finishAnswer(
  draft: AnswerDraft,
  body: JsonNode,
  usage: WireUsage | null,
  keys: { readonly id: string; readonly model: string } = { id: 'id', model: 'model' },
): WireAnswer {
  const { texts, tool_calls, finish_reasons, echoes } = draft;
  return {
    id: textOf(body, keys.id),
    model: textOf(body, keys.model),
    finish_reasons,
    texts,
    tool_calls,
    usage,
    echoes,
  };
}

/** What takes a member out and leaves the other ones; `null` where there is nothing in it to take out. */
export function blank(holder: JsonNode | null, key: string, text: string): Echo['splice'] | null {
  const value = memberOf(holder, key);
  if (value === null || value.kind === 'null') return null;
  return { start: value.start, end: value.end, text };
}
