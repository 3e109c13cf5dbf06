import { detect } from '../detect/detect.ts';
import { isOriginRule } from '../flow/rule-names.ts';
import type { FlowCheck } from '../flow/sinks.ts';
import { buildFieldTree, type FieldTree, formatPathStep, keepFields } from '../json/fields.ts';
import { getContentSource, listKeptLeaves, spliceSource } from '../json/source.ts';
import { walkContent } from '../json/walk.ts';
import { isCoveredBy, isFactTag, listLimitingTags, matchesAny } from '../tags.ts';
import type {
  Content,
  Crossing,
  CrossingContext,
  FlowAction,
  Json,
  Policy,
  Tag,
  ToolContract,
} from '../types/index.ts';
import type { Splice } from '../types/json.ts';
import type { ArgumentCheck } from './argument-check.ts';
import type { ContractMatch } from './find-contract.ts';
import { isBeyondClearance } from './identities.ts';
import { compileArgumentCheckOnDemand } from './lazy-argument-check.ts';
import {
  buildFlowRestriction,
  buildRestriction,
  NO_PERSON_TO_COUNT,
  type Restriction,
  type TaggedData,
} from './restriction.ts';
import { listActingAgents } from './rules.ts';

/** Tag of a call whose contract declares that data leaves with it. */
const EGRESS: Tag = 'egress.tool';

/** Returns the fact tags that a contract declares: egress for a call, the origin for a result. */
export function listDeclaredFacts(contract: ContractMatch, phase: Crossing['phase']): readonly Tag[] {
  if (contract === null || contract === 'undeclared') return [];
  if (phase === 'response') return (contract.emits.tags ?? []).filter(isFactTag);
  return contract.side_effects.egress ? [EGRESS] : [];
}

/**
 * Returns the restrictions of a contract on a tool call or its result (`response`) with these tags.
 * `contentRestrictions` come from `findContentRestrictions` and concern the content itself.
 */
export function findContractRestrictions(
  contract: ToolContract | 'undeclared',
  crossing: CrossingContext,
  data: TaggedData,
  contentRestrictions: readonly Restriction[],
): readonly Restriction[] {
  if (contract === 'undeclared') {
    const reason = `The tool \`${crossing.tool ?? ''}\` has no contract, and undeclared tools may not be used. Declare it (\`contracts/\`), or set \`policy.undeclared_tools: allow\`.`;
    return [buildRestriction('contract.tool', reason, 'enforce')];
  }
  return crossing.phase === 'response'
    ? [...contentRestrictions, ...findResultRestrictions(contract, data)]
    : [
        ...findCallerRestrictions(contract, crossing),
        ...findPersonRestrictions(contract, crossing),
        ...contentRestrictions,
        ...findCallRestrictions(contract, data),
      ];
}

/** Checks the callers and their call rate. Every acting agent must be allowed. */
function findCallerRestrictions(
  { tool_name, allowed_agents, max_calls_per_minute, enforcement }: ToolContract,
  crossing: CrossingContext,
): Restriction[] {
  const restrictions: Restriction[] = [];
  const { calls_last_minute = 0 } = crossing;
  const other = listActingAgents(crossing).find((agent) => !matchesAny(allowed_agents, agent));
  if (allowed_agents.length > 0 && other !== undefined) {
    const reason = `The agent \`${other}\` is not among those that may call the tool \`${tool_name}\`.`;
    restrictions.push(buildRestriction('contract.allowed_agents', reason, enforcement));
  }
  if (max_calls_per_minute !== null && calls_last_minute > max_calls_per_minute) {
    const reason = `The agent \`${crossing.agent_id}\` may call the tool \`${tool_name}\` ${max_calls_per_minute} times a minute; wait, and call again.`;
    restrictions.push(buildRestriction('contract.max_calls_per_minute', reason, enforcement));
  }
  return restrictions;
}

/** Checks the person's scopes, and the calls that all agents made for the person. */
function findPersonRestrictions(
  { tool_name, required_scopes = [], max_calls_per_minute_per_user, enforcement }: ToolContract,
  { principal, calls_last_minute_for_user = 0 }: CrossingContext,
): Restriction[] {
  const restrictions: Restriction[] = [];
  const user = principal?.user ?? null;
  const missing = required_scopes.find((scope) => user?.scopes?.includes(scope) !== true);
  if (missing !== undefined) {
    const reason =
      user === null
        ? `The tool \`${tool_name}\` requires the scope \`${missing}\`, and the call proves no person who has it.`
        : `The person has not the scope \`${missing}\`, which the tool \`${tool_name}\` requires.`;
    restrictions.push(buildRestriction('contract.required_scopes', reason, enforcement));
  }
  if (max_calls_per_minute_per_user === undefined) return restrictions;
  if (user === null) {
    const reason = `The tool \`${tool_name}\` has a limit for each person, and the call proves no person.`;
    restrictions.push(buildRestriction(NO_PERSON_TO_COUNT, reason, enforcement));
  } else if (calls_last_minute_for_user > max_calls_per_minute_per_user) {
    const reason = `The tool \`${tool_name}\` may be called ${max_calls_per_minute_per_user} times a minute for one person, over all agents; wait, and call again.`;
    restrictions.push(buildRestriction('contract.max_calls_per_minute_per_user', reason, enforcement));
  }
  return restrictions;
}

function findCallRestrictions(
  { tool_name, accepts, enforcement, side_effects }: ToolContract,
  data: TaggedData,
): Restriction[] {
  const restrictions: Restriction[] = [];
  const refused = findUncoveredTag(accepts.tags, data);
  if (refused !== null) {
    const reason = `The arguments carry the tag \`${refused.tag}\`, which the tool \`${tool_name}\` does not accept.`;
    restrictions.push(buildRestriction('contract.accepts.tags', reason, enforcement, refused.path));
  }
  if (side_effects.requires_approval) {
    const reason = `Approval required by the contract of the tool \`${tool_name}\`.`;
    restrictions.push({
      violation: null,
      rule: 'contract.requires_approval',
      action: 'require_approval',
      reason,
      enforcement,
    });
  }
  return restrictions;
}

function findResultRestrictions(
  { tool_name, emits, enforcement }: ToolContract,
  data: TaggedData,
): Restriction[] {
  const refused = findUncoveredTag(listLimitingTags(emits.tags), data);
  if (refused === null) return [];
  const reason = `The result carries the tag \`${refused.tag}\`, which the tool \`${tool_name}\` may not give out.`;
  return [buildRestriction('contract.emits.tags', reason, enforcement, refused.path)];
}

/**
 * Returns the reason why a contract masks data with these tags in a result, instead of blocking the result; `null` if
 * it does not.
 */
export function findResultMask(
  contract: ContractMatch,
  crossing: CrossingContext,
  policy: Policy,
  tags: readonly Tag[],
): Pick<Restriction, 'rule' | 'reason'> | null {
  if (crossing.phase !== 'response' || contract === null || contract === 'undeclared') return null;
  const { emits, enforcement, tool_name } = contract;
  if (emits.on_violation !== 'redact' || enforcement !== 'enforce') return null;
  const kinds = tags.filter((tag) => !isFactTag(tag));
  const bound = listLimitingTags(emits.tags);
  if (bound !== null && kinds.some((tag) => !isCoveredBy(bound, tag))) {
    const reason = `The result carries tags that the tool \`${tool_name}\` may not give out, so this data is removed.`;
    return { rule: 'contract.emits.tags', reason };
  }
  if (!isBeyondClearance(crossing, policy, kinds)) return null;
  const reason = 'The result carries tags for which an agent has no clearance, so this data is removed.';
  return { rule: 'identity.clearance_tags', reason };
}

/** Returns the first uncovered tag and the path of its finding; `null` if all tags are covered. */
function findUncoveredTag(
  bound: readonly Tag[] | null,
  { tags, findings }: TaggedData,
): { readonly tag: Tag; readonly path: string | null } | null {
  const tag = bound === null ? undefined : tags.find((each) => !isCoveredBy(bound, each));
  if (tag === undefined) return null;
  return { tag, path: findings.find((finding) => finding.tags.includes(tag))?.path ?? null };
}

/** Returns the restrictions of a contract on the arguments or the result, regardless of their tags. */
export function findContentRestrictions(
  contract: ToolContract,
  { phase, content }: Crossing,
  policy: Policy,
): readonly Restriction[] {
  const { accepts, emits, enforcement } = contract;
  if (phase === 'response') {
    return emits.fields.length > 0 && !hasFields(content)
      ? [
          buildRestriction(
            'contract.emits.fields',
            'The result has no fields, so none can be kept.',
            enforcement,
          ),
        ]
      : [];
  }
  const restrictions = findArgumentRestrictions(contract, content, policy);
  if (accepts.fields.length > 0 && !hasFields(content)) {
    restrictions.push(
      buildRestriction(
        'contract.accepts.fields',
        'The arguments have no fields, so none can be kept.',
        enforcement,
      ),
    );
  }
  return restrictions;
}

/** Returns the restrictions for values whose origin a contract does not permit. */
export function listFlowRestrictions(
  { enforcement }: ToolContract,
  { problems }: FlowCheck,
): readonly Restriction[] {
  return problems.map(({ term, reason, action, path }) =>
    buildFlowRestriction(`flow.${term}`, reason, { action, path, enforcement }),
  );
}

/** Rebuilds a restriction on content from a recorded decision. The record holds the violated term and no position. */
export function buildRecordedRestriction(what: string, contract: ToolContract): Restriction {
  const { enforcement, flow } = contract;
  if (isOriginRule(what)) {
    const reason = 'The origin of the values did not fit the contract of the tool.';
    return buildFlowRestriction(what, reason, { action: getFlowAction(what, flow), path: null, enforcement });
  }
  return buildRestriction(
    `contract.${what}`,
    'The content did not fit the contract of the tool.',
    enforcement,
  );
}

function getFlowAction(rule: string, flow: ToolContract['flow']): FlowAction {
  if (flow === undefined) return 'block';
  if (rule === 'flow.others') return flow.others.otherwise;
  if (rule === 'flow.intent') return flow.otherwise;
  const name = rule.slice('flow.arguments.'.length);
  return Object.hasOwn(flow.arguments, name) ? flow.arguments[name]!.otherwise : 'block';
}

/** Returns whether content has fields: objects and lists do, text does not. */
function hasFields(content: Content): boolean {
  return content.kind === 'json' && typeof content.value === 'object';
}

function findArgumentRestrictions(contract: ToolContract, content: Content, policy: Policy): Restriction[] {
  if (contract.arguments === null) return [];
  const value: Json = content.kind === 'text' ? content.text : content.value;
  const seen = new Set<string>();
  const restrictions: Restriction[] = [];
  for (const { pointer, keyword } of getArgumentCheck(contract)(value)) {
    const path = `$${pointer.map((step) => formatStep(step, policy)).join('')}`;
    if (seen.has(path)) continue;
    seen.add(path);
    const reason = `The arguments do not fit the tool’s schema (\`${keyword}\`).`;
    restrictions.push(buildRestriction('contract.arguments', reason, contract.enforcement, path));
  }
  return restrictions;
}

function formatStep(step: string, policy: Policy): string {
  return /^\d{1,9}$/.test(step) ? `[${step}]` : formatPathStep(redactKey(step, policy));
}

const KEY_SHOWN_MAX = 64;

/** Key of an argument as a path may show it. The caller chose the key, so a key with findings becomes `*`. */
function redactKey(key: string, { detection, limits }: Policy): string {
  const { findings, coverage } = detect({ kind: 'text', text: key }, detection, limits);
  return findings.length > 0 || coverage.status !== 'full' ? '*' : key.slice(0, KEY_SHOWN_MAX);
}

/** Content without the fields that a contract removes. */
export interface StrippedContent {
  readonly splices: readonly Splice[];
  /** Names of the removed fields. */
  readonly stripped_fields: readonly string[];
  /** The remaining content. */
  readonly content: Content;
  /** For each remaining leaf, its number in the original content. */
  readonly leaves: readonly number[];
}

/**
 * Removes the fields that a contract does not list; returns `null` if it removes none. Content over a limit is left
 * unchanged, because it is blocked for that.
 */
export function stripFields(
  contract: ToolContract,
  { phase, content }: Pick<Crossing, 'phase' | 'content'>,
  policy: Policy,
): StrippedContent | null {
  const fields = phase === 'response' ? contract.emits.fields : contract.accepts.fields;
  if (fields.length === 0 || content.kind === 'text') return null;
  if (walkContent(content, policy.limits, () => {}) !== null) return null;
  const source = getContentSource(content);
  const { splices, stripped_fields } = keepFields(source.root, getFieldTree(fields), (key) =>
    redactKey(key, policy),
  );
  if (splices.length === 0) return null;
  const leaves = listKeptLeaves(source.root, splices);
  return { splices, stripped_fields, content: spliceSource(source, splices), leaves };
}

const checks = new WeakMap<ToolContract, ArgumentCheck>();

function getArgumentCheck(contract: ToolContract): ArgumentCheck {
  let check = checks.get(contract);
  if (check === undefined) {
    check = compileArgumentCheckOnDemand(contract.arguments);
    checks.set(contract, check);
  }
  return check;
}

const trees = new WeakMap<readonly string[], FieldTree>();

function getFieldTree(fields: readonly string[]): FieldTree {
  let tree = trees.get(fields);
  if (tree === undefined) {
    tree = buildFieldTree(fields);
    trees.set(fields, tree);
  }
  return tree;
}
