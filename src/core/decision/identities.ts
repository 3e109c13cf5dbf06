import { memoize } from '../memoize.ts';
import { isCoveredBy, matchesAny } from '../tags.ts';
import type { AgentIdentity, CrossingContext, Finding, Policy, ProvedUser, Tag } from '../types/index.ts';
import { buildRestriction, type Restriction, type TaggedData } from './restriction.ts';
import { listActingAgents, matchesPerson } from './rules.ts';
import { buildTenantRegister, findTenantRecord } from './tenant-records.ts';

/**
 * Returns the restrictions of agent identities on an action: an unknown agent where only known agents may act, a tool
 * outside the agent's list, or a tag beyond its clearance. Every acting agent is checked, and the receiver of a
 * message too. Identities apply at the boundary `action` only.
 */
export function findIdentityRestrictions(
  crossing: CrossingContext,
  policy: Policy,
  data: TaggedData,
): readonly Restriction[] {
  if (policy.identities.length === 0 && policy.unknown_agents === 'allow') return [];
  const isMessage = crossing.phase === 'message';
  // Memory is not a tool. Memory schemas control what may be stored.
  const isBound = !isMessage && crossing.memory === undefined;
  const restrictions = listActingAgents(crossing).flatMap((agentId) => {
    const identity = findIdentity(policy, agentId, crossing.tenant_id);
    if (identity === null) return restrictUnknownAgent(policy, agentId);
    return [
      ...(isBound ? findToolRestrictions(identity, crossing.tool) : []),
      ...findPersonRestrictions(identity, crossing.principal?.user ?? null),
      ...(isBound ? findMissingTask(identity, crossing) : []),
      ...findClearanceRestrictions(identity, data),
    ];
  });
  if (isMessage && crossing.destination_agent_id !== null) {
    const { destination_agent_id } = crossing;
    const receiver = findIdentity(policy, destination_agent_id, crossing.tenant_id);
    restrictions.push(
      ...(receiver === null
        ? restrictUnknownAgent(policy, destination_agent_id)
        : findClearanceRestrictions(receiver, data)),
    );
  }
  return restrictions;
}

function restrictUnknownAgent(policy: Policy, agentId: string): Restriction[] {
  if (policy.unknown_agents === 'allow') return [];
  const reason = `The agent \`${agentId}\` has no identity document, and unknown agents may not act.`;
  return [buildRestriction('identity.agent_id', reason, 'enforce')];
}

function findToolRestrictions(
  { agent_id, tools, enforcement }: AgentIdentity,
  tool: string | null,
): Restriction[] {
  if (tools.length === 0 || (tool !== null && matchesAny(tools, tool))) return [];
  const what = tool === null ? 'This action' : `The tool \`${tool}\``;
  const reason = `${what} is not among the tools of the agent \`${agent_id}\`.`;
  return [buildRestriction('identity.tools', reason, enforcement)];
}

function findPersonRestrictions(identity: AgentIdentity, user: ProvedUser | null): Restriction[] {
  const { agent_id, users, groups, enforcement } = identity;
  if (users === undefined && groups === undefined) return [];
  if (user !== null && matchesPerson(identity, user)) return [];
  const who = user === null ? 'the call proves no person' : 'this person is not listed';
  const reason = `The agent \`${agent_id}\` may act for particular people only, and ${who}.`;
  return [buildRestriction('identity.users', reason, enforcement)];
}

/** A result needs no task, because its call had one. */
function findMissingTask(
  { agent_id, require_task, enforcement }: AgentIdentity,
  { task, phase }: CrossingContext,
): Restriction[] {
  if (require_task !== true || task !== undefined || phase !== 'request') return [];
  const reason = `The agent \`${agent_id}\` may act only for a task, and the call names none (\`context.task_id\`).`;
  return [buildRestriction('identity.require_task', reason, enforcement)];
}

function findClearanceRestrictions(identity: AgentIdentity, { tags, findings }: TaggedData): Restriction[] {
  const beyond = listUnclearedTags(identity, tags);
  const [tag] = beyond;
  if (tag === undefined) return [];
  const finding = findings.find((each) => each.tags.includes(tag));
  const others = beyond.length === 1 ? '' : ` and ${beyond.length - 1} more`;
  const found = finding === undefined ? '' : ` ${FINDING_SENTENCES[finding.type] ?? ''}`;
  const reason =
    `The agent \`${identity.agent_id}\` has no clearance for the tag \`${tag}\`${others}.${found}`.trimEnd();
  return [buildRestriction('identity.clearance_tags', reason, identity.enforcement, finding?.path ?? null)];
}

/** Sentences on the origin of a tag beyond the clearance, for tags that were found and not declared. */
const FINDING_SENTENCES: Partial<Record<Finding['type'], string>> = {
  injection_detected: 'An injection was found in the data.',
  dangerous_command: 'A dangerous command was found in the data.',
  secret_detected: 'A secret was found in the data.',
  pii_detected: 'Personal data was found in the data.',
};

function listUnclearedTags({ clearance_tags }: AgentIdentity, tags: readonly Tag[]): readonly Tag[] {
  return clearance_tags.length === 0 ? [] : tags.filter((tag) => !isCoveredBy(clearance_tags, tag));
}

/** Returns whether an enforced identity denies an acting agent clearance for one of these tags. */
export function isBeyondClearance(crossing: CrossingContext, policy: Policy, tags: readonly Tag[]): boolean {
  return listActingAgents(crossing).some((agentId) => {
    const identity = findIdentity(policy, agentId, crossing.tenant_id);
    return identity?.enforcement === 'enforce' && listUnclearedTags(identity, tags).length > 0;
  });
}

/** Returns the agents of a crossing that lack clearance for any of these tags. */
export function listAgentsWithoutClearance(
  crossing: CrossingContext,
  policy: Policy,
  tags: readonly Tag[],
): readonly string[] {
  return filterAgents(crossing, policy, (identity) => listUnclearedTags(identity, tags).length > 0);
}

/** Returns the agents of a crossing whose identities do not have its tool. */
export function listAgentsWithoutTool(crossing: CrossingContext, policy: Policy): readonly string[] {
  return filterAgents(
    crossing,
    policy,
    (identity) => findToolRestrictions(identity, crossing.tool).length > 0,
  );
}

/** Returns the agents of a crossing that have no identity document. */
export function listAgentsWithoutIdentity(crossing: CrossingContext, policy: Policy): readonly string[] {
  return listAgents(crossing).filter((agentId) => findIdentity(policy, agentId, crossing.tenant_id) === null);
}

function filterAgents(
  crossing: CrossingContext,
  policy: Policy,
  lacks: (identity: AgentIdentity) => boolean,
): readonly string[] {
  return listAgents(crossing).filter((agentId) => {
    const identity = findIdentity(policy, agentId, crossing.tenant_id);
    return identity !== null && lacks(identity);
  });
}

function listAgents(crossing: CrossingContext): readonly string[] {
  const { phase, destination_agent_id } = crossing;
  const actors = listActingAgents(crossing);
  return phase === 'message' && destination_agent_id !== null ? [...actors, destination_agent_id] : actors;
}

const getRegister = memoize(({ identities }: Policy) =>
  buildTenantRegister(identities, ({ agent_id }) => agent_id),
);

/** Returns the identity of an agent: the tenant's own, or else the global one. */
function findIdentity(policy: Policy, agentId: string, tenantId: string): AgentIdentity | null {
  return findTenantRecord(getRegister(policy), tenantId, agentId);
}
