import {
  getCount,
  getListIndex,
  getMember,
  getMembers,
  getText,
  hasProviderError,
  isMemberTrue,
} from '../json/nodes.ts';
import type { JsonNode, Splice } from '../types/json.ts';
import {
  type AnswerDraft,
  addMember,
  addStrayItem,
  addTexts,
  endChannels,
  endStream,
  failAnswer,
  requireList,
} from './answer-draft.ts';
import type { AnswerContext, WireUsage } from './wire-format.ts';

/**
 * Reads the members that chat completions, completions and embeddings share, in an answer or an event: the model,
 * the usage, and the choices. `readChoice` reads each choice on the channels below its root. An error in a stream
 * ends the stream.
 */
export function readChoices(
  draft: AnswerDraft,
  body: JsonNode,
  readChoice: (draft: AnswerDraft, choice: JsonNode, root: string) => void,
  request?: AnswerContext,
): void {
  draft.id = getText(body, 'id');
  draft.model = getText(body, 'model');
  draft.usage = getUsage(body);
  draft.is_added_usage = isUsageAlone(body);
  if (body.kind !== 'object') addTexts(draft, body, 'free');
  for (const member of getMembers(body)) {
    const { key, value } = member;
    if (key.value === 'choices') requireList(draft, value);
    if (key.value !== 'choices' || value.kind !== 'array') {
      addMember(draft, member, body);
      continue;
    }
    const roots = listChoiceRoots(draft, value.items, request);
    value.items.forEach((choice, at) => {
      const root = roots[at]!;
      const reason = getText(choice, 'finish_reason') ?? '';
      if (choice.kind === 'object') readChoice(draft, choice, root);
      else addStrayItem(draft, choice);
      if (reason === '') return;
      draft.finish_reasons.push(reason);
      if (draft.is_stream) endChannels(draft, root);
    });
  }
  if (hasProviderError(body)) endStream(draft);
}

/**
 * Returns the root of the channels of each choice. Clients find the choices of a whole answer by position. In a
 * stream some use the index and others the first choice of each event, and both must read the same text.
 */
export function listChoiceRoots(
  draft: AnswerDraft,
  items: readonly JsonNode[],
  request: AnswerContext | undefined,
): readonly string[] {
  if (!draft.is_stream) return items.map((_item, at) => `${at}`);
  const places = items.map((item, at) => getListIndex(item, 'index', at));
  const choices = Math.max(1, request?.choices ?? Number.POSITIVE_INFINITY);
  const isFaulty = places.some((place) => place === null || place >= choices);
  if (isFaulty || new Set(places).size < places.length) failAnswer(draft);
  return places.map((place) => `${place}`);
}

const USAGE_OPTION = '"stream_options":{"include_usage":true}';

/** Returns the splice that makes a stream report its usage, which it does only on request. */
export function buildUsageSplice(body: JsonNode): Splice | null {
  if (!isMemberTrue(body, 'stream')) return null;
  const options = getMember(body, 'stream_options');
  if (options === null) return { start: body.end - 1, end: body.end - 1, text: `,${USAGE_OPTION}` };
  const includeUsage = getMember(options, 'include_usage');
  if (includeUsage !== null)
    return includeUsage.kind === 'true'
      ? null
      : { start: includeUsage.start, end: includeUsage.end, text: 'true' };
  if (getMembers(options).length === 0) {
    return { start: options.start, end: options.end, text: '{"include_usage":true}' };
  }
  return { start: options.end - 1, end: options.end - 1, text: ',"include_usage":true' };
}

function getUsage(body: JsonNode): WireUsage | null {
  const usage = getMember(body, 'usage');
  const input = getCount(usage, 'prompt_tokens');
  if (input === null) return null;
  const details = getMember(usage, 'prompt_tokens_details');
  return {
    input_tokens: input,
    output_tokens: getCount(usage, 'completion_tokens') ?? 0,
    cache_read_tokens: getCount(details, 'cached_tokens') ?? 0,
    cache_write_tokens: getCount(details, 'cache_write_tokens') ?? 0,
  };
}

/** Returns whether an event reports usage and nothing else, which happens only on request. */
function isUsageAlone(body: JsonNode): boolean {
  const choices = getMember(body, 'choices');
  return (
    choices?.kind === 'array' && choices.items.length === 0 && getMember(body, 'usage')?.kind === 'object'
  );
}
