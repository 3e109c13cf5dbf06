import { coveredBy, matchesAny } from '../tags.ts';
import type { AgentIdentity, Envelope, Finding, Policy, Tag } from '../types/index.ts';
import type { Carried, Objection } from './objection.ts';
import { actorsOf } from './rules.ts';

/**
 * What the identities have against an action: an agent that is unknown where only known ones may act, a tool
 * that is not the agent's, a tag that is beyond its clearance. Everyone who acts is asked; of a message also
 * the one who gets it. Identities are asked at the boundary `action` only.
 */
export function identityObjections(
  crossing: Envelope,
  policy: Policy,
  carried: Carried,
): readonly Objection[] {
  if (policy.identities.length === 0 && policy.unknown_agents === 'allow') return [];
  const is_message = crossing.phase === 'message';
  // Memory is no tool: what may be kept there is for its documents to say.
  const is_bound = !is_message && crossing.memory === undefined;
  const objections = actorsOf(crossing).flatMap((agent_id) => {
    const identity = identityOf(policy, agent_id, crossing.tenant_id);
    if (identity === null) return unknownAgent(policy, agent_id);
    return [...(is_bound ? toolBinding(identity, crossing.tool) : []), ...clearance(identity, carried)];
  });
  if (is_message && crossing.destination_agent_id !== null) {
    const { destination_agent_id } = crossing;
    const receiver = identityOf(policy, destination_agent_id, crossing.tenant_id);
    objections.push(
      ...(receiver === null ? unknownAgent(policy, destination_agent_id) : clearance(receiver, carried)),
    );
  }
  return objections;
}

function unknownAgent(policy: Policy, agent_id: string): Objection[] {
  if (policy.unknown_agents === 'allow') return [];
  const reason = `The agent \`${agent_id}\` has no identity document, and unknown agents may not act.`;
  return [objection('agent_id', reason, 'enforce')];
}

function toolBinding({ agent_id, tools, enforcement }: AgentIdentity, tool: string | null): Objection[] {
  if (tools.length === 0 || (tool !== null && matchesAny(tools, tool))) return [];
  const what = tool === null ? 'This action' : `The tool \`${tool}\``;
  const reason = `${what} is not among the tools of the agent \`${agent_id}\`.`;
  return [objection('tools', reason, enforcement)];
}

function clearance(identity: AgentIdentity, { tags, findings }: Carried): Objection[] {
  const beyond = tagsBeyond(identity, tags);
  const [tag] = beyond;
  if (tag === undefined) return [];
  const finding = findings.find((each) => each.tags.includes(tag));
  const others = beyond.length === 1 ? '' : ` and ${beyond.length - 1} more`;
  const found = finding === undefined ? '' : ` ${FOUND[finding.type] ?? ''}`;
  const reason =
    `The agent \`${identity.agent_id}\` has no clearance for the tag \`${tag}\`${others}.${found}`.trimEnd();
  return [objection('clearance_tags', reason, identity.enforcement, finding?.path ?? null)];
}

/** Says what a tag beyond the clearance comes from, for a tag that was found and not declared. */
const FOUND: Partial<Record<Finding['type'], string>> = {
  injection_detected: 'An injection was found in the data.',
  dangerous_command: 'A dangerous command was found in the data.',
  secret_detected: 'A secret was found in the data.',
  pii_detected: 'Personal data was found in the data.',
};

function tagsBeyond({ clearance_tags }: AgentIdentity, tags: readonly Tag[]): readonly Tag[] {
  return clearance_tags.length === 0 ? [] : tags.filter((tag) => !coveredBy(clearance_tags, tag));
}

/** Whether an identity that is enforced does not clear one of its acting agents for one of these tags. */
export function isBeyondClearance(crossing: Envelope, policy: Policy, tags: readonly Tag[]): boolean {
  return actorsOf(crossing).some((agent_id) => {
    const identity = identityOf(policy, agent_id, crossing.tenant_id);
    return identity?.enforcement === 'enforce' && tagsBeyond(identity, tags).length > 0;
  });
}

/** Returns the agents of a crossing that lack clearance for any of these tags. */
export function agentsWithoutClearance(
  crossing: Envelope,
  policy: Policy,
  tags: readonly Tag[],
): readonly string[] {
  return agentsWhose(crossing, policy, (identity) => tagsBeyond(identity, tags).length > 0);
}

/** Returns the agents of a crossing whose identities do not have its tool. */
export function agentsWithoutTool(crossing: Envelope, policy: Policy): readonly string[] {
  return agentsWhose(crossing, policy, (identity) => toolBinding(identity, crossing.tool).length > 0);
}

/** Returns the agents of a crossing that have no identity document. */
export function agentsWithoutIdentity(crossing: Envelope, policy: Policy): readonly string[] {
  return agentsIn(crossing).filter((agent_id) => identityOf(policy, agent_id, crossing.tenant_id) === null);
}

function agentsWhose(
  crossing: Envelope,
  policy: Policy,
  lacks: (identity: AgentIdentity) => boolean,
): readonly string[] {
  return agentsIn(crossing).filter((agent_id) => {
    const identity = identityOf(policy, agent_id, crossing.tenant_id);
    return identity !== null && lacks(identity);
  });
}

function agentsIn(crossing: Envelope): readonly string[] {
  const { phase, destination_agent_id } = crossing;
  const actors = actorsOf(crossing);
  return phase === 'message' && destination_agent_id !== null ? [...actors, destination_agent_id] : actors;
}

function objection(
  what: string,
  reason: string,
  enforcement: Objection['enforcement'],
  path: string | null = null,
): Objection {
  const breach = { type: 'identity_violation', rule: what, severity: 'high', path, reason } as const;
  return { breach, rule: `identity.${what}`, action: 'block', reason, enforcement };
}

const registers = new WeakMap<Policy, ReadonlyMap<string, AgentIdentity>>();

/** The identity of an agent, the tenant's own before the global one. */
function identityOf(policy: Policy, agent_id: string, tenant_id: string): AgentIdentity | null {
  let register = registers.get(policy);
  if (register === undefined) {
    register = new Map(policy.identities.map((each) => [keyOf(each.tenant_id, each.agent_id), each]));
    registers.set(policy, register);
  }
  return register.get(keyOf(tenant_id, agent_id)) ?? register.get(keyOf(null, agent_id)) ?? null;
}

function keyOf(tenant_id: string | null, name: string): string {
  return JSON.stringify([tenant_id, name]);
}
