import { getItems, getMember, getMembers } from '../json/nodes.ts';
import { quoteJson } from '../json/splice.ts';
import type { JsonMember, JsonNode, Splice, StringNode } from '../types/json.ts';
import { type MemberMeaning, visitMemberTexts, visitTexts, type WireVocabulary } from './vocabulary.ts';
import type { WireRequest, WireText, WireToolResult } from './wire-format.ts';

/** A request while it is read. Each string of the body is given to one of its functions exactly once. */
export interface RequestDraft {
  readonly texts: WireText[];
  readonly results: ResultDraft[];
  /** Names of the tools by the ids of their calls. */
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

/** A request of which nothing was read yet. */
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

/** Takes all texts of a value for this role. */
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

/** Takes all texts of a member for this role, its key too where the protocol does not know it. */
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

/** Takes all texts of all values as what a tool gave back. */
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

/** Token ids are text that nobody here can read, and what cannot be read is not sent. */
export function readTokenPrompt(draft: RequestDraft, prompt: JsonNode): void {
  const items = getItems(prompt);
  if (![...items, ...items.flatMap(getItems)].some((each) => each.kind === 'number')) return;
  draft.problem =
    'Token ids cannot be read, so they are not sent. Send the text itself (LangChain: `OpenAIEmbeddings(check_embedding_ctx_length=False)`).';
}

/** Other text in place of a whole value. */
export function replaceNodeText({ start, end }: JsonNode, text: string): Splice {
  return { start, end, text };
}

/** The request, with what only its format knows. */
export function finishRequest(
  draft: RequestDraft,
  body: JsonNode,
  known: Pick<WireRequest, 'is_stream' | 'max_output_tokens' | 'choices' | 'usage_splice'> &
    Partial<Pick<WireRequest, 'repeatable'>>,
): WireRequest {
  const model = getMember(body, 'model');
  return {
    problem: draft.problem ?? problemOf(body),
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

/** Members that decide where a request goes and what it may cost, with what they may be. */
const TOLD_ONCE: ReadonlyMap<string, readonly JsonNode['kind'][]> = new Map([
  ['model', ['string', 'null']],
  ['stream', ['true', 'false', 'null']],
  ...['n', 'best_of', 'max_tokens', 'max_completion_tokens', 'max_output_tokens'].map(
    (key): [string, JsonNode['kind'][]] => [key, ['number', 'null']],
  ),
]);

/** Told twice, or in a form that some providers read and others do not, nobody can say what they mean. */
function problemOf(body: JsonNode): string | null {
  if (body.kind !== 'object') return 'The body must be a JSON object.';
  const seen = new Set<string>();
  for (const { key, value } of getMembers(body)) {
    const kinds = TOLD_ONCE.get(key.value);
    if (kinds === undefined) continue;
    if (seen.has(key.value)) return `The body says \`${key.value}\` more than once; say it once.`;
    seen.add(key.value);
    if (!kinds.includes(value.kind)) return `\`${key.value}\` must be of type ${typeOf(kinds)}.`;
  }
  return null;
}

function typeOf([kind]: readonly JsonNode['kind'][]): string {
  return kind === 'true' ? 'boolean' : `${kind}`;
}
