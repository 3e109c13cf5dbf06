import type { DocumentProblem, Rule } from '../../types/index.ts';

/** What can be said about a policy, and how bad it is. `warning`: it may be meant. */
export const REMARK_LEVELS = {
  /** Earlier rules answer for all of it, with another action. */
  'rule-dead': 'error',
  /** An earlier rule matches exactly the same, and says something else. */
  'rule-contradicted': 'error',
  /** Earlier rules answer for all of it, with the same action. */
  'rule-redundant': 'warning',
  /** Earlier rules answer for a part of it, with another action. */
  'rule-partly-dead': 'warning',
  /** What stands in place of an output would itself not go through. */
  'fallback-forbidden': 'error',
  /** What is offered instead of a dangerous command is blocked too. */
  'safer-forbidden': 'warning',
  /** Nothing that is known here has the tag. */
  'unknown-tag': 'warning',
  /** No contract is for the tool. */
  'undeclared-tool': 'warning',
  /** No identity is for the agent. */
  'undeclared-agent': 'warning',
  /** Nobody may act for the tenant. */
  'tenant-without-users': 'warning',
} as const satisfies Readonly<Record<string, DocumentProblem['level']>>;

export type RemarkId = keyof typeof REMARK_LEVELS;

/** The remarks on rules that never speak: without these rules no answer would be another. */
export const DEAD_RULE_REMARKS: readonly RemarkId[] = ['rule-dead', 'rule-contradicted', 'rule-redundant'];

/** One thing to say about one record of a policy. */
export interface LintRemark {
  readonly id: RemarkId;
  /** The rule, contract or identity itself. */
  readonly record: object;
  /** What of it, below its place: `condition`, `fallback_template`; empty for all of it. */
  readonly part: string;
  /** The rules that match instead of the record; absent where none does. */
  readonly preceding_rules?: readonly Rule[];
  /** A sentence that says what is wrong and what to do. */
  readonly message: string;
}
