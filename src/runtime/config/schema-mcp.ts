// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { buildSection, Type } from '../../core/schema.ts';
import { environmentNameSchema, urlSchema } from '../../platform/schema-parts.ts';

const patterns = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1_000 });

const server = buildSection({
  name: Type.String({
    pattern: '^[a-z][a-z0-9-]{0,31}$',
    'x-expects': 'must begin with a small letter and have at most 32 of small letters, digits and `-`',
    description: 'Name of the server. Its tools are `NAME__TOOL`, its resources `NAME+URI`.',
  }),
  url: Type.Optional({
    ...urlSchema,
    description: 'Address of its endpoint (streamable HTTP), which may be a private one.',
  }),
  command: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
      minItems: 1,
      maxItems: 100,
      description: 'Instead of `url`: a program and its arguments, with MCP on standard input and output.',
    }),
  ),
  bearer_token: Type.Optional(
    Type.String({
      maxLength: 8_192,
      'x-credential': true,
      description: 'Sent as `Authorization: Bearer`, as `${NAME}` or `${secret:name}`.',
    }),
  ),
  headers: Type.Record(Type.String(), Type.String({ maxLength: 8_192, 'x-credential': true }), {
    description: 'Further headers for it, as references: `x-api-key: ${MCP_KEY}`.',
    propertyNames: { pattern: '^[A-Za-z0-9_.-]{1,128}$' },
    maxProperties: 32,
    default: {},
  }),
  env: Type.Array(environmentNameSchema, {
    maxItems: 100,
    default: [],
    description:
      'Environment variables that the program receives, in addition to basic ones as `PATH` and `HOME`.',
  }),
  allow: {
    ...patterns,
    default: ['*'],
    description: 'Tools that are offered: names as the server has them, or patterns with `*`.',
  },
  deny: {
    ...patterns,
    default: [],
    description: 'Tools that are not offered, even if `allow` lists them.',
  },
  agents: {
    ...patterns,
    default: ['*'],
    description: 'Agents that may use the server: names, or patterns.',
  },
  tenants: {
    ...patterns,
    default: ['*'],
    description: 'Tenants that may use the server: names, or patterns.',
  },
  timeout_ms: Type.Integer({
    minimum: 100,
    maximum: 3_600_000,
    default: 60_000,
    description:
      'Milliseconds that one call may take. Progress notifications restart the time, for at most an hour. Lists and connections get at most 10 seconds.',
  }),
  response_bytes_max: Type.Integer({
    minimum: 1_024,
    maximum: 67_108_864,
    default: 10_485_760,
    description: 'Longest message of the server in bytes after decoding; a longer one is an error.',
  }),
});

/** `mcp`: the upstream servers of the MCP proxy. */
export const mcpSchema = buildSection(
  {
    servers: Type.Array(server, { maxItems: 100, default: [], description: 'Servers.' }),
    sessions_max: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 100,
      description:
        'Sessions (of a tenant, agent, user and credential) that one worker keeps over HTTP. The longest idle session is closed for a new one.',
    }),
  },
  {
    description:
      'MCP servers behind the MCP proxy; see [MCP proxy](mcp-proxy.md). The proxy connects to no other server. A change needs a restart.',
    default: {},
  },
);
