import { ACTIONS, BOUNDARIES } from '../types/index.ts';
import { type AliasKind, type NameAliases, openNameAliases } from './aliases.ts';
import { boundSummary, parseAnswer } from './answer.ts';
import { buildInstructions, DOCUMENT_PATH } from './instructions.ts';
import type { Advisor } from './types.ts';
import { formatUntrusted } from './untrusted.ts';
import { filterRuleName, filterTags, type PromptVocabulary } from './vocabulary.ts';

/** The number of events of one name, by action. */
export interface NameTally {
  readonly name: string;
  readonly events: number;
  readonly actions: Readonly<Record<string, number>>;
}

/** A rule of the active policy with its use in the period. */
export interface RuleUse {
  readonly name: string;
  readonly builtin: boolean;
  readonly boundaries: readonly string[];
  readonly data_tags: readonly string[];
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  readonly action: string;
  readonly enforcement: string;
  readonly priority: number;
  readonly has_condition: boolean;
  readonly hits: number;
  readonly monitored_hits: number;
}

/** Totals of a period, from the index of the audit log. They cover every event of the period. */
export interface AuditAggregates {
  /** A duration that was checked: `7d`. */
  readonly since: string;
  readonly total_events: number;
  readonly by_boundary: readonly NameTally[];
  readonly by_tag: readonly NameTally[];
  readonly by_tool: readonly NameTally[];
  readonly by_agent: readonly NameTally[];
  readonly rules: readonly RuleUse[];
  /** Names of rules that never decide, whatever the traffic is. */
  readonly dead_rules: readonly string[];
  readonly default_action: string;
  readonly undeclared_tools: string;
  readonly unknown_agents: string;
  readonly contracts: number;
  readonly identities: number;
  readonly vocabulary: PromptVocabulary;
}

const TASK = `You review the policy of a rule engine that guards AI agents, from totals of its audit log.
Look for gaps (data or tools that only the default covers), noisy rules (they block or ask far more often than the rest),
dead rules, and rules that allow more than the traffic needs. First write a report of at most 400 words: findings in the
order of their importance, each with its figures. Then write one file for each proposal, at most five, named
policies/recommended-<topic>.yaml (or contracts/ and agents/ for tools and agents). The first line of each file is a comment
that gives the reason. Prefer rules that are stricter. If a proposal allows more than today, say so in the report in a line that
begins with "Weakens:". Give new rules the priority 50, so that they are evaluated before existing ones. Without a useful
proposal write no file.`;

const RULES_MAX = 150;
const ROWS_MAX = 40;

/** Proposes policies from totals. */
export const recommenderAdvisor: Advisor<AuditAggregates> = {
  name: 'recommender',
  brief: (aggregates) => ({
    system: buildInstructions(TASK, true),
    user: formatUntrusted('audit-aggregates', describeAggregates(aggregates).data),
  }),
  read: (answer, aggregates) => {
    const { aliases } = describeAggregates(aggregates);
    const { prose, files, problems } = parseAnswer(answer, {
      path: DOCUMENT_PATH,
      expects:
        '`policies/`, `contracts/` or `agents/` and a name of lower-case letters, digits, `-` and `_` with `.yaml`',
      unnamed: 'policies/recommended.yaml',
    });
    const { since, total_events } = aggregates;
    return {
      summary: boundSummary(aliases.restore(prose)),
      artifacts: files.map(({ path, text }) => ({ path, text: aliases.restoreInDocument(text) })),
      problems: prose === '' && files.length === 0 ? ['The answer is empty.'] : problems,
      metadata: {
        since,
        total_events,
        action_counts: sumActions(aggregates.by_boundary),
        boundary_counts: Object.fromEntries(aggregates.by_boundary.map(({ name, events }) => [name, events])),
        dead_rules: [...aggregates.dead_rules],
      },
    };
  },
  hideNames: (text, aggregates) => describeAggregates(aggregates).aliases.hide(text),
};

function sumActions(tallies: readonly NameTally[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { actions } of tallies)
    for (const [action, count] of Object.entries(actions)) sums[action] = (sums[action] ?? 0) + count;
  return sums;
}

function describeAggregates(aggregates: AuditAggregates) {
  const { vocabulary } = aggregates;
  const aliases = openNameAliases(vocabulary);
  const named = (kind: AliasKind, tallies: readonly NameTally[]) =>
    tallies.slice(0, ROWS_MAX).map(({ name, events, actions }) => ({
      name: aliases.send(kind, name),
      events,
      actions: pickActions(actions),
    }));
  const data = {
    period: aggregates.since,
    total_events: aggregates.total_events,
    default_action: aggregates.default_action,
    undeclared_tools: aggregates.undeclared_tools,
    unknown_agents: aggregates.unknown_agents,
    contracts: aggregates.contracts,
    identities: aggregates.identities,
    by_boundary: aggregates.by_boundary
      .filter(({ name }) => SENT_BOUNDARIES.includes(name))
      .map(({ name, events, actions }) => ({ name, events, actions: pickActions(actions) })),
    by_tag: aggregates.by_tag.slice(0, ROWS_MAX).map(({ name, events, actions }) => ({
      tag: filterTags([name], vocabulary)[0],
      events,
      actions: pickActions(actions),
    })),
    by_tool: named('tool', aggregates.by_tool),
    by_agent: named('agent', aggregates.by_agent),
    dead_rules: aggregates.dead_rules.slice(0, ROWS_MAX).map((name) => filterRuleName(name, vocabulary)),
    rules: aggregates.rules.slice(0, RULES_MAX).map((rule) => describeRule(rule, vocabulary, aliases)),
  };
  return { data, aliases };
}

const SENT_BOUNDARIES: readonly string[] = [...BOUNDARIES, 'memory'];

/** Imported events may name other actions, which are not sent. */
function pickActions(actions: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    ACTIONS.flatMap((action) => (action in actions ? [[action, actions[action]!]] : [])),
  );
}

function describeRule(rule: RuleUse, vocabulary: PromptVocabulary, aliases: NameAliases): object {
  const patterns = (kind: AliasKind, names: readonly string[]) =>
    names.slice(0, 20).map((name) => (name.includes('*') ? '[a pattern]' : aliases.send(kind, name)));
  return {
    name: filterRuleName(rule.name, vocabulary),
    builtin: rule.builtin,
    boundaries: rule.boundaries,
    data_tags: filterTags(rule.data_tags, vocabulary),
    tools: patterns('tool', rule.tools),
    agents: patterns('agent', rule.agents),
    action: rule.action,
    enforcement: rule.enforcement,
    priority: rule.priority,
    has_condition: rule.has_condition,
    hits: rule.hits,
    monitored_hits: rule.monitored_hits,
  };
}
