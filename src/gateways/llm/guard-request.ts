import { replaceFindings } from '../../core/decision/redact.ts';
import type { Crossing, Verdict } from '../../core/types/index.ts';
import type { Splice } from '../../core/types/json.ts';
import { looksLikeIdentifier } from '../../core/wire/vocabulary.ts';
import type { WireRequest, WireText } from '../../core/wire/wire-format.ts';
import { decideCrossing, type PendingRuling } from '../../runtime/enforcement/enforce.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import { guardToolResult } from './guard-tool-result.ts';
import { findIdentityPlaces } from './identity-places.ts';
import { buildCallMetadata, type CallDenial, type LlmCallContext } from './llm-call.ts';
import { buildStringSplice, extractTexts } from './texts.ts';
import { openTokenMap, type TokenMap } from './token-map.ts';

/** A request that was judged. Nothing of what came of it may be told before `written` has resolved. */
export interface GuardedRequest {
  /** Whether it must not be sent: `written` tells why. */
  readonly is_blocked: boolean;
  /** What the policy changes in the body. */
  readonly splices: readonly Splice[];
  /** The model that is asked for, as the policy lets it be named; `null` where none is. */
  readonly model: string | null;
  /** The same where nothing was found in it, so that events and traces may name it. */
  readonly shown_model: string | null;
  /** `null` where nothing has a token. */
  readonly tokens: TokenMap | null;
  /** Resolves when all events are durable: with the ruling on the input, or with what keeps the call from going on. */
  readonly recorded: Promise<RecordedRequest>;
}

export type RecordedRequest =
  | { readonly denied: null; readonly input: Ruling }
  | { readonly denied: CallDenial; readonly input: null };

/**
 * Judges what a request says: what tools gave back each by itself, then all else together at `input`, so that the
 * session has read both before anything of the answer is judged.
 */
export async function guardRequest(
  call_context: LlmCallContext,
  request: WireRequest,
): Promise<GuardedRequest> {
  const known = call_context.result_cache.forCall(call_context.ports, call_context.call.acting);
  const splices: Splice[] = [];
  const results: PendingRuling[] = [];
  for (const result of request.tool_results) {
    const guarded = await guardToolResult(call_context, result, known);
    if (guarded === null) continue;
    splices.push(...guarded.splices);
    results.push(guarded.decision);
  }
  const { decision, ...input } = await guardInput(call_context, request);
  return {
    is_blocked: decision.verdict.decision === 'block',
    ...input,
    splices: [...splices, ...input.splices],
    recorded: waitForRecords(decision, results).then((written) => {
      const { crossing } = decision;
      if (written.denied === null)
        call_context.call.onRuling?.({ boundary: 'input', ruling: written.input, crossing });
      return written;
    }),
  };
}

/** What was let be before the journal refused its event is not let be. */
async function waitForRecords(
  input: PendingRuling,
  results: readonly PendingRuling[],
): Promise<RecordedRequest> {
  for (const { crossing, verdict, ruling: pending } of results) {
    const ruling = await pending;
    if (ruling.verdict.fault && !verdict.fault) return { denied: { ruling, crossing }, input: null };
  }
  const ruling = await input.ruling;
  return ruling.verdict.decision === 'block'
    ? { denied: { ruling, crossing: input.crossing }, input: null }
    : { denied: null, input: ruling };
}

interface GuardedInput extends Pick<GuardedRequest, 'splices' | 'model' | 'shown_model' | 'tokens'> {
  readonly decision: PendingRuling;
}

/** Judges all that is said, and last the model's name, for that goes to the provider too. */
async function guardInput(call_context: LlmCallContext, request: WireRequest): Promise<GuardedInput> {
  const { call, ports, settings } = call_context;
  const model = call.in_path?.model ?? request.model?.value ?? '';
  const said = request.texts.map(({ node }) => node.value);
  const looked_at = [...said, model];
  const crossing: Crossing = {
    ...call.acting,
    boundary: 'input',
    phase: null,
    content: { kind: 'json', value: looked_at },
    destination_agent_id: call.format.family,
    tool: null,
    identity_places: findIdentityPlaces(request.texts),
  };
  const buildMetadata = (verdict: Verdict) =>
    buildCallMetadata(call, findShowableModel(model, verdict, said.length));
  const decision = await decideCrossing(
    crossing,
    call.caller,
    'llm_request',
    ports,
    call.approval_request_id,
    { buildMetadata, reuse_approval: true },
  );
  const { verdict } = decision;
  const is_tokenized =
    settings.mode === 'tokenize' && verdict.decision === 'modify' && !verdict.fallback_used;
  const tokens = is_tokenized ? openTokenMap(said) : null;
  const changed = readChangedTexts(crossing, verdict, tokens) ?? looked_at;
  const named = changed.at(-1) as string;
  return {
    decision,
    tokens,
    model: named === '' ? null : named,
    shown_model: findShowableModel(model, verdict, said.length),
    splices: [
      ...request.texts.flatMap((text, at) => buildTextChange(text, changed[at]!)),
      ...(request.model === null || named === model ? [] : [buildStringSplice(request.model, named)]),
    ],
  };
}

/** The name as an event may hold it; `null` where something was found in it, or where it is no name. */
function findShowableModel(
  model: string,
  { findings, allowlisted_findings }: Verdict,
  leaf: number,
): string | null {
  const is_found = [...findings, ...allowlisted_findings].some((finding) => finding.leaf === leaf);
  return model === '' || is_found || !looksLikeIdentifier(model) ? null : model;
}

/** What was looked at as the policy lets it go on, masked or with tokens; `null` where it is unchanged. */
function readChangedTexts(
  crossing: Crossing,
  verdict: Verdict,
  tokens: TokenMap | null,
): readonly string[] | null {
  if (verdict.decision !== 'modify' || verdict.content === null) return null;
  const { content } = crossing;
  const count = content.kind === 'json' ? (content.value as readonly string[]).length : 1;
  const masked = verdict.findings.filter(({ action }) => action === 'redact');
  const changed = tokens === null ? verdict.content : replaceFindings(content, masked, tokens.getToken);
  const texts = extractTexts(changed, count);
  if (texts === null) throw new Error('a list of texts stays one');
  return texts;
}

function buildTextChange({ node, if_changed }: WireText, text: string): readonly Splice[] {
  return text === node.value ? [] : (if_changed ?? [buildStringSplice(node, text)]);
}
