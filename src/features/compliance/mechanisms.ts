import type { Policy } from '../../core/types/index.ts';

/** The state of a mechanism under one policy. */
export interface MechanismState {
  /**
   * `available`: the policy does not say whether it is used; its events do. `monitor`: only in monitor mode.
   */
  readonly state: 'active' | 'available' | 'monitor' | 'inactive';
  /** One clause for the report: `4 contracts`. */
  readonly detail: string;
}

interface MechanismRecord {
  /** The words of a report. */
  readonly title: string;
  /** The remedy if it is not active, as a sentence. Absent if it is always active. */
  readonly advice?: string;
  /** Returns how far a policy has it for a tenant; for `*` in all tenants together. */
  readonly evaluate: (policy: Policy, tenantId: string) => MechanismState;
}

const ALWAYS = (detail: string) => (): MechanismState => ({ state: 'active', detail });
const AVAILABLE = (detail: string) => (): MechanismState => ({ state: 'available', detail });

/** The parts of the service that carry controls, apart from rules on tagged data. */
export const MECHANISMS = {
  audit_log: {
    title: 'Audit log',
    evaluate: ALWAYS('every decision is appended to a hash chain before it is answered'),
  },
  signed_checkpoints: {
    title: 'Signed checkpoints',
    evaluate: ALWAYS('an Ed25519 key signs the end of each chain'),
  },
  policy_by_hash: {
    title: 'Policies by hash',
    evaluate: ALWAYS('every event names the hash of the policy that decided'),
  },
  scan_limits: {
    title: 'Limits of scanning',
    evaluate: ({ limits }) => ({
      state: 'active',
      detail: `content beyond ${limits.text_bytes_max} bytes is blocked`,
    }),
  },
  fail_closed: {
    title: 'Faults block',
    evaluate: ALWAYS('a fault, or an event that cannot be written, blocks'),
  },
  kill_switch: { title: 'Kill switch', evaluate: AVAILABLE('an operator can block an agent everywhere') },
  capability_tokens: {
    title: 'Capability tokens',
    evaluate: AVAILABLE('a token limits an agent to one tool for a time'),
  },
  roles: { title: 'Roles and permissions', evaluate: ALWAYS('each route names one permission') },
  secret_references: {
    title: 'Secrets by reference',
    evaluate: AVAILABLE('agents get secrets through a backend, and every read is recorded'),
  },
  retention: {
    title: 'Retention',
    evaluate: AVAILABLE('expired memory and old records are deleted, and both are recorded'),
  },
  budgets: { title: 'Budgets of model calls', evaluate: AVAILABLE('a budget refuses calls that exceed it') },
  tool_pins: {
    title: 'Pinned MCP tools',
    evaluate: AVAILABLE('a changed tool definition is quarantined until an approver accepts it'),
  },
  tool_contracts: {
    title: 'Tool contracts',
    advice: 'Declare contracts for the tools of your agents below `policies/`.',
    evaluate: (policy, tenantId) => countEnforced('contract', policy.contracts, tenantId),
  },
  undeclared_tools: {
    title: 'Undeclared tools are blocked',
    advice: 'Set `policy.undeclared_tools: block`.',
    evaluate: ({ undeclared_tools }) => ({
      state: undeclared_tools === 'block' ? 'active' : 'inactive',
      detail: `\`policy.undeclared_tools\` is \`${undeclared_tools}\``,
    }),
  },
  agent_identities: {
    title: 'Agent identities',
    advice: 'Declare the agents with their tools and clearance below `policies/`.',
    evaluate: (policy, tenantId) => countEnforced('identity', policy.identities, tenantId),
  },
  unknown_agents: {
    title: 'Unknown agents are blocked',
    advice: 'Set `policy.unknown_agents: block`.',
    evaluate: ({ unknown_agents }) => ({
      state: unknown_agents === 'block' ? 'active' : 'inactive',
      detail: `\`policy.unknown_agents\` is \`${unknown_agents}\``,
    }),
  },
  approvals: {
    title: 'Approvals',
    advice: 'Add a rule with `action: require_approval` for actions of consequence.',
    evaluate: (policy, tenantId) => {
      const rules = policy.rules.filter(({ action }) => action === 'require_approval');
      const contracts = policy.contracts.filter(({ side_effects }) => side_effects.requires_approval);
      return countEnforced('rule', [...rules, ...contracts], tenantId, 'with `require_approval`');
    },
  },
  rate_limits: {
    title: 'Call limits',
    advice: 'Set `max_calls_per_minute` in the contracts of tools.',
    evaluate: (policy, tenantId) =>
      countEnforced(
        'contract',
        policy.contracts.filter(({ max_calls_per_minute }) => max_calls_per_minute !== null),
        tenantId,
        'with a limit of calls',
      ),
  },
  taint_tags: {
    title: 'Session taint tags',
    advice: 'Add rules with `session` and `session_tags`; see the guide on data flows.',
    evaluate: (policy, tenantId) => {
      const adds = policy.taint_rules.some((rule) => isFor(rule, tenantId));
      const users = policy.rules.filter(({ session_tags }) => session_tags.length > 0);
      const counted = countEnforced('rule', users, tenantId, 'on taint tags of the session');
      return adds ? counted : { ...counted, state: 'inactive' };
    },
  },
  memory_schemas: {
    title: 'Declared memory',
    advice: 'Declare memory schemas with a tag and a retention for each field.',
    evaluate: ({ memory_schemas }, tenantId) => {
      const own = memory_schemas.filter((schema) => isFor(schema, tenantId));
      return {
        state: own.length > 0 ? 'active' : 'inactive',
        detail: formatNumber(own.length, 'memory schema'),
      };
    },
  },
} as const satisfies Readonly<Record<string, MechanismRecord>>;

export type Mechanism = keyof typeof MECHANISMS;

/** Returns the record of a mechanism. */
export function getMechanism(name: Mechanism): MechanismRecord {
  return MECHANISMS[name];
}

function isFor({ tenant_id }: { readonly tenant_id: string | null }, tenant: string): boolean {
  return tenant === '*' || tenant_id === null || tenant_id === tenant;
}

interface Enforceable {
  readonly tenant_id: string | null;
  readonly enforcement: 'enforce' | 'monitor';
}

function countEnforced(
  noun: string,
  list: readonly Enforceable[],
  tenantId: string,
  addition = '',
): MechanismState {
  const own = list.filter((each) => isFor(each, tenantId));
  const monitored = own.filter(({ enforcement }) => enforcement === 'monitor').length;
  const state = own.length > monitored ? 'active' : monitored > 0 ? 'monitor' : 'inactive';
  const counted = [formatNumber(own.length, noun), addition].filter((each) => each !== '').join(' ');
  return { state, detail: monitored === 0 ? counted : `${counted}, ${monitored} in monitor mode` };
}

function formatNumber(count: number, noun: string): string {
  const plural = noun === 'identity' ? 'identities' : `${noun}s`;
  return `${count} ${count === 1 ? noun : plural}`;
}
