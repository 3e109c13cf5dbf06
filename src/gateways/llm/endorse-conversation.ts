import { hash } from 'node:crypto';
import type { WireRequest, WireText } from '../../core/wire/wire-format.ts';
import { endorsePrompt } from '../../runtime/enforcement/endorse-prompt.ts';
import type { LlmCallContext } from './llm-call.ts';

/**
 * Keeps the values that the operator and, if its role is trusted, a person gave in a conversation. Never rejects.
 */
export async function endorseConversation(
  { call, ports, settings }: LlmCallContext,
  request: WireRequest,
  eventId: string,
): Promise<void> {
  const { endorsing = null } = settings;
  if (endorsing === null) return;
  const { operator_prompts, trusts_user_role } = endorsing;
  const { texts, tool_results } = request;
  const conversation = {
    first: texts.find(({ role }) => role === 'user')?.node.value ?? null,
    newest: trusts_user_role ? listNewestTexts(request, call.body).map(({ node }) => node.value) : [],
    operator: texts
      .filter(
        ({ role, node }) => role === 'system' && operator_prompts.has(hash('sha256', node.value, 'hex')),
      )
      .map(({ node }) => node.value),
    tool_results: tool_results.flatMap((result) => result.texts.map(({ value }) => value)),
  };
  await endorsePrompt(conversation, call.acting, call.caller, eventId, ports);
}

/**
 * Returns the texts of the newest `user` message. There is none if the model or a tool answered after it, because its
 * words were kept when it was the newest. A message that also has a tool result has none either: clients put their own
 * texts next to results.
 */
function listNewestTexts(
  { texts, tool_results }: Pick<WireRequest, 'texts' | 'tool_results'>,
  body: Uint8Array,
): readonly WireText[] {
  // Without a place, it is not known which messages came after a result.
  if (tool_results.some((result) => result.texts.length === 0)) return [];
  const answers = texts.filter(({ role }) => role === 'assistant').map(({ node }) => node.start);
  const results = tool_results.flatMap((result) => result.texts.map(({ start }) => start));
  const lastAnswer = Math.max(-1, ...answers);
  const lastResult = Math.max(-1, ...results);
  if (lastResult > lastAnswer) return [];
  const typed = texts.filter(({ role, node }) => role === 'user' && node.start > lastAnswer);
  const text = Buffer.from(body).toString('utf8');
  const isOtherMessage = (at: number): boolean =>
    at > 0 && text.slice(typed[at - 1]!.node.end, typed[at]!.node.start).includes('"role"');
  let first = Math.max(0, typed.length - 1);
  while (first > 0 && !isOtherMessage(first)) first -= 1;
  return typed.slice(first);
}
