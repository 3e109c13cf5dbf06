import type { Objection } from './objection.ts';
import { actorsOf } from './rules.ts';
import { coveredBy, matchesAny } from './tags.ts';
import type { AgentIdentity, Envelope, Policy, Tag } from './types.ts';

/**
 * What the identities have against an action: an agent that is unknown where only known ones may act, a tool
 * that is not the agent's, a tag that is beyond its clearance. Everyone who acts is asked; of a message also
 * the one who gets it. Identities are asked at the boundary `action` only.
 */
export function identityObjections(
  crossing: Envelope,
  policy: Policy,
  tags: readonly Tag[],
): readonly Objection[] {
  if (policy.identities.length === 0 && policy.unknown_agents === 'allow') return [];
  const is_message = crossing.phase === 'message';
  // Memory is no tool: what may be kept there is for its documents to say.
  const is_bound = !is_message && crossing.memory === undefined;
  const objections = actorsOf(crossing).flatMap((agent_id) => {
    const identity = identityOf(policy, agent_id, crossing.tenant_id);
    if (identity === null) return unknownAgent(policy);
    return [...(is_bound ? toolBinding(identity, crossing.tool) : []), ...clearance(identity, tags)];
  });
  if (is_message && crossing.destination_agent_id !== null) {
    const receiver = identityOf(policy, crossing.destination_agent_id, crossing.tenant_id);
    objections.push(...(receiver === null ? unknownAgent(policy) : clearance(receiver, tags)));
  }
  return objections;
}

function unknownAgent(policy: Policy): Objection[] {
  if (policy.unknown_agents === 'allow') return [];
  return [
    objection('agent_id', 'The agent has no identity document, and unknown agents may not act.', 'enforce'),
  ];
}

function toolBinding({ tools, enforcement }: AgentIdentity, tool: string | null): Objection[] {
  if (tools.length === 0 || (tool !== null && matchesAny(tools, tool))) return [];
  return [objection('tools', 'The tool is not among the tools of the agent’s identity.', enforcement)];
}

function clearance({ clearance_tags, enforcement }: AgentIdentity, tags: readonly Tag[]): Objection[] {
  if (clearance_tags.length === 0 || tags.every((tag) => coveredBy(clearance_tags, tag))) return [];
  return [objection('clearance_tags', 'The data carries a tag beyond the agent’s clearance.', enforcement)];
}

function objection(what: string, reason: string, enforcement: Objection['enforcement']): Objection {
  const breach = { type: 'identity_violation', rule: what, severity: 'high', path: null, reason } as const;
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
