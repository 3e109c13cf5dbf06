/** Translates a scenario's set-up into service documents, as far as the service has the notions today. */
import { generateKeyPairSync, sign } from 'node:crypto';
import {
  type ScenarioSetup,
  type ScenarioTenant,
  type ScenarioUser,
  TIERS,
  type Tier,
  type TierPolicies,
} from './scenarios.ts';

const ISSUER = 'https://id.test';
const AUDIENCE = 'agents';
const KEY_FILE = 'identity-provider.pem';
/** The identity provider's key. Its tokens name the users. */
const { privateKey, publicKey } = generateKeyPairSync('ed25519');

/** The server whose tools the MCP proxy offers. They have its name before their own. */
const MCP_SERVER = 'tools';

/** Returns a tool's name in rules, contracts and events. */
export function buildToolName(tool: string, mcpUrl: string | null): string {
  return mcpUrl === null ? tool : `${MCP_SERVER}__${tool}`;
}

/**
 * Returns the configuration and its files. Scopes and limits belong to a tool's contract, permissions of tiers and
 * users to rules. The identity provider's token proves the user, the tier and the chain.
 */
export function buildConfiguration({ tenants, tools }: ScenarioSetup, mcpUrl: string | null) {
  const limits = tenants.flatMap(({ policy }) => policy?.defaults?.interactive?.rate_limit_per_minute ?? []);
  const contracts = tools.map(({ name, required_scopes = [] }) => ({
    tool_name: buildToolName(name, mcpUrl),
    ...(required_scopes.length > 0 && { required_scopes }),
    ...(limits[0] !== undefined && { max_calls_per_minute_per_user: limits[0] }),
  }));
  return {
    config: {
      ...(mcpUrl !== null && { mcp: { servers: [{ name: MCP_SERVER, url: mcpUrl }] } }),
      auth: {
        required: true,
        jwt: { issuer: ISSUER, audience: AUDIENCE, public_key_file: KEY_FILE },
      },
      tenants: Object.fromEntries(
        tenants.map((tenant) => [tenant.id, { policies: buildRules(tenant, mcpUrl) }]),
      ),
    },
    files: {
      [KEY_FILE]: publicKey.export({ type: 'spki', format: 'pem' }) as string,
      'contracts/governance.yaml': JSON.stringify({ version: 'v1alpha1', contracts }),
    },
  };
}

function buildRules({ policy }: ScenarioTenant, mcpUrl: string | null) {
  const nameOf = (tool: string) => buildToolName(tool, mcpUrl);
  const userTools = Object.entries(policy?.user_tools ?? {}).flatMap(([user, tools]) =>
    Object.entries(tools).map(([tool, tiers]) => ({ user, tool: nameOf(tool), tiers })),
  );
  const tools = Object.entries(policy?.tools ?? {});
  const users = Object.entries(policy?.users ?? {});
  // A rule for one user comes first, because the first rule that matches decides.
  return [
    ...userTools.flatMap(({ user, tool, tiers }) =>
      listTiers(tiers, 'allow').map((tier) => buildPermission('allow', { tier, tool, user })),
    ),
    ...userTools.flatMap(({ user, tool, tiers }) =>
      listTiers(tiers, 'deny').map((tier) => buildPermission('deny', { tier, tool, user })),
    ),
    ...users.flatMap(([user, tiers]) =>
      listTiers(tiers, 'deny').map((tier) => buildPermission('deny', { tier, user })),
    ),
    ...tools.flatMap(([tool, tiers]) =>
      listTiers(tiers, 'deny').map((tier) => buildPermission('deny', { tier, tool: nameOf(tool) })),
    ),
    ...listTiers(policy?.defaults ?? {}, 'deny').map((tier) => buildPermission('deny', { tier })),
  ];
}

type Permission = 'allow' | 'deny';

function listTiers(tiers: TierPolicies, permission: Permission): readonly Tier[] {
  return TIERS.filter((tier) => tiers[tier]?.permission === permission);
}

interface PermissionScope {
  readonly tier: Tier;
  /** All tools if absent. */
  readonly tool?: string | undefined;
  /** All users if absent. */
  readonly user?: string | undefined;
}

/** Returns a rule that allows or denies a tier one tool or all, for one user or all. */
export function buildPermission(permission: Permission, { tier, tool, user }: PermissionScope) {
  return {
    name: [permission, tier, tool, user].filter(Boolean).join('-'),
    boundary: 'action',
    action: permission === 'deny' ? 'block' : 'allow',
    condition: {
      phase: 'request',
      agent_tiers: [tier],
      ...(tool !== undefined && { tools: [tool] }),
      ...(user !== undefined && { users: [user] }),
    },
  };
}

/** The agent that a token is for. */
export interface TokenActor {
  readonly tier: Tier;
  /** The delegation's agents, the one next to the user first. */
  readonly chain: readonly string[];
  /** The scopes that a delegation left; `null` without one. */
  readonly delegated_scopes: readonly string[] | null;
}

/**
 * Signs a user's token, with all that an identity provider knows. After a delegation it is an exchanged token
 * (RFC 8693): with the actors, and with the user's scopes that were delegated.
 */
export function signToken(
  { uid, email, role, scopes = [] }: ScenarioUser,
  tenants: readonly string[],
  { tier, chain, delegated_scopes }: TokenActor,
): string {
  const kept = scopes.filter((scope) => delegated_scopes?.includes(scope) ?? true);
  const act = chain.reduce<object | undefined>(
    (inner, sub) => ({ sub, ...(inner && { act: inner }) }),
    undefined,
  );
  const claims = {
    iss: ISSUER,
    aud: AUDIENCE,
    exp: Math.floor(Date.now() / 1000) + 3600,
    sub: uid,
    email,
    groups: role === undefined ? [] : [role],
    scope: kept.join(' '),
    tenant_id: tenants,
    agent_tier: tier,
    act,
  };
  const text = [{ alg: 'EdDSA' }, claims].map(encode).join('.');
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
