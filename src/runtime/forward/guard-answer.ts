import type { Crossing, Verdict } from '../../core/types.ts';
import type { Splice, WireAnswer } from '../../core/wire/types.ts';
import { decide } from '../enforce.ts';
import type { Ruling } from '../types.ts';
import { aboutCall, type Denial } from './call.ts';
import { type Answering, guardCall } from './guard-call.ts';
import { textsContent, textsIn, written } from './texts.ts';

/** An answer that was judged whole; all events on it are durable. */
export type GuardedAnswer =
  | { readonly denied: Denial; readonly splices: readonly []; readonly ruling: null }
  | {
      readonly denied: null;
      /** What the policy changes in the body. */
      readonly splices: readonly Splice[];
      /** On the texts. */
      readonly ruling: Ruling;
    };

/** Judges an answer that is no stream: its texts together at `output`, each tool call by itself. */
export async function guardAnswer(
  answer: WireAnswer,
  body: string,
  answering: Answering,
): Promise<GuardedAnswer> {
  const said = await guardTexts(answer, answering);
  if (said.denied !== null) return said;
  const splices = [...said.splices];
  for (const { tool, arguments: node } of answer.tool_calls) {
    const is_text = node.kind === 'string';
    const text = is_text ? node.value : body.slice(node.start, node.end);
    const guarded = await guardCall({ tool, arguments: text }, answering);
    if (guarded.denied !== null) return { denied: guarded.denied, splices: [], ruling: null };
    if (guarded.arguments === text) continue;
    splices.push(
      is_text
        ? written(node, guarded.arguments)
        : { start: node.start, end: node.end, text: guarded.arguments },
    );
  }
  return { ...said, splices };
}

async function guardTexts(answer: WireAnswer, answering: Answering): Promise<GuardedAnswer> {
  const { road, model, tokens } = answering;
  const { call, ports } = road;
  const texts = answer.texts.map(({ value }) => value);
  // Whoever embeds or counts gets figures, and nothing is said.
  const crossing: Crossing = {
    ...call.acting,
    boundary: 'output',
    phase: null,
    content: texts.length === 0 ? { kind: 'text', text: '' } : textsContent(texts),
    source_agent_id: call.acting.source_agent_id,
    destination_agent_id: null,
    tool: null,
  };
  const extras = { about: () => aboutCall(call, model), finds_approved: true };
  const decided = await decide(crossing, call.caller, 'llm_answer', ports, call.approval_request_id, extras);
  const ruling = await decided.ruling;
  const { verdict } = ruling;
  if (verdict.decision === 'block')
    return { denied: { ruling, crossing: decided.crossing }, splices: [], ruling: null };
  call.onRuling?.({ boundary: 'output', ruling, crossing: decided.crossing });
  const judged = judgedTexts(verdict, texts);
  const shown = tokens === null ? judged : judged.map(tokens.restored);
  return { denied: null, splices: answerSplices(answer, shown), ruling };
}

/** A rule's own text takes the place of all. */
function judgedTexts(verdict: Verdict, texts: readonly string[]): readonly string[] {
  const { content } = verdict;
  if (content === null || texts.length === 0) return texts;
  const changed = textsIn(content, texts.length);
  if (changed !== null) return changed;
  return texts.map((_text, at) => (at === 0 && content.kind === 'text' ? content.text : ''));
}

function answerSplices({ texts, echoes }: WireAnswer, shown: readonly string[]): Splice[] {
  const changed = new Set(texts.filter((node, at) => shown[at] !== node.value));
  const said = texts.flatMap((node, at) => (changed.has(node) ? written(node, shown[at]!) : []));
  const vouching = echoes.filter(({ of }) => of.some((node) => changed.has(node)));
  return [...said, ...vouching.map(({ splice }) => splice)];
}
