import type { DocumentProblem, Rule } from '../../types/index.ts';

/** Level of each remark. A `warning` may be intended. */
export const REMARK_LEVELS = {
  /** Earlier rules with another action shadow the rule completely. */
  'rule-dead': 'error',
  /** An earlier rule has the same conditions and another action. */
  'rule-contradicted': 'error',
  /** Earlier rules with the same action shadow the rule completely. */
  'rule-redundant': 'warning',
  /** Earlier rules with another action shadow a part of the rule. */
  'rule-partly-dead': 'warning',
  /** The policy would block or mask the text that replaces an output. */
  'fallback-forbidden': 'error',
  /** The policy also blocks the alternative that is suggested for a dangerous command. */
  'safer-forbidden': 'warning',
  /** No detector or document produces the tag. */
  'unknown-tag': 'warning',
  /** No detector or pattern has the ID. */
  'unknown-detector': 'warning',
  /** The tool's contract has no such argument. */
  'unknown-argument': 'warning',
  /** No contract has a schema for the arguments. */
  'argument-without-schema': 'warning',
  /** Tags of a contract mark a source and limit no result. */
  'tags-mark-only': 'warning',
  /** The tool has no contract. */
  'undeclared-tool': 'warning',
  /** The agent has no identity. */
  'undeclared-agent': 'warning',
  /** No user and no key may act for the tenant. */
  'tenant-without-users': 'warning',
} as const satisfies Readonly<Record<string, DocumentProblem['level']>>;

export type RemarkId = keyof typeof REMARK_LEVELS;

/** Remarks on rules that never decide: removing such a rule changes no decision. */
export const DEAD_RULE_REMARKS: readonly RemarkId[] = ['rule-dead', 'rule-contradicted', 'rule-redundant'];

/** One remark on one record of a policy. */
export interface LintRemark {
  readonly id: RemarkId;
  /** The rule, contract or identity itself. */
  readonly record: object;
  /** Member of the record: `condition`, `fallback_template`; empty for the whole record. */
  readonly part: string;
  /** Rules that shadow the record; absent if there are none. */
  readonly preceding_rules?: readonly Rule[];
  /** `true`: the name in question resembles a known one, which the message suggests. */
  readonly is_misspelt?: boolean;
  /** One sentence that says what is wrong and what to do. */
  readonly message: string;
}
