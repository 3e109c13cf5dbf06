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
 * Returns the configuration and its files. A tier is a tag that the caller declares, because rules have no other name
 * for it; a limit belongs to a tool's contract. Scopes and overrides for one user have no place in rules.
 */
export function buildConfiguration({ tenants, tools }: ScenarioSetup, mcpUrl: string | null) {
  const limits = tenants.flatMap(({ policy }) => policy?.defaults?.interactive?.rate_limit_per_minute ?? []);
  const contracts = tools.map(({ name }) => ({
    tool_name: buildToolName(name, mcpUrl),
    accepts: {},
    emits: {},
    side_effects: { reversible: true, requires_approval: false },
    ...(limits[0] !== undefined && { max_calls_per_minute: limits[0] }),
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
      policies: [
        {
          name: 'known-tiers',
          boundary: 'action',
          data_tags: ['tier'],
          action: 'allow',
          condition: { phase: ['request', 'response'] },
        },
      ],
    },
    files: {
      [KEY_FILE]: publicKey.export({ type: 'spki', format: 'pem' }) as string,
      'contracts/governance.yaml': JSON.stringify({ version: 'v1alpha1', contracts }),
    },
  };
}

function buildRules({ policy }: ScenarioTenant, mcpUrl: string | null) {
  const tools = Object.entries(policy?.tools ?? {});
  return [
    ...tools.flatMap(([tool, tiers]) =>
      listDenied(tiers).map((tier) => buildDenial(tier, buildToolName(tool, mcpUrl))),
    ),
    ...listDenied(policy?.defaults ?? {}).map((tier) => buildDenial(tier)),
  ];
}

function listDenied(tiers: TierPolicies): readonly Tier[] {
  return TIERS.filter((tier) => tiers[tier]?.permission === 'deny');
}

/** Returns a rule that denies a tier one tool, or all. */
export function buildDenial(tier: Tier, tool?: string) {
  return {
    name: ['deny', tier, tool].filter(Boolean).join('-'),
    boundary: 'action',
    action: 'block',
    condition: {
      phase: 'request',
      when: `has_tag(declared_tags, "tier.${tier}")`,
      ...(tool !== undefined && { tools: [tool] }),
    },
  };
}

/** Signs a user's token, with all that an identity provider knows. */
export function signToken(
  { uid, email, role, scopes = [] }: ScenarioUser,
  tenants: readonly string[],
): string {
  const claims = {
    iss: ISSUER,
    aud: AUDIENCE,
    exp: Math.floor(Date.now() / 1000) + 3600,
    sub: uid,
    email,
    groups: role === undefined ? [] : [role],
    scope: scopes.join(' '),
    tenant_id: tenants,
  };
  const text = [{ alg: 'EdDSA' }, claims].map(encode).join('.');
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
