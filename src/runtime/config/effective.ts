import { formatPath, type PathStep } from './problem-path.ts';
import { readMapping } from './read-mapping.ts';
import type { Config } from './schema.ts';
import type { ConfigSchema } from './schema-types.ts';

/** The source of a setting: the file, a variable or secret that the file references, or the default. */
export type SettingSource = 'file' | 'reference' | 'default';

/** A setting with its effective value. */
export interface EffectiveSetting {
  /** The path, such as `server.port`. */
  readonly path: string;
  /** JSON; credentials are replaced by `[set]`. `null` if the setting is not set. */
  readonly value: unknown;
  readonly source: SettingSource;
  /** The line in the file; `null` for a default. */
  readonly line: number | null;
}

/** The replacement for a credential. */
const CREDENTIAL = '[set]';

/** Lists every setting of a configuration with its value and source, in the order of the schema. */
export async function listSettings(
  config: Config,
  schema: ConfigSchema,
): Promise<readonly EffectiveSetting[]> {
  const { file, label } = config.origin;
  const read = file === null ? null : await readMapping(file, label);
  const written = read?.ok ? read.value : {};
  const lineOf = read?.ok ? read.lineOf : () => 1;
  return getLeaves(config, schema, []).map(({ steps, value, schema: own }) => {
    const writtenValue = findMember(written, steps);
    const source = writtenValue === undefined ? 'default' : hasReference(writtenValue) ? 'reference' : 'file';
    return {
      path: formatPath(steps),
      value: maskCredentials(value, own, writtenValue),
      source,
      line: source === 'default' ? null : lineOf(steps),
    };
  });
}

interface Leaf {
  readonly steps: readonly PathStep[];
  readonly value: unknown;
  readonly schema: ConfigSchema;
}

/**
 * Returns the settings of a section and its subsections. A list, a map and a single value each count as one setting.
 */
function getLeaves(value: unknown, schema: ConfigSchema, steps: readonly PathStep[]): Leaf[] {
  const { properties } = schema;
  if (properties === undefined || schema.additionalProperties)
    return [{ steps, value: value ?? null, schema }];
  if (steps.length > 0 && (typeof value !== 'object' || value === null))
    return [{ steps, value: null, schema }];
  return Object.entries(properties).flatMap(([key, property]) =>
    getLeaves((value as Record<string, unknown>)[key], property, [...steps, key]),
  );
}

function findMember(written: unknown, steps: readonly PathStep[]): unknown {
  let at = written;
  for (const step of steps) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<PathStep, unknown>)[step];
  }
  return at;
}

function hasReference(written: unknown): boolean {
  if (typeof written === 'string') return /\$\{[^}]/.test(written);
  return typeof written === 'object' && written !== null && Object.values(written).some(hasReference);
}

/** Masks credentials, and all values from references, which may be credentials. */
function maskCredentials(value: unknown, schema: ConfigSchema, written: unknown): unknown {
  if (schema['x-credential'] === true) return value === null ? null : CREDENTIAL;
  if (typeof value === 'string')
    return typeof written === 'string' && hasReference(written) ? CREDENTIAL : value;
  if (Array.isArray(value))
    return value.map((item, at) => maskCredentials(item, schema.items ?? {}, findMember(written, [at])));
  if (typeof value !== 'object' || value === null) return value;
  const shape = schema.oneOf?.find(
    ({ properties }) => properties?.type?.const === (value as { type?: unknown }).type,
  );
  const { properties = {}, additionalProperties } = shape ?? schema;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      maskCredentials(
        member,
        (Object.hasOwn(properties, key) ? properties[key] : undefined) ?? (additionalProperties || {}),
        findMember(written, [key]),
      ),
    ]),
  );
}
