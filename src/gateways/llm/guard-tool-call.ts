import { parseJsonTree } from '../../core/json/json-tree.ts';
import { hasDuplicateKeys } from '../../core/json/source.ts';
import type { Content, Json } from '../../core/types/index.ts';
import { type BlockReason, decideCrossing, refuseCrossing } from '../../runtime/enforcement/enforce.ts';
import { buildToolCrossing, presentForCall } from '../../runtime/enforcement/tool-calls.ts';
import type { EnforcementExtras } from '../../runtime/enforcement/types.ts';
import { buildCallMetadata, type CallDenial, type LlmCallContext } from './llm-call.ts';
import { formatContent } from './texts.ts';
import type { TokenMap } from './token-map.ts';
import { type JudgedToolName, judgeToolName } from './tool-name.ts';

/** A tool call that a model asks for. */
export interface ModelToolCall {
  /** `null` where the answer names none, which blocks. */
  readonly tool: string | null;
  readonly arguments: string;
  /** The tool takes a text in a form of its own, and no JSON. */
  readonly is_free: boolean;
}

/** What became of it: what keeps it from going on, or its arguments as they may go on. */
export type GuardedToolCall =
  | { readonly denied: CallDenial; readonly arguments: null }
  | { readonly denied: null; readonly arguments: string };

/** What all calls of one answer share. */
export interface ModelAnswerContext {
  readonly call_context: LlmCallContext;
  /** What is asked for, where events may name it. */
  readonly model: string | null;
  readonly tokens: TokenMap | null;
}

/**
 * Judges a tool call by contract, identity, capability, rules, session and approval, as `/v1/intercept/tool` does.
 * Its event is durable when this resolves. Tokens are restored behind that: what they stand for is declared, so that
 * rules and contracts know of it.
 */
export async function guardToolCall(
  asked: ModelToolCall,
  answering: ModelAnswerContext,
): Promise<GuardedToolCall> {
  const { call_context, tokens, model } = answering;
  const { call, ports, capabilities } = call_context;
  const { tool } = asked;
  if (tool === null || !isValidToolName(tool)) return refuseToolCall(UNNAMED, 'unknown', answering);
  const { shown, refusal } = judgeCalledName(tool, call_context);
  if (refusal !== null) return refuseToolCall(refusal, shown, answering);
  const read = asked.is_free ? readFreeText(asked.arguments) : readArguments(asked.arguments, call_context);
  if (read === null) return refuseToolCall(UNREADABLE, shown, answering);
  const { text, content } = read;
  const { declared_tags } = call.acting;
  const acting = { ...call.acting, declared_tags: [...declared_tags, ...(tokens?.listTags(text) ?? [])] };
  const token = call.capability_token;
  const capability =
    token === null
      ? null
      : await presentForCall(token, { tool, action: 'invoke' }, acting, call.caller, capabilities);
  const crossing = buildToolCrossing(acting, {
    phase: 'request',
    tool,
    content,
    destination_agent_id: null,
    capability,
  });
  const extras: EnforcementExtras = {
    buildMetadata: () => buildCallMetadata(call, model),
    reuse_approval: true,
    recorded_tool: shown,
  };
  const decided = await decideCrossing(
    crossing,
    call.caller,
    'llm_tool_call',
    ports,
    call.approval_request_id,
    extras,
  );
  const ruling = await decided.ruling;
  const { verdict } = ruling;
  if (verdict.decision === 'block')
    return { denied: { ruling, crossing: decided.crossing }, arguments: null };
  const judged = verdict.content === null ? text : formatContent(verdict.content);
  return { denied: null, arguments: tokens === null ? judged : tokens.restoreInJson(judged) };
}

/** The name of a tool as it may be recorded, and what speaks against it. */
export function judgeCalledName(tool: string, { call, ports }: LlmCallContext): JudgedToolName {
  const content = { kind: 'text', text: '' } as const;
  const use = { phase: 'request', tool, content, destination_agent_id: null, capability: null } as const;
  return judgeToolName(buildToolCrossing(call.acting, use), ports);
}

/** Whether a text is fit to name a tool, in an event too: as `/v1/intercept/tool` takes it. */
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

/** Blocks a call that no contract, identity or rule can be evaluated for. */
async function refuseToolCall(
  objected: BlockReason,
  tool: string,
  { call_context, model }: ModelAnswerContext,
): Promise<GuardedToolCall> {
  const { call, ports } = call_context;
  const crossing = buildToolCrossing(call.acting, {
    phase: 'request',
    tool,
    content: { kind: 'text', text: '' },
    destination_agent_id: null,
    capability: null,
  });
  const buildMetadata = () => buildCallMetadata(call, model);
  const ruling = await refuseCrossing(objected, crossing, call.caller, 'llm_tool_call', ports, {
    buildMetadata,
  });
  return { denied: { ruling, crossing }, arguments: null };
}

interface ReadArguments {
  /** What goes on where nothing changes it. */
  readonly text: string;
  readonly content: Content;
}

function readFreeText(text: string): ReadArguments {
  return { text, content: { kind: 'text', text } };
}

/**
 * Reads arguments as they are judged; `null` if they are no JSON, or over a limit: clients mend such arguments, each
 * in its own way. Of members that stand there twice the last one counts, and nothing of the others goes on. A string is
 * no set of arguments: clients that read one as JSON once more would see what was not judged.
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
