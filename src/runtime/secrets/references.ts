// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.

import type { Static } from 'typebox';
import { isSecretKey, SecretFailure } from '../../drivers/secrets/backend.ts';
import type { SecretReadResult } from '../config/interpolate.ts';
import { parseConfigValue } from '../config/parse-config-value.ts';
import type { ConfigOrigin } from '../config/schema.ts';
import { secretsSchema } from '../config/schema-outside.ts';
import { pluginsSectionSchema as pluginsSchema } from '../config/schema-plugins.ts';
import type { DriverFile } from '../plugins/driver-file.ts';
import { openConfiguredSecrets, type SecretSettings } from './open.ts';
import { SecretReadError, type Secrets } from './secrets.ts';

/** A record of one secret read and its result. It never contains the value. */
export interface SecretReading {
  readonly secret_key: string;
  readonly secret_backend: string;
  readonly result: 'allow' | 'missing' | 'error';
}

/** The sections of a written configuration that define how secrets are read. */
interface WrittenSections {
  readonly secrets?: unknown;
  readonly plugins?: unknown;
}

/** The limit of secrets that one configuration can reference. */
const REFERENCES_MAX = 1_000;

/**
 * Reads the secrets of all `${secret:name}` references, without a cache, from the backend that the written
 * configuration describes. For a secret that cannot be read, the result gives the reason for the key that
 * references it.
 */
export async function readReferences(
  names: readonly string[],
  written: WrittenSections,
  origin: ConfigOrigin,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ reads: ReadonlyMap<string, SecretReadResult>; readings: readonly SecretReading[] }> {
  const refuseAll = (message: string) => ({
    reads: new Map(names.map((name) => [name, { ok: false, message } as const])),
    readings: [],
  });
  if (names.length > REFERENCES_MAX) return refuseAll(`is one of more than ${REFERENCES_MAX} secrets`);
  const settled = parseConfigValue(written.secrets ?? {}, secretsSchema, { env, secrets: new Map() });
  if (settled.problems.length > 0)
    return refuseAll('asks for a secret, and the section `secrets` is not right');
  const { backend: name } = settled.value as SecretSettings;
  if (name === undefined)
    return refuseAll(
      'asks for a secret, and no backend is set; set `secrets.backend`, or use `${NAME}` of the environment',
    );
  let backend: Secrets;
  try {
    const driverOf = (from: string) => readWrittenDriver(written, origin, env, from);
    const world = { env, driverOf, now_ms: () => performance.now() };
    backend = await openConfiguredSecrets(name, settled.value as SecretSettings, world);
  } catch (error) {
    return refuseAll(`asks for a secret. ${getSentence(error)}`);
  }
  try {
    return await readAll(names, backend);
  } finally {
    backend.close();
  }
}

/** Finds the driver of a plug-in in the written configuration, of which no other part is parsed yet. */
async function readWrittenDriver(
  written: WrittenSections,
  origin: ConfigOrigin,
  env: Readonly<Record<string, string | undefined>>,
  from: string,
): Promise<DriverFile> {
  const { value, problems } = parseConfigValue(written.plugins ?? {}, pluginsSchema, {
    env,
    secrets: new Map(),
  });
  if (problems.length > 0)
    throw new SecretFailure('secrets_setup', 'is of a plug-in, and the section `plugins` is not right');
  const { findDriver } = await import('../plugins/driver-file.ts');
  return findDriver({ plugins: value as Static<typeof pluginsSchema>, origin }, from);
}

async function readAll(names: readonly string[], backend: Secrets) {
  const reads = new Map<string, SecretReadResult>();
  const readings: SecretReading[] = [];
  const readOne = async (name: string): Promise<void> => {
    const { read, result } = await readSecret(name, backend);
    reads.set(name, read);
    if (result !== null) readings.push({ secret_key: name, secret_backend: backend.backend, result });
  };
  // Reads a few at a time, because a backend with a rate limit would refuse all at once.
  const queue = [...names];
  const takeTurns = async (): Promise<void> => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) await readOne(name);
  };
  await Promise.all(Array.from({ length: 8 }, takeTurns));
  return { reads, readings: readings.sort((a, b) => (a.secret_key < b.secret_key ? -1 : 1)) };
}

async function readSecret(
  name: string,
  backend: Secrets,
): Promise<{ read: SecretReadResult; result: SecretReading['result'] | null }> {
  if (!isSecretKey(name)) {
    const message =
      'is not a valid secret name; use letters, digits and `_ . - /`, optionally followed by `#field`';
    return { read: { ok: false, message }, result: null };
  }
  try {
    const value = await backend.get(name);
    if (value !== null) return { read: { ok: true, value }, result: 'allow' };
    const message = `needs the secret \`${name}\`, which the backend \`${backend.backend}\` does not have`;
    return { read: { ok: false, message }, result: 'missing' };
  } catch (error) {
    return { read: { ok: false, message: `asks for a secret. ${getSentence(error)}` }, result: 'error' };
  }
}

function getSentence(error: unknown): string {
  if (error instanceof SecretReadError) return error.message;
  throw error;
}
