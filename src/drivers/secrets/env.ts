import { Type } from '../../core/schema.ts';
import { environmentNameSchema } from '../../platform/schema-parts.ts';
import { type DriverEnvironment, limitValue, type SecretBackend, type SecretDriver } from './backend.ts';

/** The variables by the name of the secret. If the map has entries, there are no other secrets. */
type EnvMap = Readonly<Record<string, string>>;

/** Variables that are never secrets, because they configure this service. */
const OURS = /^(?:SERVICE_|NODE_)/;

/**
 * The environment of the service as a secret backend. Without a map, the name of a secret is the name of its variable.
 * Other names (not capitals, digits and `_`) have no secret: `PATH` names one, `path/to` does not. An empty variable
 * counts as absent.
 */
export const env = {
  name: 'env',
  docs: {
    reads: 'the environment of the service',
    names:
      'the keys of `secrets.env_map`, which are then the only ones; without a map, variables in capitals, except those that begin with `SERVICE_` or `NODE_`',
  },
  section: 'env_map',
  schema: Type.Record(Type.String(), environmentNameSchema, {
    description:
      'Used by `env`: names of secrets and the environment variables that hold them. If it has entries, there are no other secrets.',
    propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]{0,127}$' },
    maxProperties: 10_000,
    default: {},
  }),
  open,
} as const satisfies SecretDriver<EnvMap>;

function open(envMap: EnvMap, { env: environment }: Pick<DriverEnvironment, 'env'>): SecretBackend {
  const isMapped = Object.keys(envMap).length > 0;
  const variableOf = (key: string): string | null => {
    if (isMapped) return Object.hasOwn(envMap, key) ? (envMap[key] ?? null) : null;
    return /^[A-Z_][A-Z0-9_]*$/.test(key) && !OURS.test(key) ? key : null;
  };
  return {
    get: async (key) => {
      const variable = variableOf(key);
      const value = variable === null || !Object.hasOwn(environment, variable) ? '' : environment[variable];
      return value === undefined || value === '' ? null : limitValue(value);
    },
    check: async () => {},
    close: () => {},
  };
}
