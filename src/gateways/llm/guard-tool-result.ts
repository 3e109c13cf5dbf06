import { findContract } from '../../core/decision/find-contract.ts';
import { parseJsonContent } from '../../core/json/source.ts';
import { isUntouched } from '../../core/stream/merge-verdicts.ts';
import type { Content, Crossing, Verdict } from '../../core/types/index.ts';
import type { Splice } from '../../core/types/json.ts';
import type { WireToolResult } from '../../core/wire/wire-format.ts';
import { buildToolCrossing } from '../../runtime/enforcement/crossings.ts';
import type { PendingRuling } from '../../runtime/enforcement/enforce.ts';
import { decideInCall } from './decide-in-call.ts';
import { isValidToolName } from './guard-tool-call.ts';
import type { LlmCallContext } from './llm-call.ts';
import type { CallResultCache } from './result-cache.ts';
import { buildTextSplices, buildTextsContent, extractTexts, formatContent } from './texts.ts';
import { judgeToolName } from './tool-name.ts';

/** The decision on a tool result, and the changes that it makes to the body. */
export interface GuardedToolResult {
  readonly decision: PendingRuling;
  readonly splices: readonly Splice[];
}

/** The tool's name if no call in the conversation belongs to the result. */
const UNKNOWN_TOOL = 'unknown';
const UNTRUSTED = 'untrusted.tool_result';

/**
 * Judges a tool result. A notice replaces a blocked result, so that the conversation can continue. Returns `null` if
 * the same result was allowed unchanged before.
 */
export async function guardToolResult(
  callContext: LlmCallContext,
  result: WireToolResult,
  known: CallResultCache | null,
): Promise<GuardedToolResult | null> {
  const { call, ports } = callContext;
  const tool = result.tool !== null && isValidToolName(result.tool) ? result.tool : UNKNOWN_TOOL;
  const texts = result.texts.map(({ value }) => value);
  const key = known?.computeKey(tool, texts) ?? null;
  if (key !== null && known?.has(key)) return null;
  const content = buildTextsContent(texts);
  const acting = { ...call.acting, declared_tags: [...call.acting.declared_tags, UNTRUSTED] };
  const use = { phase: 'response', tool, content } as const;
  const crossing = parseContractFields(buildToolCrossing(acting, use), callContext);
  const extras = { recorded_tool: judgeToolName(crossing, ports).shown };
  const decision = await decideInCall(crossing, 'llm_tool_result', callContext, null, extras);
  const { verdict, classification } = decision;
  const isClassified = (classification?.failed.length ?? 0) === 0;
  if (key !== null && known !== null && isClassified && isUntouched(verdict)) {
    // Cached only when its event is durable; an earlier request may not rely on it. After a failure of a classifier the result is not cached.
    void decision.recorded.then((ruling) => {
      if (isUntouched(ruling.verdict)) known.add(key);
    });
  }
  const isList = crossing.content === content;
  return { decision, splices: buildResultSplices(result, verdict, isList ? texts.length : 0) };
}

/** Parses the text as JSON if the tool has a contract with fields, because contracts describe fields. */
function parseContractFields(crossing: Crossing, { ports }: LlmCallContext): Crossing {
  const { content } = crossing;
  if (content.kind !== 'text') return crossing;
  const contract = findContract(crossing, ports.policy);
  if (contract === null || contract === 'undeclared' || contract.emits.fields.length === 0) return crossing;
  const read = parseJsonContent(content.text, ports.policy.limits);
  const hasFields = read.kind === 'json' && typeof read.value === 'object' && read.value !== null;
  return hasFields ? { ...crossing, content: read } : crossing;
}

function buildResultSplices(result: WireToolResult, verdict: Verdict, count: number): readonly Splice[] {
  if (verdict.decision === 'block') return result.replaced(buildNotice(verdict));
  if (verdict.decision === 'allow' || verdict.content === null) return [];
  const texts = extractTexts(verdict.content as Content, count);
  return texts === null
    ? result.replaced(formatContent(verdict.content))
    : buildTextSplices(result.texts, texts);
}

/** Builds the notice that the model reads in place of the result. It contains text of the policy only. */
function buildNotice({ reason }: Verdict): string {
  return `[The result of this tool was withheld. ${reason}]`;
}
