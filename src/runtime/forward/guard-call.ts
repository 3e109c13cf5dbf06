import { hasTwins } from '../../core/json-source.ts';
import type { Content, Json } from '../../core/types.ts';
import { readJson } from '../../core/wire/json-text.ts';
import { decide, refuse } from '../enforce.ts';
import { showForCall, toolCrossing } from '../tool-calls.ts';
import { aboutCall, type Denial, type Road } from './call.ts';
import { plainText } from './texts.ts';
import type { Tokens } from './tokens.ts';

/** A tool call that a model asks for. */
export interface AskedCall {
  /** `null` where the answer names none, which blocks. */
  readonly tool: string | null;
  /** As JSON; a model may also write what is none. */
  readonly arguments: string;
}

/** What became of it: what keeps it from going on, or its arguments as they may go on. */
export type GuardedCall =
  | { readonly denied: Denial; readonly arguments: null }
  | { readonly denied: null; readonly arguments: string };

/** What all calls of one answer share. */
export interface Answering {
  readonly road: Road;
  /** What is asked for, where events may name it. */
  readonly model: string | null;
  readonly tokens: Tokens | null;
}

/**
 * Judges a tool call by contract, identity, capability, rules, session and approval, as `/v1/intercept/tool` does.
 * Its event is durable when this resolves. Tokens are restored behind that: what they stand for is declared, so that
 * rules and contracts know of it.
 */
export async function guardCall(asked: AskedCall, answering: Answering): Promise<GuardedCall> {
  const { road, tokens, model } = answering;
  const { call, ports, capabilities } = road;
  const { tool } = asked;
  if (tool === null || !isToolName(tool)) return unnamed(answering);
  const { text, content } = readArguments(asked.arguments, road);
  const { declared_tags } = call.acting;
  const acting = { ...call.acting, declared_tags: [...declared_tags, ...(tokens?.tagsIn(text) ?? [])] };
  const token = call.capability_token;
  const capability =
    token === null
      ? null
      : await showForCall(token, { tool, action: 'invoke' }, acting, call.caller, capabilities);
  const crossing = toolCrossing(acting, {
    phase: 'request',
    tool,
    content,
    destination_agent_id: null,
    capability,
  });
  const extras = { about: () => aboutCall(call, model), finds_approved: true };
  const decided = await decide(
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
  const judged = verdict.content === null ? text : plainText(verdict.content);
  return { denied: null, arguments: tokens === null ? judged : tokens.restoredInJson(judged) };
}

/** Whether a text is fit to name a tool, in an event too: as `/v1/intercept/tool` takes it. */
export function isToolName(text: string): boolean {
  return NAME.test(text);
}

const NAME = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** A call that no contract, identity or rule could be asked about. */
async function unnamed({ road, model }: Answering): Promise<GuardedCall> {
  const { call, ports } = road;
  const crossing = toolCrossing(call.acting, {
    phase: 'request',
    tool: 'unknown',
    content: { kind: 'text', text: '' },
    destination_agent_id: null,
    capability: null,
  });
  const reason = 'The model calls a tool without a name of 1 to 256 characters.';
  const objected = { rule: 'tool.unnamed', reason };
  const about = () => aboutCall(call, model);
  const ruling = await refuse(objected, crossing, call.caller, 'llm_tool_call', ports, { about });
  return { denied: { ruling, crossing }, arguments: null };
}

interface ReadArguments {
  /** What goes on where nothing changes it. */
  readonly text: string;
  readonly content: Content;
}

/**
 * The arguments as they are judged. Of members that stand there twice the last one counts, and nothing of the others
 * goes on: what was not judged is not sent.
 */
function readArguments(text: string, { ports }: Road): ReadArguments {
  if (text.trim() === '') return { text, content: { kind: 'json', value: {} } };
  const node = readJson(text, ports.policy.limits);
  // What is over a limit is over it as a text too, or is looked at as one.
  if (node.kind === 'problem') return { text, content: { kind: 'text', text } };
  const value = JSON.parse(text) as Json;
  return hasTwins(node)
    ? { text: JSON.stringify(value), content: { kind: 'json', value } }
    : { text, content: { kind: 'json', value, source: { text, root: node } } };
}
