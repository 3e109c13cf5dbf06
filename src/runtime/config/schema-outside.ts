// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import { ROLES } from './permissions.ts';
import { environmentNameSchema, nameListSchema, urlSchema } from './schema-parts.ts';

/** `secrets`: the source of credentials. */
export const secretsSchema = {
  type: 'object',
  description:
    'Source of credentials. This section accepts only `${NAME}` of the environment; all others also accept `${secret:name}`. A change needs a restart.',
  additionalProperties: false,
  default: {},
  properties: {
    backend: {
      type: 'string',
      enum: ['env', 'vault', 'cloud', 'plugin'],
      description: 'The secret backend; `plugin` is a driver that a plug-in brings.',
    },
    timeout_ms: {
      type: 'integer',
      minimum: 50,
      maximum: 60_000,
      default: 5_000,
      description: 'How long the backend may take for one secret, in milliseconds.',
    },
    cache_ttl_seconds: {
      type: 'integer',
      minimum: 0,
      maximum: 86_400,
      default: 300,
      description: 'How old a value may be that an agent gets, in seconds; 0 asks the backend each time.',
    },
    cache_entries_max: {
      type: 'integer',
      minimum: 0,
      maximum: 100_000,
      default: 1_000,
      description: 'How many values are held in the memory of one process.',
    },
    env_map: {
      type: 'object',
      description:
        'For `env`: names of secrets and the environment variables that hold them. If it has entries, there are no other secrets.',
      additionalProperties: environmentNameSchema,
      propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]{0,127}$' },
      maxProperties: 10_000,
      default: {},
    },
    vault: {
      type: 'object',
      description: 'For `vault`.',
      additionalProperties: false,
      required: ['address', 'token_env', 'path'],
      properties: {
        address: { ...urlSchema, description: 'Address of the vault.' },
        token_env: {
          ...environmentNameSchema,
          description: 'Name of the environment variable that holds the token.',
        },
        path: {
          type: 'string',
          pattern: '^[^\\s?#]+$',
          maxLength: 1024,
          'x-expects': 'must be mount and path of a secret, as `secret/service`',
          description:
            'Mount and path of a secret of the key-value engine, version 2, as `secret/service`; without a mount it is in `secret`. Its fields are the secrets; so are those of secrets below it, as `db/prod#password`.',
        },
        namespace: {
          type: 'string',
          pattern: '^[A-Za-z0-9_./-]+$',
          maxLength: 256,
          'x-expects': 'must be a path of letters, digits, `_`, `.`, `-` and `/`',
          description: 'Namespace of the vault, where it has some.',
        },
      },
    },
    cloud: {
      type: 'object',
      description: 'For `cloud`, a cloud secrets manager.',
      additionalProperties: false,
      required: ['region', 'secret_name'],
      properties: {
        region: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          description: 'Region of the secrets manager (AWS).',
        },
        secret_name: {
          type: 'string',
          minLength: 1,
          maxLength: 512,
          description:
            'Name or ARN of a secret. Of one in JSON the members are the secrets; a plain one is the secret `value`.',
        },
      },
    },
    plugin: {
      type: 'object',
      description: 'For `plugin`: a driver that a plug-in brings; see [drivers](plugins.md#drivers).',
      additionalProperties: false,
      required: ['from', 'driver'],
      properties: {
        from: {
          type: 'string',
          minLength: 1,
          maxLength: 1024,
          description:
            'The plug-in, as `service plugins list` shows it: a file or a package that `plugins` names.',
        },
        driver: { type: 'string', minLength: 1, maxLength: 64, description: 'The name of its driver.' },
        settings: {
          type: 'object',
          description: 'Options of the driver: texts by name.',
          additionalProperties: { type: 'string', maxLength: 8192 },
          propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]{0,127}$' },
          maxProperties: 100,
          default: {},
        },
      },
    },
  },
  'x-needs': [
    { key: 'backend', is: 'vault', needs: 'vault' },
    { key: 'backend', is: 'cloud', needs: 'cloud' },
    { key: 'backend', is: 'plugin', needs: 'plugin' },
  ],
} as const;

/** `intelligence`: the advisory model. */
export const intelligenceSchema = {
  type: 'object',
  description: 'The advisory layer. It never decides, and sees metadata only.',
  additionalProperties: false,
  default: {},
  properties: {
    enabled: { type: 'boolean', default: false, description: 'Off unless you switch it on.' },
    backend: {
      type: 'object',
      description: 'The model that advises.',
      additionalProperties: false,
      required: ['provider', 'model', 'base_url'],
      properties: {
        provider: {
          type: 'string',
          enum: ['local', 'compatible-api'],
          description:
            '`local`: a model server without a key. `compatible-api`: any chat-completions endpoint.',
        },
        model: { type: 'string', minLength: 1, maxLength: 256, description: 'Name of the model.' },
        base_url: { ...urlSchema, description: 'Address of the backend.' },
        api_key_env: {
          ...environmentNameSchema,
          description: 'Name of the environment variable that holds the key.',
        },
      },
    },
  },
  'x-needs': [{ key: 'enabled', is: true, needs: 'backend' }],
} as const;

/** `dashboard`: access to the browser interface. */
export const dashboardSchema = {
  type: 'object',
  description: 'The browser interface.',
  additionalProperties: false,
  default: {},
  properties: {
    proxy_identity: {
      type: 'boolean',
      default: false,
      description:
        'Whether the proxies of `auth.trusted_proxies` say in `x-service-user` for whom they ask. Only where they set it themselves and take away what clients send.',
    },
    users: {
      type: 'array',
      maxItems: 10_000,
      default: [],
      description:
        'Users and their roles, for spending. By default there are `admin`, `billing` and `viewer`, for programs on this machine.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['user_id'],
        properties: {
          user_id: { type: 'string', minLength: 1, maxLength: 256, description: 'As in `x-service-user`.' },
          role: {
            type: 'string',
            enum: ROLES,
            default: 'viewer',
            description: 'Role of the user.',
          },
          tenants: {
            ...nameListSchema,
            default: ['default'],
            description: 'Tenants the user sees; `*` for all.',
          },
        },
      },
    },
  },
} as const;
