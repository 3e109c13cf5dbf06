import { commandRules } from '../../detect/commands/rules/index.ts';
import { listBuiltinIdentities } from '../../detect/registry/builtin-detectors.ts';
import { suggestName } from '../../policy/compile/problems.ts';
import { covers, isFactTag, matchesAny, matchesAnyCase } from '../../tags.ts';
import type { Policy, Tag } from '../../types/index.ts';
import type { LintRemark } from './remark.ts';

/** Tool name of messages between agents. It needs no contract. */
const AGENT_MESSAGE = 'agent_to_agent';

/**
 * Returns remarks on names in rules and documents that the policy does not define: misspelt names, or names that only
 * callers use.
 */
export function findNameRemarks(policy: Policy): readonly LintRemark[] {
  return [
    ...findTagRemarks(policy),
    ...findDetectorRemarks(policy),
    ...findContractTagRemarks(policy),
    ...findToolRemarks(policy),
    ...findAgentRemarks(policy),
  ];
}

function findTagRemarks(policy: Policy): LintRemark[] {
  const known = listKnownTags(policy);
  const has = (tag: Tag) => isFactTag(tag) || known.some((each) => covers(tag, each));
  return policy.rules.flatMap((rule) =>
    [...rule.data_tags, ...rule.session_tags]
      .filter((tag) => !has(tag))
      .map((tag): LintRemark => {
        const near = suggestTag(tag, known);
        const message = `The rule \`${rule.name}\` is for the tag \`${tag}\`, which no detector, pattern, contract or memory schema has. Unless callers declare it, the rule never matches${near}.`;
        return {
          id: 'unknown-tag',
          record: rule,
          part: '',
          is_misspelt: near !== '',
          message: removeSecondStop(message),
        };
      }),
  );
}

function findDetectorRemarks({ rules, detection }: Policy): LintRemark[] {
  if (rules.every(({ rule_ids }) => rule_ids === undefined)) return [];
  const known = [
    ...listBuiltinIdentities().map(({ id }) => id),
    ...commandRules.map(({ id }) => id),
    ...detection.patterns.map(({ id }) => id),
  ];
  return rules.flatMap((rule) =>
    (rule.rule_ids ?? [])
      .filter((pattern) => !known.some((id) => matchesAny([pattern], id)))
      .map((pattern): LintRemark => {
        const message = `The rule \`${rule.name}\` is for the detector \`${pattern}\`, and there is none${suggestName(pattern, known)}.`;
        return { id: 'unknown-detector', record: rule, part: '', message: removeSecondStop(message) };
      }),
  );
}

/**
 * Returns remarks on tags of contracts that only one contract names and that resemble a known tag. Contracts may introduce
 * tags, so any other tag is valid.
 */
function findContractTagRemarks(policy: Policy): LintRemark[] {
  const { contracts } = policy;
  const counts = new Map<Tag, number>();
  for (const tag of contracts.flatMap((each) => [...new Set(listContractTags(each))]))
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const known = listKnownTags({ ...policy, contracts: [] });
  const has = (tag: Tag) => isFactTag(tag) || known.some((each) => covers(tag, each) || covers(each, tag));
  return contracts.flatMap((contract) =>
    [...new Set(listContractTags(contract))]
      .filter((tag) => counts.get(tag) === 1 && !has(tag))
      .map((tag) => ({ tag, near: suggestTag(tag, known) }))
      .filter(({ near }) => near !== '')
      .map(({ tag, near }): LintRemark => {
        const message = `The contract of \`${contract.tool_name}\` has the tag \`${tag}\`, which no detector, pattern or memory schema has${near}.`;
        return {
          id: 'unknown-tag',
          record: contract,
          part: '',
          is_misspelt: true,
          message: removeSecondStop(message),
        };
      }),
  );
}

function listContractTags({ accepts, emits }: Policy['contracts'][number]): Tag[] {
  return [...(accepts.tags ?? []), ...(emits.tags ?? [])];
}

/** Returns "; did you mean `secret`?" for the nearest known tag or group of tags, else an empty string. */
function suggestTag(tag: Tag, known: readonly Tag[]): string {
  const groups = known.flatMap((each) => {
    const steps = each.split('.');
    return steps.map((_, at) => steps.slice(0, at + 1).join('.'));
  });
  const near = suggestName(tag, [...new Set(groups)]);
  if (near !== '') return near;
  const inner = groups.find((each) => each.endsWith(`.${tag}`));
  return inner === undefined ? '' : `; did you mean \`${inner}\`?`;
}

function removeSecondStop(sentence: string): string {
  return sentence.replace(/\?\.$/, '?');
}

/** Returns all tags that the service can assign to a crossing. */
function listKnownTags({
  detection,
  contracts,
  memory_schemas,
  identities,
  taint_rules,
}: Policy): readonly Tag[] {
  return [
    ...new Set([
      ...listBuiltinIdentities().flatMap(({ tags }) => tags),
      ...commandRules.map(({ tag }) => tag),
      ...detection.patterns.flatMap(({ tags }) => tags),
      ...contracts.flatMap(listContractTags),
      ...memory_schemas.flatMap(({ fields }) => fields.map(({ tag }) => tag)),
      ...identities.flatMap(({ clearance_tags }) => clearance_tags),
      ...taint_rules.flatMap(({ change }) => change.add),
    ]),
  ];
}

/** Returns remarks on tools without a contract. If the policy declares no tool, there are none. */
function findToolRemarks({ rules, contracts, identities }: Policy): LintRemark[] {
  if (contracts.length === 0) return [];
  const declared = [AGENT_MESSAGE, ...contracts.map(({ tool_name }) => tool_name)];
  const unknown = (patterns: readonly string[], matches = matchesAny) =>
    patterns.filter((pattern) => !declared.some((name) => matches([pattern], name)));
  const remark = (record: object, part: string, what: string, pattern: string): LintRemark => {
    const message = `${what} names the tool \`${pattern}\`, and no contract is for it${suggestName(pattern, declared)}.`;
    return { id: 'undeclared-tool', record, part, message: removeSecondStop(message) };
  };
  return [
    ...rules.flatMap((rule) =>
      unknown(rule.tools, rule.action === 'allow' ? matchesAny : matchesAnyCase).map((each) =>
        remark(rule, 'condition', `The rule \`${rule.name}\``, each),
      ),
    ),
    ...identities.flatMap((identity) =>
      unknown(identity.tools).map((each) =>
        remark(identity, 'tools', `The identity of \`${identity.agent_id}\``, each),
      ),
    ),
  ];
}

/** Returns remarks on agents without an identity. If the policy declares no agent, there are none. */
function findAgentRemarks({ rules, contracts, identities }: Policy): LintRemark[] {
  if (identities.length === 0) return [];
  const declared = identities.map(({ agent_id }) => agent_id);
  const unknown = (patterns: readonly string[]) =>
    patterns.filter((pattern) => !declared.some((name) => matchesAny([pattern], name)));
  const remark = (record: object, part: string, what: string, pattern: string): LintRemark => {
    const message = `${what} names the agent \`${pattern}\`, and no identity is for it${suggestName(pattern, declared)}.`;
    return { id: 'undeclared-agent', record, part, message: removeSecondStop(message) };
  };
  return [
    ...rules.flatMap((rule) =>
      unknown(rule.agents).map((each) => remark(rule, 'condition', `The rule \`${rule.name}\``, each)),
    ),
    ...contracts.flatMap((contract) =>
      unknown(contract.allowed_agents).map((each) =>
        remark(contract, 'allowed_agents', `The contract of \`${contract.tool_name}\``, each),
      ),
    ),
  ];
}

/**
 * Returns remarks on tenants that have rules and no users or keys. `tenants` lists the tenants of all users and keys;
 * `null` means that any tenant is allowed.
 */
export function findTenantRemarks(
  { rules }: Policy,
  tenants: readonly string[] | null,
): readonly LintRemark[] {
  if (tenants === null) return [];
  const seen = new Set<string>(tenants);
  return rules.flatMap((rule): LintRemark[] => {
    const { tenant_id } = rule;
    if (tenant_id === null || seen.has(tenant_id)) return [];
    seen.add(tenant_id);
    const message = `The tenant \`${tenant_id}\` has rules, and no user and no key may act for it${suggestName(tenant_id, tenants)}.`;
    return [{ id: 'tenant-without-users', record: rule, part: '', message: removeSecondStop(message) }];
  });
}
