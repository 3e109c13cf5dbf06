import { normalizeTag } from '../../tags.ts';
import {
  type Content,
  type CrossingContext,
  type Json,
  NO_PRINCIPAL,
  type Policy,
  type Severity,
  type StoredTotal,
  type Tag,
  type ValuesSeen,
  type WrittenTotal,
} from '../../types/index.ts';
import type { ArgumentPath } from './arguments.ts';

/**
 * The facts of a crossing that a condition may use, and the content that is sent. Absent names are empty strings.
 */
export interface ConditionFacts {
  readonly boundary: string;
  readonly phase: string;
  readonly tool: string;
  /** True for a tool call, or its result, whose tool has no contract. */
  readonly undeclared: boolean;
  readonly agent_id: string;
  readonly source_agent_id: string;
  readonly destination_agent_id: string;
  readonly tenant_id: string;
  readonly session_id: string;
  /** The proved person; empty if no person is proved. */
  readonly user: string;
  readonly user_email: string;
  readonly groups: readonly string[];
  readonly scopes: readonly string[];
  /** A name that the caller only stated. */
  readonly claimed_user: string;
  /** The agents that act, the one next to the person first. */
  readonly chain: readonly string[];
  /** The agent's tier; empty if it is unknown. */
  readonly agent_tier: string;
  /** The tag for which the rule is evaluated; empty if it is evaluated for the crossing itself. */
  readonly tag: string;
  /** The severity of the finding with that tag; empty if there is none. */
  readonly severity: string;
  /** Found and declared tags, and the facts that some rule of the boundary names. */
  readonly data_tags: readonly Tag[];
  readonly declared_tags: readonly Tag[];
  readonly session_tags: readonly Tag[];
  /** The number of findings. */
  readonly findings: number;
  /** Milliseconds since 1970, UTC. */
  readonly now_ms: number;
  /** A call's content as it is sent; absent if it is not known, and then arguments have no result. */
  readonly content?: Content | undefined;
  readonly totals?: readonly StoredTotal[] | undefined;
  readonly values_seen?: ValuesSeen | undefined;
}

/**
 * Evaluates CEL conditions. `evaluate` throws if a condition has no result, such as after a division by zero.
 */
export interface ConditionEvaluator {
  readonly evaluate: (when: string, facts: ConditionFacts) => boolean;
}

/** A condition's reads, as it writes them. */
export interface WrittenReads {
  readonly arguments: readonly ArgumentPath[];
  /** Arguments whose presence is tested with `has`. */
  readonly tested: readonly ArgumentPath[];
  readonly totals: readonly WrittenTotal[];
  readonly names_tag: boolean;
  readonly names_origin: boolean;
}

/** Checks conditions when a policy is compiled. Problems are the rest of a sentence. */
export interface ConditionCompiler {
  /** Returns the reason a condition cannot be evaluated; `null` if it can be. */
  readonly findProblem: (when: string) => string | null;
  /** Returns the reads of a condition without problems. */
  readonly findReads: (when: string) => WrittenReads;
  /** Returns why a condition never has a result for arguments with this JSON Schema; `null` if it may have one. */
  readonly findTypeProblem: (when: string, schema: Json) => string | null;
}

const conditional = new WeakMap<Policy, boolean>();

/** Returns whether any rule of a policy has a condition; such a policy needs a `ConditionEvaluator`. */
export function hasConditions(policy: Policy): boolean {
  let has = conditional.get(policy);
  if (has === undefined) {
    has = [...policy.rules, ...policy.taint_rules].some(({ when }) => when !== null);
    conditional.set(policy, has);
  }
  return has;
}

/** Facts that a crossing does not hold itself. */
export interface KnownFacts {
  readonly data_tags: () => readonly Tag[];
  readonly findings_count: number;
  readonly is_undeclared: boolean;
  readonly content?: Content | undefined;
}

/**
 * Builds the facts of a crossing. `about` is the tag for which a rule is evaluated, `null` for the crossing itself. `tier`
 * is the tier to assume.
 */
export function buildConditionFacts(
  crossing: CrossingContext,
  { data_tags, findings_count, is_undeclared, content }: KnownFacts,
  about: { readonly tag: Tag; readonly severity: Severity | null } | null,
  tier: string,
): ConditionFacts {
  const { user, claimed_user, chain } = crossing.principal ?? NO_PRINCIPAL;
  return {
    boundary: crossing.boundary,
    phase: crossing.phase ?? '',
    tool: crossing.tool ?? '',
    undeclared: is_undeclared,
    agent_id: crossing.agent_id,
    source_agent_id: crossing.source_agent_id ?? '',
    destination_agent_id: crossing.destination_agent_id ?? '',
    tenant_id: crossing.tenant_id,
    session_id: crossing.session_id ?? '',
    user: user?.user_id ?? '',
    user_email: user?.user_email ?? '',
    groups: user?.groups ?? [],
    scopes: user?.scopes ?? [],
    claimed_user: claimed_user ?? '',
    chain,
    agent_tier: tier,
    tag: about?.tag ?? '',
    severity: about?.severity ?? '',
    data_tags: data_tags(),
    declared_tags: crossing.declared_tags.map(normalizeTag),
    session_tags: crossing.session_tags ?? [],
    findings: findings_count,
    now_ms: crossing.now_ms,
    content: crossing.boundary === 'action' && crossing.phase === 'request' ? content : undefined,
    totals: crossing.totals,
    values_seen: crossing.values_seen,
  };
}

const IN_QUOTES = /["']([A-Za-z][A-Za-z0-9_.-]{0,127})["']/g;

/**
 * Returns the quoted names in a condition, in lower case. Tags among them may be facts that have to be detected.
 */
export function listQuotedNames(when: string): readonly string[] {
  return [...when.matchAll(IN_QUOTES)].map(([, name]) => (name as string).toLowerCase());
}
