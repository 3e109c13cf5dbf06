import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { hasConditions } from '../../core/conditions/facts.ts';
import { asksSessions } from '../../core/flow.ts';
import type { Policy } from '../../core/types.ts';
import type { Acting } from '../tool-calls.ts';
import type { Ports } from '../types.ts';

/** Texts of earlier requests in which nothing was found, by their keyed hashes: conversations say them again each turn. */
export interface Unchanged {
  /** For one call; `null` where what is decided on a text may depend on more than the text. */
  readonly forCall: (ports: Ports, acting: Acting) => KnownTexts | null;
}

export interface KnownTexts {
  /** The name under which texts are known; `as` says as what they are judged: a role, a tool. */
  readonly keyOf: (as: string, texts: readonly string[]) => string;
  readonly has: (key: string) => boolean;
  readonly add: (key: string) => void;
}

/** Shorter ones are looked at in less time than their hash takes. */
export const KNOWN_UNITS_MIN = 2_048;

/** Opens what one process knows; the key is its own, and ends with it. */
export function openUnchanged(entries_max: number): Unchanged {
  // Made once: of bytes it is made anew for each text, which takes longer than a short text's hash.
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
    forCall: (ports, { tenant_id, agent_id, source_agent_id, declared_tags }) => {
      const { policy, logged } = ports;
      const writes_texts = logged?.inputs === true || logged?.outputs === true;
      if (entries_max === 0 || writes_texts || !isAboutTextsAlone(policy, tenant_id)) return null;
      const who = JSON.stringify([policy.hash, tenant_id, agent_id, source_agent_id, declared_tags]);
      const keyOf: KnownTexts['keyOf'] = (as, texts) => {
        const mac = createHmac('sha256', key).update(`${who}\n${JSON.stringify(as)}`, 'utf16le');
        // A large text is not put together with what stands before it, for that would copy it.
        for (const text of texts) mac.update(`\n${text.length}\n`).update(text, 'utf16le');
        return mac.digest('base64');
      };
      return { keyOf, has, add };
    },
  };
}

const answers = new WeakMap<Policy, boolean>();

/** Whether no session, condition or person has a say, so that the same text is always judged the same. */
function isAboutTextsAlone(policy: Policy, tenant_id: string): boolean {
  let alone = answers.get(policy);
  if (alone === undefined) {
    const asks =
      [...policy.rules, ...policy.builtin_rules].some(({ action }) => action === 'require_approval') ||
      policy.default_action === 'require_approval';
    alone = !asks && !hasConditions(policy);
    answers.set(policy, alone);
  }
  return alone && !asksSessions(policy, tenant_id);
}
