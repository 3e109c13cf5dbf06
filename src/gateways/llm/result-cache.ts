import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { usesSessionTags } from '../../core/decision/taint.ts';
import { hasConditions } from '../../core/policy/conditions/facts.ts';
import type { Policy } from '../../core/types/index.ts';
import type { ActorContext } from '../../runtime/enforcement/crossings.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';

/**
 * The keyed hashes of tool results that were allowed unchanged. A conversation repeats its results in each turn;
 * without this cache each repetition would write an event. Other texts are not cached because scanning them again
 * costs less than hashing them.
 */
export interface ResultCache {
  /** Returns the cache for one call; `null` if the decision on a result may depend on more than its text. */
  readonly forCall: (ports: EnforcementPorts, acting: ActorContext) => CallResultCache | null;
}

/** The cache as one call uses it. Its keys include the policy, the client identity and the session. */
export interface CallResultCache {
  /** Computes the cache key of a tool's result. */
  readonly computeKey: (tool: string, texts: readonly string[]) => string;
  readonly has: (key: string) => boolean;
  readonly add: (key: string) => void;
}

/**
 * Opens a cache of at most `entriesMax` results for one process. Its HMAC key is random and never leaves the
 * process.
 */
export function openResultCache(entriesMax: number): ResultCache {
  // Created once: `createHmac` would convert raw bytes for each result, which takes longer than hashing a short one.
  const key = createSecretKey(randomBytes(32));
  let young = new Set<string>();
  let old = new Set<string>();
  const add = (name: string): void => {
    if (young.size >= entriesMax / 2) {
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
      const writesTexts = logged_texts?.inputs === true || logged_texts?.outputs === true;
      if (entriesMax === 0 || writesTexts || !dependsOnTextAlone(policy, tenant_id)) return null;
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
        // Large texts are hashed one by one because joining them would copy them.
        for (const text of texts) mac.update(`\n${text.length}\n`, 'utf16le').update(text, 'utf16le');
        return mac.digest('base64');
      };
      return { computeKey, has, add };
    },
  };
}

const answers = new WeakMap<Policy, boolean>();

/** Returns whether the decision depends on the text alone: on no session taint tags, conditions or approvals. */
function dependsOnTextAlone(policy: Policy, tenantId: string): boolean {
  let alone = answers.get(policy);
  if (alone === undefined) {
    const needsApproval =
      [...policy.rules, ...policy.builtin_rules].some(({ action }) => action === 'require_approval') ||
      policy.default_action === 'require_approval';
    alone = !needsApproval && !hasConditions(policy);
    answers.set(policy, alone);
  }
  return alone && !usesSessionTags(policy, tenantId);
}
