import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { AGENT_TIERS } from '../../core/types/principal.ts';
import { nameListSchema, urlSchema } from '../../platform/schema-parts.ts';
import { PERMISSIONS } from './permissions.ts';

/** Asymmetric algorithms only: with HMAC, a verifier could also issue tokens. */
export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** `auth`: the authentication of callers. */
export const authSchema = buildSection(
  {
    required: Type.Boolean({
      default: false,
      description: '`true`: callers on this host need a credential too.',
    }),
    trusted_proxies: {
      ...nameListSchema,
      default: [],
      description: 'Addresses or CIDR blocks whose forwarding headers are believed.',
    },
    api_keys: Type.Array(
      buildSection({
        id: Type.String({
          pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
          'x-expects': 'must be 1 to 64 letters, digits, `.`, `_` or `-`',
          description: 'Names the key in the audit log.',
        }),
        sha256: Type.String({
          pattern: '^[0-9a-f]{64}$',
          'x-expects': 'must be the SHA-256 of the key, 64 lower-case hex digits, never the key itself',
          description: 'SHA-256 of the key, in hex. The key itself is not stored.',
        }),
        tenants: Type.Optional({
          ...nameListSchema,
          description: 'Tenants that the key may act for (default: any).',
        }),
        agents: Type.Optional({
          ...nameListSchema,
          description: 'Agents that the key may act for (default: any).',
        }),
        permissions: Type.Optional(
          Type.Array(buildEnum(PERMISSIONS), {
            maxItems: 100,
            description:
              'Without it: `check`, `memory:use`, `policy:read`, `audit:import`, `audit:read_own`, `approvals:own`, `costs:own`.',
          }),
        ),
        may_act_for: Type.Optional({
          ...nameListSchema,
          description:
            'People for whom the key may act, `*` for any: `user_id` of a request then proves the person. Only for a key that no agent can read.',
        }),
        agent_tier: Type.Optional({
          ...buildEnum(AGENT_TIERS),
          description: 'The tier of the agents that use the key.',
        }),
        expires_at: Type.Optional(
          Type.String({
            pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2})$',
            'x-expects': 'must be a date and time with a time zone, `2027-01-31T12:00:00Z`',
            description: 'ISO 8601; from then on the key is refused.',
          }),
        ),
      }),
      {
        maxItems: 10_000,
        default: [],
        description: 'Keys of programs. To rotate a key with overlap, list two keys with one `id`.',
      },
    ),
    jwt: Type.Nullable(
      buildSection(
        {
          issuer: Type.String({ minLength: 1, maxLength: 2048, description: 'The `iss` claim.' }),
          audience: Type.Unsafe<string | readonly string[]>({
            type: ['string', 'array'],
            items: { type: 'string', minLength: 1, maxLength: 2048 },
            minLength: 1,
            minItems: 1,
            maxItems: 100,
            description: 'The `aud` claim: one, or a list of which one must match.',
          }),
          algorithms: Type.Optional(
            Type.Array(buildEnum([...JWT_ALGORITHMS]), {
              minItems: 1,
              maxItems: 20,
              description: 'Signature algorithms that are accepted.',
            }),
          ),
          jwks_url: Type.Optional({ ...urlSchema, description: 'URL of the key set (JWKS) of the issuer.' }),
          jwks_file: Type.Optional(
            Type.String({ minLength: 1, maxLength: 4096, description: "A file with the issuer's key set." }),
          ),
          public_key_file: Type.Optional(
            Type.String({ minLength: 1, maxLength: 4096, description: 'A PEM file with one public key.' }),
          ),
          claims: Type.Optional(
            buildSection(
              {
                tenants: Type.Optional(
                  Type.String({ minLength: 1, maxLength: 256, description: 'Default `tenant_id`.' }),
                ),
                agents: Type.Optional(
                  Type.String({ minLength: 1, maxLength: 256, description: 'Default `agent_id`.' }),
                ),
                permissions: Type.Optional(
                  Type.String({ minLength: 1, maxLength: 256, description: 'Default `permissions`.' }),
                ),
                user: Type.Optional(
                  Type.String({ minLength: 1, maxLength: 256, description: 'The person. Default `sub`.' }),
                ),
                user_email: Type.Optional(
                  Type.String({ minLength: 1, maxLength: 256, description: 'Default `email`.' }),
                ),
                groups: Type.Optional(
                  Type.String({ minLength: 1, maxLength: 256, description: 'Default `groups`.' }),
                ),
                scopes: Type.Optional(
                  Type.String({ minLength: 1, maxLength: 256, description: 'Default `scope`, else `scp`.' }),
                ),
                chain: Type.Optional(
                  Type.String({
                    minLength: 1,
                    maxLength: 256,
                    description: 'The agents that act for the person. Default `act` (RFC 8693).',
                  }),
                ),
                agent_tier: Type.Optional(
                  Type.String({ minLength: 1, maxLength: 256, description: 'Default `agent_tier`.' }),
                ),
                service_account: Type.Optional(
                  Type.String({
                    minLength: 1,
                    maxLength: 256,
                    description:
                      'A claim that only tokens of programs have; such a token proves no person. The marks of common identity providers count without it.',
                  }),
                ),
              },
              {
                description: 'Dotted names of the claims that hold the scope of the bearer, and the person.',
              },
            ),
          ),
          clock_tolerance_seconds: Type.Integer({
            minimum: 0,
            maximum: 300,
            default: 30,
            description: 'Accepted difference between clocks, in seconds.',
          }),
        },
        { description: 'Signed tokens (JWT) that are accepted.' },
      ),
      { default: null },
    ),
  },
  { description: 'Authentication of callers.', default: {} },
);
