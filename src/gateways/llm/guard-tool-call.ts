import { parseJsonTree } from '../../core/json/json-tree.ts';
import { hasDuplicateKeys } from '../../core/json/source.ts';
import type { Content, Json } from '../../core/types/index.ts';
import { buildToolCrossing, NO_TEXT, presentForCall } from '../../runtime/enforcement/crossings.ts';
import type { BlockReason } from '../../runtime/enforcement/enforce.ts';
import type { Ruling } from '../../runtime/enforcement/types.ts';
import type { CallAccount } from './call-account.ts';
import { decideInCall, refuseInCall } from './decide-in-call.ts';
import type { LlmCallContext } from './llm-call.ts';
import { formatContent } from './texts.ts';
import type { TokenMap } from './token-map.ts';
import { sendsTokensOut } from './token-release.ts';
import { type JudgedToolName, judgeToolName } from './tool-name.ts';

/** A tool call in a model's answer. */
export interface ModelToolCall {
  /** `null` if the answer names no tool, which blocks the call. */
  readonly tool: string | null;
  readonly arguments: string;
  /** True if the tool takes free text in a format of its own instead of JSON. */
  readonly is_free: boolean;
}

/** The result of judging a tool call: the denial, or the arguments to forward. */
export type GuardedToolCall =
  | { readonly denied: Ruling; readonly arguments: null }
  | { readonly denied: null; readonly arguments: string };

/** The context that all tool calls of one answer share. */
export interface ModelAnswerContext {
  readonly call_context: LlmCallContext;
  /** The requested model if events may contain it, else `null`. */
  readonly model: string | null;
  readonly tokens: TokenMap | null;
  /** Returns the usage that the provider has reported so far, for the event on the texts; without it there is none. */
  readonly readUsage?: CallAccount['readUsage'];
}

/**
 * Judges a tool call by contract, identity, capability, rules, session and approval, as `/v1/intercept/tool` does.
 * Its event is durable when this resolves. Tokens are restored after the decision; their tags are declared before it,
 * so that rules and contracts take them into account.
 */
export async function guardToolCall(
  requested: ModelToolCall,
  answering: ModelAnswerContext,
): Promise<GuardedToolCall> {
  const { call_context, tokens, model } = answering;
  const { call, presentCapability, ports } = call_context;
  const { tool } = requested;
  if (tool === null || !isValidToolName(tool)) return refuseToolCall(UNNAMED, 'unknown', answering);
  const { shown, refusal } = judgeCalledName(tool, call_context);
  if (refusal !== null) return refuseToolCall(refusal, shown, answering);
  const read = requested.is_free
    ? readFreeText(requested.arguments)
    : readArguments(requested.arguments, call_context);
  if (read === null) return refuseToolCall(UNREADABLE, shown, answering);
  const { text, content } = read;
  const { declared_tags } = call.acting;
  const acting = { ...call.acting, declared_tags: [...declared_tags, ...(tokens?.listTags(text) ?? [])] };
  const token = call.capability_token;
  const capability =
    token === null
      ? null
      : await presentForCall(token, { tool, action: 'invoke' }, acting, call.caller, presentCapability);
  const crossing = buildToolCrossing(acting, {
    phase: 'request',
    tool,
    content,
    capability,
  });
  const extras = { recorded_tool: shown };
  if (acting.declared_tags.length > declared_tags.length && sendsTokensOut(crossing, tokens!, ports.policy))
    return refuseToolCall(SENDS_TOKENS, shown, answering);
  const decided = await decideInCall(crossing, 'llm_tool_call', call_context, model, extras);
  const ruling = await decided.recorded;
  const { verdict } = ruling;
  if (verdict.decision === 'block') return { denied: ruling, arguments: null };
  const judged = verdict.content === null ? text : formatContent(verdict.content);
  return { denied: null, arguments: tokens === null ? judged : tokens.restoreInJson(judged) };
}

/** Returns the name of a tool as events may record it, and the policy's refusal of the name, if any. */
export function judgeCalledName(tool: string, { call, ports }: LlmCallContext): JudgedToolName {
  return judgeToolName(buildToolCrossing(call.acting, { phase: 'request', tool, content: NO_TEXT }), ports);
}

/** Returns whether a text can name a tool, also in an event. `/v1/intercept/tool` uses the same limits. */
export function isValidToolName(text: string): boolean {
  return NAME.test(text);
}

const NAME = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

const UNNAMED: BlockReason = {
  rule: 'tool.unnamed',
  reason: 'The model calls a tool without a name of 1 to 256 characters.',
};

const UNREADABLE: BlockReason = {
  rule: 'tool.arguments_unreadable',
  reason:
    'The arguments of the tool call are not a JSON object within the limits, so they cannot be checked.',
};

const SENDS_TOKENS: BlockReason = {
  rule: 'tool.sends_tokens',
  reason:
    'The tool call would send a redacted value out. To permit it, name the tag in `accepts.tags` of a contract of the tool.',
};

/** Blocks a call that no contract, identity or rule can be evaluated for. */
async function refuseToolCall(
  objected: BlockReason,
  tool: string,
  { call_context, model }: ModelAnswerContext,
): Promise<GuardedToolCall> {
  const { acting } = call_context.call;
  const crossing = buildToolCrossing(acting, { phase: 'request', tool, content: NO_TEXT });
  return { denied: await refuseInCall(objected, crossing, call_context, model), arguments: null };
}

interface ReadArguments {
  /** The text to forward if the policy changes nothing. */
  readonly text: string;
  readonly content: Content;
}

function readFreeText(text: string): ReadArguments {
  return { text, content: { kind: 'text', text } };
}

/**
 * Parses arguments for judging. Returns `null` if they are invalid JSON or exceed a limit, because each client
 * repairs such arguments in its own way. Of duplicate keys the last one counts, and the others are not forwarded. A
 * JSON string is refused too: a client that parses it again would see arguments that were not judged.
 */
function readArguments(text: string, { ports }: LlmCallContext): ReadArguments | null {
  if (text.trim() === '') return { text, content: { kind: 'json', value: {} } };
  const node = parseJsonTree(text, ports.policy.limits);
  if (node.kind === 'problem' || node.kind === 'string') return null;
  const value = JSON.parse(text) as Json;
  return hasDuplicateKeys(node)
    ? { text: JSON.stringify(value), content: { kind: 'json', value } }
    : { text, content: { kind: 'json', value, source: { text, root: node } } };
}
