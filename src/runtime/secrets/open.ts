import type { Static } from 'typebox';
import {
  type PluginDriver,
  type SecretBackend,
  type SecretDriver,
  SecretFailure,
} from '../../drivers/secrets/backend.ts';
import { type SecretDriverName, secretDrivers } from '../../drivers/secrets/index.ts';
import type { secretsSchema } from '../config/schema-outside.ts';
import type { DriverFile } from '../plugins/driver-file.ts';
import { openSecrets, SecretReadError, type Secrets } from './secrets.ts';

/** The `secrets` section of the configuration. */
export type SecretSettings = Static<typeof secretsSchema>;

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

/**
 * Opens a backend as the configuration describes it, and loads its driver.
 * @throws SecretReadError if something that it needs is missing
 */
export async function openConfiguredSecrets(
  name: SecretDriverName,
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
  name: SecretDriverName,
  settings: SecretSettings,
  { env, driverOf }: SecretsEnvironment,
): Promise<SecretBackend> {
  const driver: SecretDriver = secretDrivers.find((each) => each.name === name)!;
  const section = (settings as Readonly<Record<string, unknown>>)[driver.section];
  const openPlugin = async ({ from, driver, settings }: PluginDriver): Promise<SecretBackend> => {
    const { openDriver } = await import('../plugins/driver.ts');
    return openDriver({ file: await driverOf(from), name: driver, settings });
  };
  try {
    if (section === undefined)
      throw new SecretFailure('secrets_setup', `needs the section \`secrets.${driver.section}\``);
    // The configuration was validated against the schema of this driver.
    return await driver.open(section as never, { env, openPlugin });
  } catch (error) {
    if (!(error instanceof SecretFailure)) throw error;
    throw new SecretReadError(
      error.code,
      `Secrets cannot be read: the backend \`${name}\` ${error.message}.`,
    );
  }
}
