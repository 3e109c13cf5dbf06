import { normalizeTag } from '../../tags.ts';
import type { CrossingContext, Policy, Severity, Tag } from '../../types/index.ts';

/** What a condition may ask about: facts of a crossing, never a text of it. Absent names are empty texts. */
export interface ConditionFacts {
  readonly boundary: string;
  readonly phase: string;
  readonly tool: string;
  readonly agent_id: string;
  readonly source_agent_id: string;
  readonly destination_agent_id: string;
  readonly tenant_id: string;
  readonly session_id: string;
  /** The tag that the rule is asked about; empty where it is about the crossing itself. */
  readonly tag: string;
  /** Of the finding with that tag; empty where there is none. */
  readonly severity: string;
  /** Found and declared, and facts that some rule of the place names. */
  readonly data_tags: readonly Tag[];
  readonly declared_tags: readonly Tag[];
  readonly session_tags: readonly Tag[];
  /** How many findings there are. */
  readonly findings: number;
  /** Milliseconds since 1970, UTC. */
  readonly now_ms: number;
}

/** Evaluates conditions in CEL. `holds` throws where one has no answer, a division by zero for instance. */
export interface ConditionEvaluator {
  readonly evaluate: (when: string, facts: ConditionFacts) => boolean;
}

const conditional = new WeakMap<Policy, boolean>();

/** Whether any rule of a policy has a condition, so that `Conditions` are needed to judge by it. */
export function hasConditions(policy: Policy): boolean {
  let has = conditional.get(policy);
  if (has === undefined) {
    has = [...policy.rules, ...policy.taint_rules].some(({ when }) => when !== null);
    conditional.set(policy, has);
  }
  return has;
}

/** The facts of a crossing; `about` is the tag that a rule is asked about, `null` for the crossing itself. */
export function buildConditionFacts(
  crossing: CrossingContext,
  data_tags: readonly Tag[],
  findings: number,
  about: { readonly tag: Tag; readonly severity: Severity | null } | null,
): ConditionFacts {
  return {
    boundary: crossing.boundary,
    phase: crossing.phase ?? '',
    tool: crossing.tool ?? '',
    agent_id: crossing.agent_id,
    source_agent_id: crossing.source_agent_id ?? '',
    destination_agent_id: crossing.destination_agent_id ?? '',
    tenant_id: crossing.tenant_id,
    session_id: crossing.session_id ?? '',
    tag: about?.tag ?? '',
    severity: about?.severity ?? '',
    data_tags,
    declared_tags: crossing.declared_tags.map(normalizeTag),
    session_tags: crossing.session_tags ?? [],
    findings,
    now_ms: crossing.now_ms,
  };
}

const IN_QUOTES = /["']([A-Za-z][A-Za-z0-9_.-]{0,127})["']/g;

/** The names in quotes in a condition, in lower case: tags among them may be facts that have to be looked for. */
export function listQuotedNames(when: string): readonly string[] {
  return [...when.matchAll(IN_QUOTES)].map(([, name]) => (name as string).toLowerCase());
}
