// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.

import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { SECRET_DRIVER_NAMES, secretDrivers } from '../../drivers/secrets/index.ts';
import { nameListSchema } from '../../platform/schema-parts.ts';
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
