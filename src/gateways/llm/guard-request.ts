import { replaceFindings } from '../../core/decision/redact.ts';
import type { Crossing, Verdict } from '../../core/types/index.ts';
import type { Splice } from '../../core/types/json.ts';
import { looksLikeIdentifier } from '../../core/wire/vocabulary.ts';
import type { WireRequest, WireText } from '../../core/wire/wire-format.ts';
import { buildTextCrossing } from '../../runtime/enforcement/crossings.ts';
import type { PendingRuling } from '../../runtime/enforcement/enforce.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import { decideInCall } from './decide-in-call.ts';
import { endorseConversation } from './endorse-conversation.ts';
import { guardToolResult } from './guard-tool-result.ts';
import { findIdentityPlaces } from './identity-places.ts';
import { buildCallMetadata, type LlmCallContext } from './llm-call.ts';
import { buildStringSplice, extractTexts } from './texts.ts';
import { openTokenMap, type TokenMap } from './token-map.ts';

/** A judged request. Nothing that results from it may be returned before `recorded` has resolved. */
export interface GuardedRequest {
  /** True if the request must not be sent. `recorded` is the reason. */
  readonly is_blocked: boolean;
  /** The changes that the policy makes to the body. */
  readonly splices: readonly Splice[];
  /** The requested model, as the policy rewrote it; `null` if the request names none. */
  readonly model: string | null;
  /** The requested model if events and traces may contain it: nothing was found in it. */
  readonly shown_model: string | null;
  /** `null` if no value was replaced with a token. */
  readonly tokens: TokenMap | null;
  /** Resolves when all events are durable, with the ruling on the input. If it blocks, the call is denied. */
  readonly recorded: Promise<Ruling>;
}

/**
 * Judges a request: each tool result by itself, then everything else together at `input`. The session has the taint
 * tags of both before any part of the answer is judged.
 */
export async function guardRequest(
  callContext: LlmCallContext,
  request: WireRequest,
): Promise<GuardedRequest> {
  const known = callContext.result_cache.forCall(callContext.ports, callContext.call.acting);
  const splices: Splice[] = [];
  const results: PendingRuling[] = [];
  for (const result of request.tool_results) {
    const guarded = await guardToolResult(callContext, result, known);
    if (guarded === null) continue;
    splices.push(...guarded.splices);
    results.push(guarded.decision);
  }
  const { decision, ...input } = await guardInput(callContext, request);
  return {
    is_blocked: decision.verdict.decision === 'block',
    ...input,
    splices: [...splices, ...input.splices],
    recorded: waitForRecords(decision, results).then(async (ruling) => {
      if (ruling.verdict.decision === 'block') return ruling;
      await endorseConversation(callContext, request, ruling.event_id);
      callContext.call.onRuling?.(ruling);
      return ruling;
    }),
  };
}

/** Waits for the events. If the journal refuses the event of an allowed result, that ruling denies the call. */
async function waitForRecords(input: PendingRuling, results: readonly PendingRuling[]): Promise<Ruling> {
  for (const { verdict, recorded } of results) {
    const ruling = await recorded;
    if (ruling.verdict.fault && !verdict.fault) return ruling;
  }
  return input.recorded;
}

interface GuardedInput extends Pick<GuardedRequest, 'splices' | 'model' | 'shown_model' | 'tokens'> {
  readonly decision: PendingRuling;
}

/** Judges all texts, and the name of the model as the last of them, because it goes to the provider too. */
async function guardInput(callContext: LlmCallContext, request: WireRequest): Promise<GuardedInput> {
  const { call, settings } = callContext;
  const model = call.in_path?.model ?? request.model?.value ?? '';
  const stated = request.texts.map(({ node }) => node.value);
  const lookedAt = [...stated, model];
  const content = { kind: 'json', value: lookedAt } as const;
  const crossing: Crossing = {
    ...buildTextCrossing('input', call.acting, content, { destination_agent_id: call.format.family }),
    identity_places: findIdentityPlaces(request.texts),
  };
  const buildMetadata = (verdict: Verdict) =>
    buildCallMetadata(call, findShowableModel(model, verdict, stated.length));
  const decision = await decideInCall(crossing, 'llm_request', callContext, null, { buildMetadata });
  const { verdict } = decision;
  const isTokenized = settings.mode === 'tokenize' && verdict.decision === 'modify' && !verdict.fallback_used;
  const tokens = isTokenized ? openTokenMap(stated) : null;
  const changed = readChangedTexts(crossing, verdict, tokens) ?? lookedAt;
  const named = changed.at(-1) as string;
  return {
    decision,
    tokens,
    model: named === '' ? null : named,
    shown_model: findShowableModel(model, verdict, stated.length),
    splices: [
      ...request.texts.flatMap((text, at) => buildTextChange(text, changed[at]!)),
      ...(request.model === null || named === model ? [] : [buildStringSplice(request.model, named)]),
    ],
  };
}

/** Returns the model's name if events may contain it; `null` if it has findings or is not an identifier. */
function findShowableModel(
  model: string,
  { findings, allowlisted_findings }: Verdict,
  leaf: number,
): string | null {
  const isFound = [...findings, ...allowlisted_findings].some((finding) => finding.leaf === leaf);
  return model === '' || isFound || !looksLikeIdentifier(model) ? null : model;
}

/** Returns the judged texts as the policy changed them, masked or with tokens; `null` if they are unchanged. */
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
