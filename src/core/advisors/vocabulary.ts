import { commandRules } from '../detect/commands/rules/index.ts';
import { listBuiltinIdentities } from '../detect/registry/builtin-detectors.ts';
import { isFactTag } from '../tags.ts';
import type { Policy, Rule } from '../types/index.ts';
import { filterName, filterSentence, WITHHELD } from './data-filter.ts';

/**
 * The words that operators wrote or that this program brings. Only these are sent as they are; all other names are
 * replaced by aliases, because callers chose them and they may hold anything.
 */
export interface PromptVocabulary {
  readonly tools: ReadonlySet<string>;
  readonly agents: ReadonlySet<string>;
  readonly tags: ReadonlySet<string>;
  /** The rules by name, with the reason that may be sent. */
  readonly rules: ReadonlyMap<string, string>;
  /** Ids and families of the built-in detectors. */
  readonly detectors: ReadonlySet<string>;
}

/** The tools of coding agents, whose names are public. */
const PUBLIC_TOOLS = [
  'Bash',
  'Read',
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'Glob',
  'Grep',
  'LS',
  'Task',
  'WebFetch',
  'WebSearch',
  'TodoWrite',
  'shell',
  'apply_patch',
  'run_shell_command',
  'read_file',
  'write_file',
  'replace',
  'web_fetch',
  'google_web_search',
  'agent_to_agent',
];

/** Builds the vocabulary of a policy. */
export function buildPromptVocabulary(policy: Policy): PromptVocabulary {
  const { contracts, identities, detection } = policy;
  const rules: readonly Rule[] = [...policy.rules, ...policy.builtin_rules];
  const isExact = (name: string) => !name.includes('*');
  const builtin = listBuiltinIdentities();
  return {
    tools: keepSafe([
      ...PUBLIC_TOOLS,
      ...contracts.map(({ tool_name }) => tool_name),
      ...rules.flatMap(({ tools }) => tools.filter(isExact)),
      ...identities.flatMap(({ tools }) => tools.filter(isExact)),
    ]),
    agents: keepSafe([
      ...identities.map(({ agent_id }) => agent_id),
      ...rules.flatMap(({ agents }) => agents.filter(isExact)),
      ...contracts.flatMap(({ allowed_agents }) => allowed_agents.filter(isExact)),
    ]),
    tags: keepSafe([
      ...builtin.flatMap(({ tags }) => tags.flatMap(listAncestors)),
      ...commandRules.flatMap(({ tag }) => listAncestors(tag)),
      ...detection.patterns.flatMap(({ tags }) => tags),
      ...rules.flatMap(({ data_tags, session_tags }) => [...data_tags, ...session_tags]),
      ...contracts.flatMap(({ accepts, emits }) => [...(accepts.tags ?? []), ...(emits.tags ?? [])]),
      ...policy.taint_rules.flatMap(({ change }) => change.add),
    ]),
    rules: new Map(
      rules.flatMap(({ name, reason }): (readonly [string, string])[] => {
        const sent = filterSentence(name, 128);
        return sent === WITHHELD ? [] : [[name, filterSentence(reason)]];
      }),
    ),
    detectors: new Set(builtin.flatMap(({ id, detector }) => [id, detector])),
  };
}

function keepSafe(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name) => filterName(name) !== WITHHELD));
}

function listAncestors(tag: string): readonly string[] {
  const parts = tag.split('.');
  return parts.map((_, at) => parts.slice(0, at + 1).join('.'));
}

/** Names of decisions that are not rules of a policy: `contract.undeclared_tool`, `default.allow`. */
const INTERNAL_RULE =
  /^(?:contract|identity|default|coverage|fault|session|capability|agents|memory|service|builtin|stripping)\.[a-z][a-z_.-]{0,40}$/;

/** Returns the name of a rule as it may be sent. */
export function filterRuleName(name: unknown, { rules }: PromptVocabulary): string {
  if (typeof name !== 'string') return WITHHELD;
  if (rules.has(name)) return filterSentence(name, 128);
  return INTERNAL_RULE.test(name) && filterName(name) !== WITHHELD ? name : '[a rule of another policy]';
}

/** Returns the known tags of a list. Facts about a crossing are reduced to their kind. */
export function filterTags(tags: unknown, { tags: known }: PromptVocabulary): readonly string[] {
  if (!Array.isArray(tags)) return [];
  const sent = tags.slice(0, 50).map((tag: unknown) => {
    if (typeof tag !== 'string') return '[other]';
    if (known.has(tag)) return tag;
    return isFactTag(tag) ? '[fact]' : '[other]';
  });
  return [...new Set(sent)];
}
