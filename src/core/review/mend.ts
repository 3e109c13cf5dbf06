import { contractOf } from '../decision/contracts.ts';
import { agentsWithoutClearance, agentsWithoutIdentity, agentsWithoutTool } from '../decision/identities.ts';
import { DECISION_OF, tagsOf } from '../decision/voices.ts';
import { isFact } from '../tags.ts';
import type { Policy } from '../types/index.ts';
import type { Recollection } from './recorded.ts';
import { retell, type Told, toldOf } from './retell.ts';
import { type Voice, voicesOf } from './said.ts';
import { names } from './trials.ts';

/** One thing that would have to be otherwise. */
export interface Mend {
  readonly kind: 'tag' | 'approval' | 'contract' | 'identity' | 'content' | 'coverage' | 'rule';
  /** The rule that it answers. */
  readonly rule: string;
  /** A phrase behind "It would have been allowed": `without the tag `x``. */
  readonly change: string;
}

/** All that would have to be otherwise together, and what the policy would then say. */
export interface Mends {
  readonly changes: readonly Mend[];
  readonly comes_to: Told;
}

/** Rounds after which what is left stays as it is: each takes at least one voice away. */
const ROUNDS_MAX = 10;

/**
 * The least that would have let a crossing through: the strictest decides, so every voice that blocks has to fall
 * silent, and no other has. Of one that was changed only, the least that would have left it as it was.
 */
export function mendsOf(recalled: Recollection, policy: Policy): Mends {
  const unwanted = toldOf(retell(recalled, policy)).decision;
  const changes: Mend[] = [];
  let now = { recalled, policy };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const voices = voicesOf(now.recalled, now.policy, retell(now.recalled, now.policy));
    const loud = voices.filter(({ action }) => DECISION_OF[action] === unwanted);
    if (loud.length === 0) break;
    for (const voice of loud) {
      const mend = mendOf(voice, now.recalled, now.policy);
      if (!changes.some(({ rule, change }) => rule === mend.rule && change === mend.change))
        changes.push(mend);
      now = without(voice, now);
    }
  }
  return { changes, comes_to: toldOf(retell(now.recalled, now.policy)) };
}

function mendOf(voice: Voice, recalled: Recollection, policy: Policy): Mend {
  const { rule, action, about, tag, origin } = voice;
  if (action === 'require_approval')
    return { kind: 'approval', rule, change: `with a person’s approval, which \`${rule}\` asks for` };
  if (about === 'tag') {
    const change =
      origin === 'declared' ? `without declaring the tag \`${tag}\`` : `without the tag \`${tag}\``;
    return { kind: 'tag', rule, change };
  }
  if (about === 'coverage')
    return { kind: 'coverage', rule, change: 'with a content that stays within the limits of a scan' };
  if (about === 'crossing') return { kind: 'rule', rule, change: otherCrossing(rule, policy) };
  return objectionMend(rule, recalled, policy);
}

function otherCrossing(name: string, policy: Policy): string {
  const rule = policy.rules.find((each) => each.name === name);
  const { tools = [], agents = [], session_tags = [] } = rule ?? {};
  const kinds = [
    ...(session_tags.length > 0 ? [`a session that has not read ${names(session_tags)}`] : []),
    ...(tools.length > 0 ? [`another tool than ${names(tools)}`] : []),
    ...(agents.length > 0 ? [`another agent than ${names(agents)}`] : []),
  ];
  return kinds.length === 0
    ? `without the rule \`${name}\`, which is about every crossing here`
    : `with ${kinds.join(', or ')}`;
}

function objectionMend(rule: string, { crossing, findings, declared }: Recollection, policy: Policy): Mend {
  const { tool } = crossing;
  const contract = contractOf(crossing, policy);
  const terms = contract === null || contract === 'undeclared' ? null : contract;
  switch (rule) {
    case 'contract.tool':
      return { kind: 'contract', rule, change: `with a contract for the tool \`${tool}\`` };
    case 'contract.accepts.tags':
    case 'contract.emits.tags': {
      const tags = (rule === 'contract.accepts.tags' ? terms?.accepts.tags : terms?.emits.tags) ?? [];
      const allowed = tags.length === 0 ? 'without any tag' : `with no tags but ${names(tags)}`;
      return { kind: 'contract', rule, change: `${allowed}, as the contract of \`${tool}\` has it` };
    }
    case 'contract.allowed_agents':
      return { kind: 'contract', rule, change: `by an agent that the contract of \`${tool}\` names` };
    case 'contract.max_calls_per_minute':
      return { kind: 'contract', rule, change: 'a minute later' };
    case 'identity.agent_id':
      return {
        kind: 'identity',
        rule,
        change: `with an identity document for each of ${names(agentsWithoutIdentity(crossing, policy))}`,
      };
    case 'identity.tools':
      return {
        kind: 'identity',
        rule,
        change: `with \`${tool}\` among the tools of ${names(agentsWithoutTool(crossing, policy))}`,
      };
    case 'identity.clearance_tags': {
      const tags = tagsOf(findings, declared).filter((tag) => !isFact(tag));
      const lacking = names(agentsWithoutClearance(crossing, policy, tags));
      return { kind: 'identity', rule, change: `with every tag within the clearance of ${lacking}` };
    }
    default:
      return { kind: 'content', rule, change: `with a content that fits the contract of \`${tool}\`` };
  }
}

interface Setting {
  readonly recalled: Recollection;
  readonly policy: Policy;
}

/** The same crossing and policy, as if the voice had nothing to say. */
function without(voice: Voice, { recalled, policy }: Setting): Setting {
  const { rule, action, about, tag } = voice;
  const { crossing, findings, declared, content } = recalled;
  if (action === 'require_approval') {
    const approved_rules = [...(crossing.approved_rules ?? []), rule];
    return { policy, recalled: { ...recalled, crossing: { ...crossing, approved_rules } } };
  }
  if (about === 'tag') {
    return {
      policy,
      recalled: {
        ...recalled,
        findings: findings.filter(({ tags }) => !tags.includes(tag as string)),
        declared: declared.filter((each) => each !== tag),
      },
    };
  }
  if (about === 'coverage') return { policy, recalled: { ...recalled, coverage: { status: 'full' } } };
  if (about === 'crossing')
    return { recalled, policy: { ...policy, rules: policy.rules.filter(({ name }) => name !== rule) } };
  if (about === 'identity')
    return { recalled, policy: { ...policy, identities: [], unknown_agents: 'allow' } };
  const settled = { ...recalled, content: { ...content, broken: [], strips: false } };
  return { recalled: settled, policy: lenient(policy) };
}

/** Contracts that ask for nothing, for the question what else speaks. */
function lenient(policy: Policy): Policy {
  const contracts = policy.contracts.map((each) => ({
    ...each,
    allowed_agents: [],
    max_calls_per_minute: null,
    accepts: { ...each.accepts, tags: null },
    emits: { ...each.emits, tags: null },
  }));
  return { ...policy, contracts, undeclared_tools: 'allow' };
}
