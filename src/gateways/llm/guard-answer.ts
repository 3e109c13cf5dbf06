import { detect } from '../../core/detect/detect.ts';
import type { Finding, Policy, Verdict } from '../../core/types/index.ts';
import type { Splice, StringNode } from '../../core/types/json.ts';
import type { WireAnswer } from '../../core/wire/wire-format.ts';
import { buildTextCrossing, NO_TEXT } from '../../runtime/enforcement/crossings.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import { buildUnreadableFailure } from './call-errors.ts';
import { decideInCall } from './decide-in-call.ts';
import { guardToolCall, type ModelAnswerContext } from './guard-tool-call.ts';
import { isCleanIdentifier } from './identifier-checks.ts';
import { buildCallMetadata } from './llm-call.ts';
import { buildStringSplice, buildTextsContent, extractTexts } from './texts.ts';

/** A judged answer without streaming. All its events are durable. */
export type GuardedAnswer =
  | { readonly denied: Ruling; readonly splices: readonly []; readonly ruling: null }
  | {
      readonly denied: null;
      /** The changes that the policy makes to the body. */
      readonly splices: readonly Splice[];
      /** The ruling on the texts. */
      readonly ruling: Ruling;
    };

/** Judges an answer that is not streamed: its texts together at `output`, each tool call by itself. */
export async function guardAnswer(
  answer: WireAnswer,
  body: string,
  answering: ModelAnswerContext,
): Promise<GuardedAnswer> {
  const stated = await guardAnswerTexts(answer, answering);
  if (stated.denied !== null) return stated;
  const splices = [...stated.splices];
  for (const { tool, arguments: node, is_free } of answer.tool_calls) {
    const isText = node.kind === 'string';
    const text = isText ? node.value : body.slice(node.start, node.end);
    const guarded = await guardToolCall({ tool, arguments: text, is_free }, answering);
    if (guarded.denied !== null) return { denied: guarded.denied, splices: [], ruling: null };
    if (guarded.arguments === text) continue;
    splices.push(
      isText
        ? buildStringSplice(node, guarded.arguments)
        : { start: node.start, end: node.end, text: guarded.arguments },
    );
  }
  return { ...stated, splices };
}

async function guardAnswerTexts(answer: WireAnswer, answering: ModelAnswerContext): Promise<GuardedAnswer> {
  const { call_context, model, tokens, readUsage } = answering;
  const { call, ports } = call_context;
  const words = answer.words.filter(({ value }) => !isCleanIdentifier(value, ports.policy));
  const joined = answer.joined.filter((nodes) => hasJoinedFinding(nodes, ports.policy));
  const nodes = [...answer.texts, ...words];
  const texts = [...nodes.map(({ value }) => value), ...joined.map(joinNodes)];
  // Embeddings and token counts contain figures and no text.
  const content = texts.length === 0 ? NO_TEXT : buildTextsContent(texts);
  const crossing = buildTextCrossing('output', call.acting, content);
  const buildMetadata = () => buildCallMetadata(call, model, readUsage?.());
  const decided = await decideInCall(crossing, 'llm_response', call_context, model, { buildMetadata });
  const ruling = await decided.recorded;
  const { verdict } = ruling;
  if (verdict.decision === 'block') return { denied: ruling, splices: [], ruling: null };
  call.onRuling?.(ruling);
  const judged = readJudgedTexts(verdict, texts);
  const isList = verdict.content === null || extractTexts(verdict.content, texts.length) !== null;
  const apart = isList ? applyJoined(nodes, judged, joined) : judged.slice(0, nodes.length);
  const shown = tokens === null ? apart : apart.map(tokens.restore);
  return { denied: null, splices: buildAnswerSplices(nodes, answer.echoes, shown), ruling };
}

function joinNodes(nodes: readonly StringNode[]): string {
  return nodes.map(({ value }) => value).join('');
}

/** Returns whether texts that clients join have a finding that none of them has alone. */
function hasJoinedFinding(nodes: readonly StringNode[], { detection, limits }: Policy): boolean {
  const found = (text: string) => detect({ kind: 'text', text }, detection, limits).findings;
  const nameOf = ({ detector, start, end, severity }: Finding, from: number): string =>
    `${detector} ${start + from} ${end + from} ${severity}`;
  const apart = new Set<string>();
  let from = 0;
  for (const { value } of nodes) {
    for (const finding of found(value)) apart.add(nameOf(finding, from));
    from += value.length;
  }
  return found(joinNodes(nodes)).some((finding) => !apart.has(nameOf(finding, 0)));
}

/**
 * Returns the texts to forward. The change of joined texts goes into the first of them, and the others become empty.
 * Throws if one of them is also changed by itself, because the joined result is unknown then.
 */
function applyJoined(
  nodes: readonly StringNode[],
  judged: readonly string[],
  joined: readonly (readonly StringNode[])[],
): readonly string[] {
  const shown = judged.slice(0, nodes.length);
  const placeOf = new Map(nodes.map((node, at) => [node, at]));
  for (const [at, group] of joined.entries()) {
    const whole = judged[nodes.length + at] ?? '';
    if (whole === joinNodes(group)) continue;
    const places = group.map((node) => placeOf.get(node) ?? 0);
    if (places.some((place) => shown[place] !== nodes[place]?.value))
      throw buildUnreadableFailure(
        'The parts of the answer of the provider form a text that the policy blocks.',
      );
    for (const [part, place] of places.entries()) shown[place] = part === 0 ? whole : '';
  }
  return shown;
}

/** Returns the judged texts. If a rule replaces the content with its own text, that text replaces all of them. */
function readJudgedTexts(verdict: Verdict, texts: readonly string[]): readonly string[] {
  const { content } = verdict;
  if (content === null || texts.length === 0) return texts;
  const changed = extractTexts(content, texts.length);
  if (changed !== null) return changed;
  return texts.map((_text, at) => (at === 0 && content.kind === 'text' ? content.text : ''));
}

function buildAnswerSplices(
  nodes: readonly StringNode[],
  echoes: WireAnswer['echoes'],
  shown: readonly string[],
): Splice[] {
  const changed = new Set(nodes.filter((node, at) => shown[at] !== node.value));
  const stated = nodes.flatMap((node, at) => (changed.has(node) ? buildStringSplice(node, shown[at]!) : []));
  const vouching = echoes.filter(({ of }) => of.some((node) => changed.has(node)));
  return [...stated, ...vouching.map(({ splice }) => splice)];
}
