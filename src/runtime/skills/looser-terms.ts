import {
  foldCase,
  isCoveredBy,
  isFactTag,
  isSourceTag,
  listLimitingTags,
  matchesAny,
} from '../../core/tags.ts';
import {
  type AgentIdentity,
  type Policy,
  type Rule,
  SEVERITIES,
  type Severity,
  type ToolContract,
} from '../../core/types/index.ts';

/**
 * Returns the terms of contracts, identities and rules that bind less than before, as phrases. A record that
 * replaces another one is compared with the one that applied to the same tool or agent until then.
 */
export function listLooserTerms(before: Policy, after: Policy): readonly string[] {
  return [
    ...after.contracts.flatMap((contract) => {
      const former = findFormer(before.contracts, contract, ({ tool_name }) => tool_name);
      return former === null
        ? []
        : nameTerms('contract', contract.tool_name, compareContracts(former, contract));
    }),
    ...after.identities.flatMap((identity) => {
      const former = findFormer(before.identities, identity, ({ agent_id }) => agent_id);
      return former === null
        ? []
        : nameTerms('identity', identity.agent_id, compareIdentities(former, identity));
    }),
    ...listRemoved(before, after),
    ...before.rules.flatMap((rule) => compareRules(rule, after)),
  ];
}

function nameTerms(kind: string, name: string, terms: readonly string[]): readonly string[] {
  return terms.map((term) => `${kind} \`${name}\`: ${term}`);
}

interface TenantRecord {
  readonly tenant_id: string | null;
}

/** Returns the record that applied to the subject of another one: the tenant's own, the global one, or one in other case. */
function findFormer<Kind extends TenantRecord>(
  records: readonly Kind[],
  { tenant_id, ...rest }: Kind,
  nameRecord: (record: Kind) => string,
): Kind | null {
  const name = nameRecord({ tenant_id, ...rest } as Kind);
  const named = records.filter((record) => foldCase(nameRecord(record)) === foldCase(name));
  const exact = named.filter((record) => nameRecord(record) === name);
  return (
    exact.find((record) => record.tenant_id === tenant_id) ??
    exact.find((record) => record.tenant_id === null) ??
    named.find((record) => record.tenant_id === tenant_id || record.tenant_id === null) ??
    null
  );
}

/** Without a list every name is allowed, so an empty list is the longest. */
function isLongerList(was: readonly string[], is: readonly string[]): boolean {
  return was.length > 0 && (is.length === 0 || is.some((name) => !matchesAny(was, name)));
}

function hasMoreTags(was: readonly string[] | null, is: readonly string[] | null): boolean {
  if (was === null) return false;
  return is === null || is.some((tag) => !isFactTag(tag) && !isCoveredBy(was, tag));
}

function hasMoreFields(was: readonly string[], is: readonly string[]): boolean {
  return was.length > 0 && (is.length === 0 || is.some((field) => !was.includes(field)));
}

/** Lists each pair of a condition and a sentence whose condition is true. */
function pickTrue(rows: readonly (readonly [is_looser: boolean, term: string])[]): readonly string[] {
  return rows.flatMap(([isLooser, term]) => (isLooser ? [term] : []));
}

function compareContracts(was: ToolContract, is: ToolContract): readonly string[] {
  const lostFacts = (was.emits.tags ?? []).filter(
    (tag) => isSourceTag(tag) && !isCoveredBy(is.emits.tags ?? [], tag),
  );
  return pickTrue([
    [was.enforcement === 'enforce' && is.enforcement !== 'enforce', 'is only recorded, and blocks no more'],
    [isLongerList(was.allowed_agents, is.allowed_agents), 'more agents may call the tool'],
    [
      was.max_calls_per_minute !== null &&
        (is.max_calls_per_minute === null || is.max_calls_per_minute > was.max_calls_per_minute),
      'more calls a minute are allowed',
    ],
    [
      was.max_calls_per_minute_per_user !== undefined &&
        !((is.max_calls_per_minute_per_user ?? Infinity) <= was.max_calls_per_minute_per_user),
      'more calls a minute for one person are allowed',
    ],
    [
      (was.required_scopes ?? []).some((scope) => !is.required_scopes?.includes(scope)),
      'the person needs fewer scopes',
    ],
    [was.side_effects.requires_approval && !is.side_effects.requires_approval, 'needs no approval any more'],
    [was.side_effects.egress && !is.side_effects.egress, 'no longer says that data leaves with the call'],
    [lostFacts.length > 0, `no longer marks results with ${lostFacts.join(', ')}`],
    [
      was.flow !== undefined && JSON.stringify(was.flow) !== JSON.stringify(is.flow),
      'the origin of argument values is checked by other terms, or not at all',
    ],
    [hasMoreTags(was.accepts.tags, is.accepts.tags), 'arguments may carry more tags'],
    [hasMoreFields(was.accepts.fields, is.accepts.fields), 'arguments may have more fields'],
    [
      hasMoreTags(listLimitingTags(was.emits.tags), listLimitingTags(is.emits.tags)),
      'results may carry more tags',
    ],
    [hasMoreFields(was.emits.fields, is.emits.fields), 'results may have more fields'],
    [
      was.emits.on_violation === undefined && is.emits.on_violation !== undefined,
      'results are masked where they were blocked',
    ],
    [
      was.arguments !== null && JSON.stringify(was.arguments) !== JSON.stringify(is.arguments),
      'arguments are checked with another schema, or with none',
    ],
  ]);
}

function compareIdentities(was: AgentIdentity, is: AgentIdentity): readonly string[] {
  return pickTrue([
    [was.enforcement === 'enforce' && is.enforcement !== 'enforce', 'is only recorded, and blocks no more'],
    [isLongerList(was.tools, is.tools), 'the agent may call more tools'],
    [isPersonal(was) && (!isPersonal(is) || hasMorePeople(was, is)), 'the agent may act for more people'],
    [
      was.clearance_tags.length > 0 &&
        (is.clearance_tags.length === 0 || hasMoreTags(was.clearance_tags, is.clearance_tags)),
      'the agent may see more tags',
    ],
    [was.require_task === true && is.require_task !== true, 'the agent may act without a task'],
  ]);
}

function isPersonal({ users, groups }: AgentIdentity): boolean {
  return users !== undefined || groups !== undefined;
}

function hasMorePeople(was: AgentIdentity, is: AgentIdentity): boolean {
  const isNew = (before: readonly string[] = [], after: readonly string[] = []) =>
    after.some((name) => !matchesAny(before, name));
  return isNew(was.users, is.users) || isNew(was.groups, is.groups);
}

/** A removed record binds nothing any more, unless what has no record is blocked. */
function listRemoved(before: Policy, after: Policy): readonly string[] {
  const lost = <Kind extends TenantRecord>(
    was: readonly Kind[],
    is: readonly Kind[],
    nameRecord: (record: Kind) => string,
  ) =>
    was
      .filter((record) => !is.some((each) => isSame(each, record, nameRecord)))
      .map((record) => nameRecord(record));
  return [
    ...(after.undeclared_tools === 'block'
      ? []
      : lost(before.contracts, after.contracts, ({ tool_name }) => tool_name).map(
          (name) => `contract \`${name}\` is removed`,
        )),
    ...(after.unknown_agents === 'block'
      ? []
      : lost(before.identities, after.identities, ({ agent_id }) => agent_id).map(
          (name) => `identity \`${name}\` is removed`,
        )),
  ];
}

function isSame<Kind extends TenantRecord>(a: Kind, b: Kind, nameRecord: (record: Kind) => string): boolean {
  return a.tenant_id === b.tenant_id && nameRecord(a) === nameRecord(b);
}

/** Compares what the comparison of answers does not see: severities and approvals. */
function compareRules(was: Rule, after: Policy): readonly string[] {
  const is = after.rules.find(({ name, tenant_id }) => name === was.name && tenant_id === was.tenant_id);
  if (is === undefined) return [];
  const asks = was.action === 'require_approval' && is.action === 'require_approval';
  return nameTerms(
    'rule',
    was.name,
    pickTrue([
      [
        was.action !== 'allow' && rankSeverity(is.severity_min) > rankSeverity(was.severity_min),
        'applies to fewer severities',
      ],
      [
        was.action !== 'allow' &&
          is.rule_ids !== undefined &&
          JSON.stringify(is.rule_ids) !== JSON.stringify(was.rule_ids),
        'applies to other detectors',
      ],
      [asks && is.approval.min_approvals < was.approval.min_approvals, 'needs fewer approvals'],
      [asks && is.approval.ttl_ms > was.approval.ttl_ms, 'approvals are valid for longer'],
      [
        asks && was.approval.require_second_factor === true && !is.approval.require_second_factor,
        'approvers need no second factor any more',
      ],
    ]),
  );
}

/** A rule without a lowest severity applies to most. */
function rankSeverity(severity: Severity | null): number {
  return severity === null ? 0 : SEVERITIES.indexOf(severity) + 1;
}
