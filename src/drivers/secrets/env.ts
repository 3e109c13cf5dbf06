import { limitValue, type SecretBackend } from './backend.ts';

export interface EnvSettings {
  /** The name of a secret, and the variable that holds it. Where it has entries, there are no other secrets. */
  readonly env_map: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Variables that are never a secret of an agent's: they make this service what it is. */
const OURS = /^(?:SERVICE_|NODE_)/;

/**
 * The environment of the service. Without a map a secret is the variable of its name, and a name that is none
 * of a variable (capitals, digits, `_`) is no secret: `PATH` is one, `path/to` is not. An empty variable holds none.
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
