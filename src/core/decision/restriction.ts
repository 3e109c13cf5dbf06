import type { Action, Finding, Tag, Violation } from '../types/index.ts';

/** The tags of a crossing without fact tags, and the findings that carry them. */
export interface TaggedData {
  readonly tags: readonly Tag[];
  readonly findings: readonly Finding[];
}

/** A block or approval that a contract, an identity or a capability token requires for a crossing. */
export interface Restriction {
  /** `null` if nothing is violated and approval is required all the same. */
  readonly violation: Violation | null;
  /** The rule's name in the verdict: `contract.arguments`, `identity.tools`. */
  readonly rule: string;
  readonly action: Action;
  /** One sentence. */
  readonly reason: string;
  readonly enforcement: 'enforce' | 'monitor';
}

/** Returns the restriction for values whose origin a contract does not permit. `rule` is `flow.arguments.<name>`. */
export function buildFlowRestriction(
  rule: `flow.${string}`,
  reason: string,
  { action, path, enforcement }: Pick<Restriction, 'action' | 'enforcement'> & Pick<Violation, 'path'>,
): Restriction {
  const violation = { type: 'flow_violation', rule, severity: 'high', path, reason } as const;
  return { violation, rule, action, reason, enforcement };
}

/** Returns the restriction of a violated contract or identity. `rule` is for example `contract.arguments`. */
export function buildRestriction(
  rule: `${'contract' | 'identity'}.${string}`,
  reason: string,
  enforcement: Restriction['enforcement'],
  path: string | null = null,
): Restriction {
  const isContract = rule.startsWith('contract.') && !PERSON_TERMS.includes(rule);
  const type = isContract ? 'contract_violation' : 'identity_violation';
  const name = rule.slice(rule.indexOf('.') + 1);
  const violation = { type, rule: name, severity: 'high', path, reason } as const;
  return { violation, rule, action: 'block', reason, enforcement };
}

/** The restriction's name for a contract's limit per person, if no person is proved. */
export const NO_PERSON_TO_COUNT = 'contract.user';

/** A contract's terms on the person. Violating them is an `identity_violation`. */
const PERSON_TERMS: readonly string[] = ['contract.required_scopes', NO_PERSON_TO_COUNT];
