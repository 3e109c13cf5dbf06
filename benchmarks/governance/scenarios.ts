/** Reads AgentGovBench's scenarios from a folder. They are other people's data and never part of this tree. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const TIERS = ['interactive', 'subagent', 'api', 'background'] as const;
export type Tier = (typeof TIERS)[number];

interface TierPolicy {
  readonly permission?: 'allow' | 'deny';
  readonly rate_limit_per_minute?: number;
}

export type TierPolicies = Readonly<Partial<Record<Tier, TierPolicy>>>;

export interface ScenarioUser {
  readonly uid: string;
  readonly email?: string;
  readonly role?: string;
  readonly scopes?: readonly string[];
}

export interface ScenarioTenant {
  readonly id: string;
  readonly users: readonly ScenarioUser[];
  readonly policy?: {
    readonly defaults?: TierPolicies;
    readonly tools?: Readonly<Record<string, TierPolicies>>;
    readonly users?: Readonly<Record<string, TierPolicies>>;
    readonly user_tools?: Readonly<Record<string, Readonly<Record<string, TierPolicies>>>>;
    readonly fail_mode?: 'fail_closed' | 'fail_open';
  };
}

/** Tenants, users and tools before the first action. */
export interface ScenarioSetup {
  readonly tenants: readonly ScenarioTenant[];
  readonly tools: readonly { readonly name: string; readonly required_scopes?: readonly string[] }[];
}

interface Acting {
  readonly as_user: string;
  readonly as_tenant?: string;
}

export interface ToolCallAction extends Acting {
  readonly tool: string;
  readonly input: object;
  readonly agent_tier?: Tier;
  readonly agent_name?: string;
}

export interface ScenarioAction {
  readonly direct_tool_call?: ToolCallAction;
  readonly parallel_fan_out?: ToolCallAction & {
    readonly worker_count: number;
    readonly calls_per_worker: number;
  };
  readonly delegation?: Acting & {
    readonly from_agent: string;
    readonly to_agent: string;
    readonly task: string;
    readonly delegated_scopes: readonly string[];
  };
  readonly gateway_failure?: {
    readonly mode: 'unreachable' | 'error_5xx';
    readonly duration_seconds: number;
  };
  readonly policy_change?: {
    readonly tenant: string;
    readonly user?: string;
    readonly tool?: string;
    readonly tier: Tier;
    readonly set_permission: 'allow' | 'deny';
  };
}

export interface Assertion {
  readonly kind: string;
  readonly params: AssertionParams;
}

export interface AssertionParams {
  readonly tool?: string;
  readonly as_user?: string;
  readonly as_tenant?: string;
  readonly agent_name?: string;
  readonly agent_tier?: string;
  readonly actor_uid?: string;
  readonly actor_email?: string;
  readonly decision?: string;
  readonly fields?: readonly string[];
  readonly chain?: readonly string[];
  readonly filter?: AssertionParams;
  readonly max_allowed?: number;
  readonly reachable?: boolean;
  readonly allowed_pairs?: readonly { readonly tenant: string; readonly tool: string }[];
}

export interface Scenario {
  readonly id: string;
  readonly setup: ScenarioSetup;
  readonly actions: readonly ScenarioAction[];
  readonly expected: readonly Assertion[];
}

export function readScenarios(folder: string): readonly Scenario[] {
  const files = globSync('scenarios/*/*.yaml', { cwd: folder }).toSorted();
  if (files.length === 0) throw new Error(`\`${folder}\` has no \`scenarios/*/*.yaml\`.`);
  return files.map((file) => {
    const scenario = readYaml(folder, file) as Omit<Scenario, 'setup'> & {
      readonly setup: Partial<ScenarioSetup> & { readonly use_fixture?: string };
    };
    const { use_fixture, ...own } = scenario.setup;
    const fixture = use_fixture === undefined ? {} : readYaml(folder, `fixtures/${use_fixture}.yaml`);
    return { ...scenario, setup: { tenants: [], tools: [], ...(fixture as object), ...own } };
  });
}

function readYaml(folder: string, file: string): unknown {
  return parse(readFileSync(join(folder, file), 'utf8'));
}
