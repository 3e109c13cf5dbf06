import type { AlertRuleSettings } from './rule-schema.ts';
import type { Signal } from './signal.ts';

/** Compiles the filters of a rule. The result compares names without regard to case. */
export function compileFilters({
  source,
  filters,
  tenant_id,
}: Pick<AlertRuleSettings, 'source' | 'filters' | 'tenant_id'>): (signal: Signal) => boolean {
  const { boundaries, actions, severities } = filters;
  const [policies, agents, tools, tenants] = (['policies', 'agents', 'tools', 'tenants'] as const).map(
    (name) => compileNames(filters[name]),
  ) as [NameTest, NameTest, NameTest, NameTest];
  const tags = filters.tags.map((tag) => tag.toLowerCase());
  return (signal) =>
    signal.sources.includes(source) &&
    (tenant_id === undefined || signal.tenant_id === tenant_id) &&
    (boundaries.length === 0 || boundaries.some((each) => each === signal.boundary)) &&
    (actions.length === 0 || actions.some((each) => each === signal.action)) &&
    (severities.length === 0 || severities.includes(signal.severity)) &&
    policies(signal.policy) &&
    agents(signal.agent_id) &&
    tools(signal.tool) &&
    tenants(signal.tenant_id) &&
    (tags.length === 0 || signal.tags.some((tag) => tags.some((wanted) => isTagBelow(tag, wanted))));
}

type NameTest = (name: string | null) => boolean;

function compileNames(patterns: readonly string[]): NameTest {
  if (patterns.length === 0) return () => true;
  const lower = patterns.map((pattern) => pattern.toLowerCase());
  const exact = new Set(lower.filter((pattern) => !pattern.includes('*')));
  const wild = lower.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  return (name) => {
    if (name === null) return false;
    const text = name.toLowerCase();
    return exact.has(text) || wild.some((parts) => matchesParts(text, parts));
  };
}

/** Matches a text against the parts of a pattern between its `*`, from left to right. */
function matchesParts(text: string, parts: readonly string[]): boolean {
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Returns whether a tag is the wanted one or its descendant. */
function isTagBelow(tag: string, wanted: string): boolean {
  const lower = tag.toLowerCase();
  return lower === wanted || lower.startsWith(`${wanted}.`);
}
