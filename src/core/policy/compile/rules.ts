import type {
  Action,
  DocumentProblem,
  Json,
  JsonObject,
  Phase,
  Rule,
  TaintChange,
  TaintRule,
} from '../../types/index.ts';
import type { ConditionCompiler } from '../conditions/facts.ts';
import { FALLBACK_PLACEHOLDERS, listUnknownPlaceholders } from '../fallback.ts';
import { ruleSchema } from '../schemas.ts';
import { DEFAULT_APPROVAL } from './builtin.ts';
import { buildReads, findReadProblems, toList } from './condition-reads.ts';
import type { RuleDocument } from './document-types.ts';
import { parseDurationMs } from './duration.ts';
import { buildChildLocation, buildDocumentProblem, type DocumentLocation, formatNames } from './problems.ts';
import { readShape } from './shape-problems.ts';

/**
 * A parsed rule and its location: a rule that decides, a rule that changes the taint tags of sessions, or both.
 */
export interface LocatedRule {
  readonly name: string;
  readonly tenant_id: string | null;
  readonly rule: Rule | null;
  readonly mark: TaintRule | null;
  readonly place: DocumentLocation;
}

const PRIORITY_DEFAULT = 100;

/**
 * Parses one rule. `tenant_id` is that of its list. Returns `null` if the rule is disabled or has problems.
 */
export function parseRule(
  written: Json,
  tenantId: string | null,
  place: DocumentLocation,
  problems: DocumentProblem[],
  conditions: ConditionCompiler | undefined,
): LocatedRule | null {
  const { value: record, problems: shape } = readShape(written, ruleSchema, place);
  const meaning = isReadable(written) ? findRuleProblems(written, tenantId, place, conditions) : [];
  problems.push(...shape, ...meaning);
  if (record === null || meaning.some(({ level }) => level === 'error') || record.enabled === false)
    return null;
  const shared = buildRuleScope(record, tenantId, conditions);
  const { name } = shared;
  const { action, session } = record;
  return {
    name,
    tenant_id: shared.tenant_id,
    rule: action === undefined ? null : getRule(record, action, shared),
    mark:
      session === undefined || record.enforcement === 'monitor'
        ? null
        : { ...shared, change: getChange(session) },
    place,
  };
}

/** A rule whose parts that the semantic checks read have the required types. Other parts may be invalid. */
type ReadableRule = JsonObject & {
  readonly condition?: JsonObject;
  readonly fallback_template?: string;
};

function isReadable(written: Json): written is ReadableRule {
  if (!isMapping(written)) return false;
  const { condition, fallback_template } = written;
  const hasText = fallback_template === undefined || typeof fallback_template === 'string';
  return (condition === undefined || isMapping(condition)) && hasText;
}

function isMapping(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Returns the scope of a rule: the crossings that it applies to. */
function buildRuleScope(
  record: RuleDocument,
  tenantId: string | null,
  conditions: ConditionCompiler | undefined,
): Omit<TaintRule, 'change'> {
  const { condition = {} } = record;
  const tools = removeDuplicates([...toList(condition.tool), ...toList(condition.tools)]);
  const reads = buildReads(condition.when, tools, conditions);
  const phasesDefault = reads === null ? PHASES_DEFAULT : READ_PHASES;
  const dataTags = record.data_tags ?? condition.data_tags ?? [];
  return {
    name: record.name,
    boundaries: removeDuplicates(toList(record.boundary)),
    phases: removeDuplicates(condition.phase === undefined ? phasesDefault : toList(condition.phase)),
    data_tags: removeDuplicates(dataTags.map((tag) => tag.toLowerCase())),
    tenant_id: tenantId ?? record.tenant_id ?? null,
    tools,
    agents: removeDuplicates([...toList(condition.agent), ...toList(condition.agents)]),
    // Set only if they are written, so that every other policy keeps its hash.
    ...(condition.users !== undefined && { users: removeDuplicates(condition.users) }),
    ...(condition.groups !== undefined && { groups: removeDuplicates(condition.groups) }),
    ...(condition.agent_tiers !== undefined && { agent_tiers: removeDuplicates(condition.agent_tiers) }),
    session_tags: normalizeSessionTags(condition.session_tags),
    when: condition.when ?? null,
    // Set only if there are reads, so that every other policy keeps its hash.
    ...(reads !== null && { reads }),
  };
}

function getRule(record: RuleDocument, action: Action, shared: Omit<TaintRule, 'change'>): Rule {
  const { approval = {}, condition = {} } = record;
  const named = [...toList(condition.rule_id), ...toList(condition.rule_ids)];
  return {
    ...shared,
    action,
    priority: record.priority ?? PRIORITY_DEFAULT,
    reason: record.reason ?? DESCRIPTIONS[action](record.name),
    severity_min: record.condition?.severity_min ?? null,
    ...(named.length > 0 && { rule_ids: removeDuplicates(named) }),
    severity: record.severity ?? null,
    fallback_template: record.fallback_template ?? null,
    enforcement: record.enforcement ?? 'enforce',
    approval: {
      ttl_ms: approval.ttl === undefined ? DEFAULT_APPROVAL.ttl_ms : parseDurationMs(approval.ttl),
      min_approvals: approval.min_approvals ?? DEFAULT_APPROVAL.min_approvals,
      ...(approval.require_second_factor === true && { require_second_factor: true }),
    },
  };
}

function getChange({ add, remove, reset }: NonNullable<RuleDocument['session']>): TaintChange {
  return { add: normalizeSessionTags(add), remove: reset === true ? 'all' : normalizeSessionTags(remove) };
}

function normalizeSessionTags(written: readonly string[] | undefined): readonly string[] {
  return removeDuplicates((written ?? []).map((tag) => tag.toLowerCase().replace(/\.\*$/, '')));
}

/** A rule applies to tool results only if it names their phase. */
const PHASES_DEFAULT: readonly Phase[] = ['request', 'message'];

/** Arguments and totals are those of a call before it runs. */
const READ_PHASES: readonly Phase[] = ['request'];

/** The reasons for rules that give none. */
const DESCRIPTIONS: Readonly<Record<Action, (name: string) => string>> = {
  allow: (name) => `The rule \`${name}\` allows this.`,
  flag: (name) => `The rule \`${name}\` flags this.`,
  redact: (name) => `The rule \`${name}\` masks the findings.`,
  require_approval: (name) => `Approval required by rule \`${name}\`.`,
  block: (name) => `The rule \`${name}\` blocks this.`,
};

function findRuleProblems(
  record: ReadableRule,
  tenantId: string | null,
  place: DocumentLocation,
  conditions: ConditionCompiler | undefined,
): readonly DocumentProblem[] {
  return [
    ...findReservedName(record, place),
    ...findMissingAction(record, place),
    ...findSessionProblems(record, place),
    ...findConditionProblems(
      record.condition?.when,
      buildChildLocation(place, 'condition', 'when'),
      conditions,
    ),
    ...findReadProblems(record, place, conditions),
    ...findDoubledTags(record, place),
    ...findTaglessRedact(record, place),
    ...findMisplacedConditions(record, place),
    ...findPhaseWithoutAction(record, place),
    ...findForeignTenant(record, tenantId, place),
    ...findPlaceholderProblems(record, place),
  ];
}

/** The audit log names rules, so no other rule may be taken for a built-in one. */
function findReservedName({ name }: ReadableRule, place: DocumentLocation): DocumentProblem[] {
  if (typeof name !== 'string' || !/^builtin\./i.test(name.trim())) return [];
  const what = 'begins with `builtin.`, which is reserved for built-in rules; choose another name';
  return [buildDocumentProblem(buildChildLocation(place, 'name'), what)];
}

/** Conditions that need findings, with what only findings have. */
const FINDING_CONDITIONS = {
  severity_min: 'a severity',
  rule_id: 'a detector',
  rule_ids: 'a detector',
} as const;

/** A session change would apply without these conditions, and a rule without tags is not about findings. */
function findMisplacedConditions(
  { condition = {}, data_tags, session }: ReadableRule,
  place: DocumentLocation,
): DocumentProblem[] {
  const hasTags = (data_tags ?? condition.data_tags) !== undefined;
  if (hasTags && session === undefined) return [];
  return Object.entries(FINDING_CONDITIONS)
    .filter(([key]) => condition[key] !== undefined)
    .slice(0, 1)
    .map(([key, what]) =>
      buildDocumentProblem(
        buildChildLocation(place, 'condition', key),
        hasTags
          ? 'conflicts with `session`, which reads tags only; write two rules'
          : `needs \`data_tags\`: only findings have ${what}`,
      ),
    );
}

function findMissingAction({ action, session }: ReadableRule, place: DocumentLocation): DocumentProblem[] {
  return action === undefined && session === undefined
    ? [buildDocumentProblem(buildChildLocation(place, 'action'), 'is missing')]
    : [];
}

function findSessionProblems(
  { action, session, enforcement }: ReadableRule,
  place: DocumentLocation,
): DocumentProblem[] {
  if (!isMapping(session)) return [];
  const here = buildChildLocation(place, 'session');
  const { add, remove, reset } = session;
  if (add === undefined && remove === undefined && reset !== true)
    return [
      buildDocumentProblem(here, 'says nothing; name tags under `add` or `remove`, or say `reset: true`'),
    ];
  if (remove !== undefined && reset === true)
    return [
      buildDocumentProblem(
        buildChildLocation(here, 'remove'),
        'conflicts with `reset: true`, which removes all tags; keep one of them',
      ),
    ];
  if (action === undefined && enforcement === 'monitor')
    return [
      buildDocumentProblem(
        buildChildLocation(place, 'enforcement'),
        'is `monitor` on a rule that decides nothing, so it would do nothing at all; leave it out',
      ),
    ];
  return [];
}

/** A condition that is not evaluated would silently make a rule that never matches. */
function findConditionProblems(
  when: unknown,
  place: DocumentLocation,
  conditions: ConditionCompiler | undefined,
): DocumentProblem[] {
  if (typeof when !== 'string') return [];
  const wrong =
    conditions === undefined
      ? 'needs what reads conditions, which is not loaded'
      : conditions.findProblem(when);
  return wrong === null ? [] : [buildDocumentProblem(place, wrong)];
}

function findDoubledTags(record: ReadableRule, place: DocumentLocation): DocumentProblem[] {
  if (record.data_tags === undefined || record.condition?.data_tags === undefined) return [];
  return [
    buildDocumentProblem(
      buildChildLocation(place, 'condition', 'data_tags'),
      'conflicts with `data_tags` of the rule; keep one of them',
    ),
  ];
}

function findTaglessRedact(record: ReadableRule, place: DocumentLocation): DocumentProblem[] {
  const hasTags = record.data_tags !== undefined || record.condition?.data_tags !== undefined;
  if (record.action !== 'redact' || hasTags) return [];
  return [
    buildDocumentProblem(
      buildChildLocation(place, 'action'),
      'is `redact` without `data_tags`, so there is nothing that it could mask; name the tags, or choose another action',
    ),
  ];
}

function findPhaseWithoutAction(record: ReadableRule, place: DocumentLocation): DocumentProblem[] {
  if (record.condition?.phase === undefined || toList(record.boundary).includes('action')) return [];
  return [
    buildDocumentProblem(
      buildChildLocation(place, 'condition', 'phase'),
      'belongs to the boundary `action`, which the rule does not name',
    ),
  ];
}

function findForeignTenant(
  record: ReadableRule,
  tenantId: string | null,
  place: DocumentLocation,
): DocumentProblem[] {
  const own = record.tenant_id ?? null;
  if (tenantId === null || own === null || own === tenantId) return [];
  return [
    buildDocumentProblem(
      buildChildLocation(place, 'tenant_id'),
      'differs from the tenant that the rule belongs to; remove it',
    ),
  ];
}

function findPlaceholderProblems(record: ReadableRule, place: DocumentLocation): DocumentProblem[] {
  if (record.fallback_template === undefined) return [];
  const here = buildChildLocation(place, 'fallback_template');
  const unknown = [...new Set(listUnknownPlaceholders(record.fallback_template))].map((name) => {
    const why = name === 'original' ? 'would give out what is blocked' : 'does not exist';
    return buildDocumentProblem(
      here,
      `has the placeholder \`{${name}}\`, which ${why}; there are ${formatNames(FALLBACK_PLACEHOLDERS.map((each) => `{${each}}`))}`,
    );
  });
  const isUsed =
    toList(record.boundary).includes('output') && (record.action === 'block' || record.action === 'redact');
  if (isUsed) return unknown;
  return [
    ...unknown,
    buildDocumentProblem(here, 'is used only where an `output` is blocked or redacted', 'warning'),
  ];
}

function removeDuplicates<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
