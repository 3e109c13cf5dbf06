import { computeValuesChangeOnDemand } from '../../core/flow/lazy.ts';
import { usesSources, usesValues } from '../../core/flow/uses-values.ts';
import type { Label, ValuesChange } from '../../core/types/index.ts';
import type { Caller } from '../access/types.ts';
import { type ActorContext, buildTextCrossing } from './crossings.ts';
import { getOwner, isChild } from './sessions/values.ts';
import type { EnforcementPorts } from './types.ts';
import { findUntrustedTexts, matchesFirstText, saveUntrustedTexts } from './values/conversation-texts.ts';

/** The texts in one request to a model, by their author. */
export interface ConversationTexts {
  /** The first `user` text; `null` if there is none. */
  readonly first: string | null;
  /** The newest `user` message, if the model has not answered it yet. */
  readonly newest: readonly string[];
  /** Texts that the configuration lists as the operator's. */
  readonly operator: readonly string[];
  /** Texts that tools returned. */
  readonly tool_results: readonly string[];
}

/**
 * Keeps the values that a person or the operator gave in a conversation, after its request has passed. Never rejects:
 * values that cannot be kept permit nothing.
 */
export async function endorsePrompt(
  texts: ConversationTexts,
  actor: ActorContext,
  caller: Caller,
  eventId: string,
  { policy, sessions, onSessionFault }: EnforcementPorts,
): Promise<void> {
  if (actor.session_id === null || sessions?.values === undefined) return;
  if (!usesValues(policy, actor.tenant_id)) return;
  const { store: open, limits, timeOf, values: index } = sessions;
  try {
    const store = await open();
    const nowMs = timeOf(actor.now_ms);
    const owner = getOwner(actor, caller.id);
    const { conversation_owner, hashText } = index.openConversation(owner);
    await saveUntrustedTexts(store, conversation_owner, texts.tool_results.map(hashText), nowMs);
    const loaded = await index.load(store, owner, nowMs, limits);
    if (isChild(actor, loaded)) return;
    const isSame =
      texts.first !== null &&
      (await matchesFirstText(
        store,
        conversation_owner,
        { session_hash: hashText(`session ${actor.session_id}`), first_hash: hashText(texts.first) },
        nowMs,
      ));
    const known = await findUntrustedTexts(store, conversation_owner, texts.newest.map(hashText), nowMs);
    const typed = isSame ? texts.newest.filter((text) => !known.has(hashText(text))) : [];
    const compute = (list: readonly string[], label: Label): ValuesChange | null =>
      list.length === 0
        ? null
        : computeValuesChangeOnDemand(
            {
              ...buildTextCrossing('input', actor, { kind: 'json', value: list }),
              declared_tags: [],
              content_label: label,
              values_seen: loaded.seen,
            },
            null,
            policy.limits,
            usesSources(policy),
          );
    const add = [compute(typed, 'user'), compute(texts.operator, 'operator')].flatMap(
      (each) => each?.add ?? [],
    );
    if (add.length === 0) return;
    const change = { add, end: [], event_id: eventId, origin: typed.length > 0 ? 'user' : null } as const;
    await index.save(store, loaded, change, nowMs, limits);
  } catch (fault) {
    onSessionFault?.(fault);
  }
}
