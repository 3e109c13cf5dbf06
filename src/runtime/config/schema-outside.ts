// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.

import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { SECRET_DRIVER_NAMES, secretDrivers } from '../../drivers/secrets/index.ts';
import { environmentNameSchema, nameListSchema, urlSchema } from '../../platform/schema-parts.ts';
import { ROLES } from './permissions.ts';

type DriverRecord = (typeof secretDrivers)[number];
type DriverSections = { readonly [Driver in DriverRecord as Driver['section']]: Driver['schema'] };

/** The section of each secret backend. */
const sections = Object.fromEntries(
  secretDrivers.map(({ section, schema }) => [section, schema]),
) as DriverSections;

/** `secrets`: the source of credentials. */
export const secretsSchema = buildSection(
  {
    backend: Type.Optional(
      buildEnum(SECRET_DRIVER_NAMES, {
        description: 'The secret backend; `plugin` is a driver of a plug-in.',
      }),
    ),
    timeout_ms: Type.Integer({
      minimum: 50,
      maximum: 60_000,
      default: 5_000,
      description: 'Time limit for one secret, in milliseconds.',
    }),
    cache_ttl_seconds: Type.Integer({
      minimum: 0,
      maximum: 86_400,
      default: 300,
      description: 'Greatest age of a cached value in seconds; 0 queries the backend each time.',
    }),
    cache_entries_max: Type.Integer({
      minimum: 0,
      maximum: 100_000,
      default: 1_000,
      description: 'Values that one process keeps in memory.',
    }),
    ...sections,
  },
  {
    description:
      'Source of credentials. This section accepts only `${NAME}` of the environment; all others also accept `${secret:name}`. A change needs a restart.',
    default: {},
    'x-needs': secretDrivers.flatMap(({ name, section, schema }) =>
      'default' in schema ? [] : [{ key: 'backend', is: name, needs: section }],
    ),
  },
);

/** `intelligence`: the advisory model. */
export const intelligenceSchema = buildSection(
  {
    enabled: Type.Boolean({ default: false, description: 'Off unless you switch it on.' }),
    backend: Type.Optional(
      buildSection(
        {
          provider: buildEnum(['local', 'compatible-api'], {
            description:
              '`local`: a model server without a key. `compatible-api`: any chat-completions endpoint.',
          }),
          model: Type.String({ minLength: 1, maxLength: 256, description: 'Name of the model.' }),
          base_url: {
            ...urlSchema,
            description: 'Address of the backend. `/api/chat` or `/chat/completions` is added.',
          },
          api_key_env: Type.Optional({
            ...environmentNameSchema,
            description: 'Name of the environment variable that holds the key.',
          }),
          timeout_seconds: Type.Integer({
            minimum: 1,
            maximum: 1_800,
            default: 120,
            description: 'Time limit of one answer, in seconds.',
          }),
          retries: Type.Integer({
            minimum: 0,
            maximum: 5,
            default: 2,
            description: 'Further attempts after a failed connection, 429 or 5xx.',
          }),
        },
        { description: 'The model that advises.' },
      ),
    ),
    budget: buildSection(
      {
        calls_per_day: Type.Integer({
          minimum: 1,
          maximum: 100_000,
          default: 200,
          description: 'Advisor calls within 24 hours.',
        }),
        tokens_per_day: Type.Integer({
          minimum: 1_000,
          maximum: 1_000_000_000,
          default: 2_000_000,
          description: 'Tokens of prompts and answers within 24 hours, as the backend counts them.',
        }),
        answer_tokens_max: Type.Integer({
          minimum: 256,
          maximum: 131_072,
          default: 8_192,
          description:
            'Tokens of one answer. A longer answer is cut by the backend, and reported as an error.',
        }),
      },
      {
        description:
          'Limits of calls to the model, over all processes. A call above a limit is refused with 400 `budget_exceeded`.',
        default: {},
      },
    ),
  },
  {
    description:
      'The advisory layer. It never decides, and sees metadata only (docs/reference/intelligence.md). A change needs a restart.',
    default: {},
    'x-needs': [{ key: 'enabled', is: true, needs: 'backend' }],
  },
);

/** `dashboard`: access to the browser interface. */
export const dashboardSchema = buildSection(
  {
    proxy_identity: Type.Boolean({
      default: false,
      description:
        'Accepts `x-service-user` from the proxies of `auth.trusted_proxies` as the identity of the user. Enable it only if these proxies set the header themselves and remove the one that clients send.',
    }),
    users: Type.Array(
      buildSection({
        user_id: Type.String({
          minLength: 1,
          maxLength: 256,
          description: 'Name of the user, as in `x-service-user`.',
        }),
        role: buildEnum(ROLES, { default: 'viewer', description: 'Role of the user.' }),
        tenants: {
          ...nameListSchema,
          default: ['default'],
          description: 'Tenants the user sees; `*` for all.',
        },
      }),
      {
        maxItems: 10_000,
        default: [],
        description:
          'Users and their roles, for spending. By default there are `admin`, `billing` and `viewer`, for programs on this machine.',
      },
    ),
  },
  { description: 'The browser interface.', default: {} },
);
