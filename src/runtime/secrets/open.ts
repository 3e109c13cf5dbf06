import { type SecretBackend, SecretFailure } from '../../drivers/secrets/backend.ts';
import type { secretsSchema } from '../config/schema-outside.ts';
import type { SchemaValue } from '../config/schema-types.ts';
import type { DriverFile } from '../plugins/driver-file.ts';
import { openSecrets, SecretReadError, type Secrets } from './secrets.ts';

/** The `secrets` section of the configuration. */
export type SecretSettings = SchemaValue<typeof secretsSchema>;

export interface SecretsEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Returns the file of a plug-in whose driver is needed. Rejects with a `SecretFailure` if it must not run.
   * @param from - the plug-in, as the configuration lists it
   */
  readonly driverOf: (from: string) => Promise<DriverFile>;
  /** A monotonic clock. */
  readonly now_ms: () => number;
}

export type BackendName = NonNullable<SecretSettings['backend']>;

/**
 * Opens a backend as the configuration describes it, and loads its driver.
 * @throws SecretReadError if something that it needs is missing
 */
export async function openConfiguredSecrets(
  name: BackendName,
  settings: SecretSettings,
  world: SecretsEnvironment,
): Promise<Secrets> {
  const { timeout_ms, cache_ttl_seconds, cache_entries_max } = settings;
  const backend = await openBackend(name, settings, world);
  return openSecrets({
    name,
    backend,
    timeout_ms,
    cache_ttl_ms: cache_ttl_seconds * 1_000,
    cache_entries_max,
    now_ms: world.now_ms,
  });
}

async function openBackend(
  name: BackendName,
  settings: SecretSettings,
  world: SecretsEnvironment,
): Promise<SecretBackend> {
  try {
    return await OPENERS[name](settings, world);
  } catch (error) {
    if (!(error instanceof SecretFailure)) throw error;
    throw new SecretReadError(
      error.code,
      `Secrets cannot be read: the backend \`${name}\` ${error.message}.`,
    );
  }
}

const OPENERS: Readonly<
  Record<BackendName, (settings: SecretSettings, world: SecretsEnvironment) => Promise<SecretBackend>>
> = {
  env: async ({ env_map }, { env: environment }) =>
    (await import('../../drivers/secrets/env.ts')).env.open({ env_map, env: environment }),
  vault: async ({ vault: section }, { env: environment }) => {
    const { vault } = await import('../../drivers/secrets/vault.ts');
    return vault.open({ ...present(section, 'vault'), env: environment });
  },
  plugin: async ({ plugin: section }, { driverOf }) => {
    const { from, driver, settings } = present(section, 'plugin');
    const { openDriver } = await import('../plugins/driver.ts');
    return openDriver({ file: await driverOf(from), name: driver, settings });
  },
  cloud: async ({ cloud: section }) =>
    (await import('../../drivers/secrets/cloud.ts')).cloud.open(present(section, 'cloud')),
};

function present<Section>(section: Section | undefined, name: string): Section {
  if (section !== undefined) return section;
  throw new SecretFailure('secrets_setup', `needs the section \`secrets.${name}\``);
}
