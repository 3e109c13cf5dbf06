import { limitValue, type SecretBackend } from './backend.ts';

export interface EnvSettings {
  /** The variables by the name of the secret. If the map has entries, there are no other secrets. */
  readonly env_map: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Variables that are never secrets, because they configure this service. */
const OURS = /^(?:SERVICE_|NODE_)/;

/**
 * The environment of the service as a secret backend. Without a map, the name of a secret is the name of its variable.
 * Other names (not capitals, digits and `_`) have no secret: `PATH` names one, `path/to` does not. An empty variable
 * counts as absent.
 */
export const env = {
  name: 'env',
  settings: {
    type: 'object',
    required: ['env_map', 'env'],
    properties: {
      env_map: { type: 'object', additionalProperties: { type: 'string' } },
      env: { type: 'object', description: 'The environment; the one of the process.' },
    },
  },
  open,
} as const;

function open({ env_map, env: environment }: EnvSettings): SecretBackend {
  const is_mapped = Object.keys(env_map).length > 0;
  const variableOf = (key: string): string | null => {
    if (is_mapped) return Object.hasOwn(env_map, key) ? (env_map[key] ?? null) : null;
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
