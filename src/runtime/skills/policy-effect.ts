import type { Policy, Rule, TaintRule } from '../../core/types/index.ts';
import { compareStrictness, type StrictnessComparison } from './strictness.ts';

/** One rule or document of a policy, described for the operator. */
export interface PolicyRecord {
  readonly kind: 'rule' | 'contract' | 'identity' | 'memory schema';
  readonly name: string;
  /** Its effect, in a few words. */
  readonly summary: string;
}

/**
 * The prefix of the description for the tags that a rule adds to sessions. A rule can both add tags and decide.
 */
const MARKS = 'session tags';

/** The difference between the active policy and the policy after a change. */
export interface PolicyEffect {
  readonly added: readonly PolicyRecord[];
  readonly changed: readonly PolicyRecord[];
  readonly removed: readonly PolicyRecord[];
  /** The tags in added or changed rules. */
  readonly tags: readonly string[];
  /** Settings that result from documents: unknown agents are blocked as soon as there is an identity. */
  readonly consequences: readonly string[];
  /** The places at which the answer would be stricter or less strict. */
  readonly strictness: StrictnessComparison;
  readonly policy_hash: string;
}

/** Compares two policies, record by record and by their answers. */
export function comparePolicies(before: Policy, after: Policy): PolicyEffect {
  const [oldRecords, newRecords] = [indexRecords(before), indexRecords(after)];
  const added = [...newRecords].filter(([key]) => !oldRecords.has(key));
  const removed = [...oldRecords].filter(([key]) => !newRecords.has(key));
  const changed = [...newRecords].filter(([key, { written }]) => {
    const old = oldRecords.get(key);
    return old !== undefined && old.written !== written;
  });
  const tags = [...added, ...changed].flatMap(([, { tags }]) => tags);
  return {
    added: added.map(([, { record }]) => record),
    changed: changed.map(([, { record }]) => record),
    removed: removed.map(([, { record }]) => record),
    tags: [...new Set(tags)].sort(),
    consequences: getConsequences(before, after),
    strictness: compareStrictness(before, after),
    policy_hash: after.hash,
  };
}

interface Known {
  readonly record: PolicyRecord;
  readonly tags: readonly string[];
  /** Serializes the whole record to detect a difference. */
  readonly written: string;
}

function indexRecords(policy: Policy): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>();
  const add = (
    record: PolicyRecord,
    tenantId: string | null,
    whole: unknown,
    tags: readonly string[] = [],
  ): void => {
    const name = tenantId === null ? record.name : `${record.name} (tenant ${tenantId})`;
    const written = JSON.stringify(whole);
    known.set(`${record.summary.startsWith(MARKS)} ${record.kind} ${name}`, {
      record: { ...record, name },
      tags,
      written,
    });
  };
  for (const mark of policy.taint_rules)
    add(
      { kind: 'rule', name: mark.name, summary: describeTaintRule(mark) },
      mark.tenant_id,
      mark,
      mark.data_tags,
    );
  for (const rule of policy.rules)
    add({ kind: 'rule', name: rule.name, summary: describeRule(rule) }, rule.tenant_id, rule, rule.data_tags);
  for (const contract of policy.contracts) {
    const summary = 'what the tool takes and gives';
    add({ kind: 'contract', name: contract.tool_name, summary }, contract.tenant_id, contract);
  }
  for (const identity of policy.identities) {
    const summary = 'which tools the agent may call, and what it may see';
    add({ kind: 'identity', name: identity.agent_id, summary }, identity.tenant_id, identity);
  }
  for (const schema of policy.memory_schemas) {
    const summary = 'what agents may keep, and how long';
    add({ kind: 'memory schema', name: schema.name, summary }, schema.tenant_id, schema);
  }
  return known;
}

function describeRule(rule: Rule): string {
  const phases = rule.boundaries.includes('action') ? ` (${rule.phases.join(', ')})` : '';
  const where = `${rule.boundaries.join(', ')}${phases}`;
  const what = rule.data_tags.length === 0 ? 'whatever is in it' : formatNames(rule.data_tags);
  const mode = rule.enforcement === 'monitor' ? ' (monitor mode)' : '';
  return `${rule.action}${mode} at ${where}: ${what}${getConditions(rule)}`;
}

function describeTaintRule(mark: TaintRule): string {
  const { add, remove } = mark.change;
  const parts = [
    ...(add.length > 0 ? [`adds ${formatNames(add)}`] : []),
    ...(remove === 'all' ? ['removes all'] : remove.length > 0 ? [`removes ${formatNames(remove)}`] : []),
  ];
  return `${MARKS}: ${parts.join(', ')}${getConditions(mark)}`;
}

function getConditions({ tools, agents, session_tags, when }: TaintRule | Rule): string {
  const parts = [
    ...(tools.length > 0 ? [`tools ${formatNames(tools)}`] : []),
    ...(agents.length > 0 ? [`agents ${formatNames(agents)}`] : []),
    ...(session_tags.length > 0 ? [`after reading ${formatNames(session_tags)}`] : []),
    ...(when === null ? [] : ['on a condition']),
  ];
  return parts.length === 0 ? '' : `; ${parts.join(', ')}`;
}

const NAMES_SHOWN_MAX = 4;

function formatNames(all: readonly string[]): string {
  const shown = all.slice(0, NAMES_SHOWN_MAX).join(', ');
  return all.length > NAMES_SHOWN_MAX ? `${shown} and ${all.length - NAMES_SHOWN_MAX} more` : shown;
}

function getConsequences(before: Policy, after: Policy): string[] {
  const lines: string[] = [];
  if (before.default_action !== after.default_action)
    lines.push(`the default action will be ${after.default_action} instead of ${before.default_action}`);
  const builtin = countBuiltinChanges(before, after);
  if (builtin > 0)
    lines.push(`${builtin} of ${before.builtin_rules.length} built-in rules will change or go`);
  if (before.undeclared_tools !== after.undeclared_tools)
    lines.push(
      after.undeclared_tools === 'block'
        ? 'tools without a contract will be blocked'
        : 'tools without a contract will no longer be blocked',
    );
  if (before.unknown_agents !== after.unknown_agents)
    lines.push(
      after.unknown_agents === 'block'
        ? 'agents without an identity document will be blocked'
        : 'agents without an identity document will no longer be blocked',
    );
  if (before.memory_schemas.length === 0 && after.memory_schemas.length > 0)
    lines.push('agents can keep what its memory schemas declare (docs/how-to/keep-memory.md)');
  return lines;
}

function countBuiltinChanges(before: Policy, after: Policy): number {
  const kept = new Set(after.builtin_rules.map((rule) => JSON.stringify(rule)));
  return before.builtin_rules.filter((rule) => !kept.has(JSON.stringify(rule))).length;
}
