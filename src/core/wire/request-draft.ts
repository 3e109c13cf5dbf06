import { getItems, getMember, getMembers } from '../json/nodes.ts';
import { quoteJson } from '../json/splice.ts';
import type { JsonMember, JsonNode, Splice, StringNode } from '../types/json.ts';
import { type MemberMeaning, visitMemberTexts, visitTexts, type WireVocabulary } from './vocabulary.ts';
import type { WireRequest, WireText, WireToolResult } from './wire-format.ts';

/** A request while it is read. Each string of the body is passed to one of its functions exactly once. */
export interface RequestDraft {
  readonly texts: WireText[];
  readonly results: ResultDraft[];
  /** Names of tools by the ids of their calls. */
  readonly calls: Map<string, string>;
  readonly repairs: Splice[];
  readonly vocabulary: WireVocabulary;
  opaque_units: number;
  /** See `WireRequest.problem`. */
  problem: string | null;
}

interface ResultDraft {
  readonly tool: string | null;
  readonly call_id: string | null;
  readonly texts: readonly StringNode[];
  readonly replaced: (notice: string) => readonly Splice[];
}

/** Returns the draft of a request that was not read yet. */
export function createRequestDraft(vocabulary: WireVocabulary): RequestDraft {
  return {
    texts: [],
    results: [],
    calls: new Map(),
    repairs: [],
    vocabulary,
    opaque_units: 0,
    problem: null,
  };
}

/** Adds all texts of a value for this role. */
export function addRequestText(
  draft: RequestDraft,
  role: WireText['role'],
  node: JsonNode,
  meaning: MemberMeaning = 'said',
): void {
  draft.opaque_units += visitTexts(node, meaning, draft.vocabulary, (text) => {
    draft.texts.push({ role, node: text, if_changed: null });
  });
}

/** Adds all texts of a member for this role, with its key if the protocol does not define it. */
export function addRequestMember(
  draft: RequestDraft,
  role: WireText['role'],
  member: JsonMember,
  holder: JsonNode,
): void {
  draft.opaque_units += visitMemberTexts(member, holder, draft.vocabulary, (text) => {
    draft.texts.push({ role, node: text, if_changed: null });
  });
}

/** Adds all texts of all values as the result of a tool. */
export function addToolResult(
  draft: RequestDraft,
  result: { readonly tool: string | null; readonly call_id: string | null },
  values: readonly JsonNode[],
  replaced?: (notice: string) => readonly Splice[],
  meaningOf: (value: JsonNode) => MemberMeaning = () => 'said',
): void {
  const texts: StringNode[] = [];
  for (const value of values) {
    draft.opaque_units += visitTexts(value, meaningOf(value), draft.vocabulary, (text) => texts.push(text));
  }
  const replace = (notice: string) => values.map((each) => replaceNodeText(each, quoteJson(notice)));
  draft.results.push({ ...result, texts, replaced: replaced ?? replace });
}

/** Refuses prompts of token ids: they encode text that cannot be scanned. */
export function readTokenPrompt(draft: RequestDraft, prompt: JsonNode): void {
  const items = getItems(prompt);
  if (![...items, ...items.flatMap(getItems)].some((each) => each.kind === 'number')) return;
  draft.problem =
    'Token ids cannot be read, so they are not sent. Send the text itself (LangChain: `OpenAIEmbeddings(check_embedding_ctx_length=False)`).';
}

/** Returns the splice that replaces a whole value. */
export function replaceNodeText({ start, end }: JsonNode, text: string): Splice {
  return { start, end, text };
}

/** Returns the request, completed with the members that only its format defines. */
export function finishRequest(
  draft: RequestDraft,
  body: JsonNode,
  known: Pick<WireRequest, 'is_stream' | 'max_output_tokens' | 'choices' | 'usage_splice'> &
    Partial<Pick<WireRequest, 'repeatable'>>,
): WireRequest {
  const model = getMember(body, 'model');
  return {
    problem: draft.problem ?? getProblem(body),
    model: model?.kind === 'string' ? model : null,
    repeatable: [],
    ...known,
    texts: draft.texts,
    tool_results: draft.results.map(
      (each): WireToolResult => ({
        ...each,
        tool: each.tool ?? draft.calls.get(each.call_id ?? '') ?? null,
      }),
    ),
    opaque_units: draft.opaque_units,
    repairs: draft.repairs,
  };
}

/** Members that decide the destination and the cost of a request, with their allowed types. */
const SINGLE_MEMBERS: ReadonlyMap<string, readonly JsonNode['kind'][]> = new Map([
  ['model', ['string', 'null']],
  ['stream', ['true', 'false', 'null']],
  ...['n', 'best_of', 'max_tokens', 'max_completion_tokens', 'max_output_tokens'].map(
    (key): [string, JsonNode['kind'][]] => [key, ['number', 'null']],
  ),
]);

/**
 * Returns the problem with the body. A member that is duplicated, or has a form that only some providers read, is
 * ambiguous.
 */
function getProblem(body: JsonNode): string | null {
  if (body.kind !== 'object') return 'The body must be a JSON object.';
  const seen = new Set<string>();
  for (const { key, value } of getMembers(body)) {
    const kinds = SINGLE_MEMBERS.get(key.value);
    if (kinds === undefined) continue;
    if (seen.has(key.value)) return `The body says \`${key.value}\` more than once; say it once.`;
    seen.add(key.value);
    if (!kinds.includes(value.kind)) return `\`${key.value}\` must be of type ${getType(kinds)}.`;
  }
  return null;
}

function getType([kind]: readonly JsonNode['kind'][]): string {
  return kind === 'true' ? 'boolean' : `${kind}`;
}
