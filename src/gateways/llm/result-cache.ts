import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { usesSessionTags } from '../../core/decision/taint.ts';
import { hasConditions } from '../../core/policy/conditions/facts.ts';
import type { Policy } from '../../core/types/index.ts';
import type { ActorContext } from '../../runtime/enforcement/tool-calls.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';

/**
 * Results of tools that were let be unchanged before, by their keyed hashes: a conversation says them again each turn,
 * and would write an event for each of them each time. Looking at other texts again costs less than their hash.
 */
export interface ResultCache {
  /** For one call; `null` where what is decided on a result may depend on more than its text. */
  readonly forCall: (ports: EnforcementPorts, acting: ActorContext) => CallResultCache | null;
}

export interface CallResultCache {
  /** The name under which the result of a tool is known. */
  readonly computeKey: (tool: string, texts: readonly string[]) => string;
  readonly has: (key: string) => boolean;
  readonly add: (key: string) => void;
}

/** Opens what one process knows; the key is its own, and ends with it. */
export function openResultCache(entries_max: number): ResultCache {
  // Made once: of bytes it is made anew for each result, which takes longer than a short one's hash.
  const key = createSecretKey(randomBytes(32));
  let young = new Set<string>();
  let old = new Set<string>();
  const add = (name: string): void => {
    if (young.size >= entries_max / 2) {
      old = young;
      young = new Set();
    }
    young.add(name);
  };
  const has = (name: string): boolean => {
    if (young.has(name)) return true;
    if (!old.has(name)) return false;
    add(name);
    return true;
  };
  return {
    forCall: (
      { policy, logged_texts },
      { tenant_id, agent_id, source_agent_id, session_id, declared_tags },
    ) => {
      const writes_texts = logged_texts?.inputs === true || logged_texts?.outputs === true;
      if (entries_max === 0 || writes_texts || !dependsOnTextAlone(policy, tenant_id)) return null;
      const who = JSON.stringify([
        policy.hash,
        tenant_id,
        agent_id,
        source_agent_id,
        session_id,
        declared_tags,
      ]);
      const computeKey: CallResultCache['computeKey'] = (tool, texts) => {
        const mac = createHmac('sha256', key).update(`${who}\n${JSON.stringify(tool)}`, 'utf16le');
        // A large text is not put together with what stands before it, for that would copy it.
        for (const text of texts) mac.update(`\n${text.length}\n`, 'utf16le').update(text, 'utf16le');
        return mac.digest('base64');
      };
      return { computeKey, has, add };
    },
  };
}

const answers = new WeakMap<Policy, boolean>();

/** Whether no session, condition or person has a say, so that the same text is always judged the same. */
function dependsOnTextAlone(policy: Policy, tenant_id: string): boolean {
  let alone = answers.get(policy);
  if (alone === undefined) {
    const asks =
      [...policy.rules, ...policy.builtin_rules].some(({ action }) => action === 'require_approval') ||
      policy.default_action === 'require_approval';
    alone = !asks && !hasConditions(policy);
    answers.set(policy, alone);
  }
  return alone && !usesSessionTags(policy, tenant_id);
}
