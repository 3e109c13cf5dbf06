import { SecretFailure } from '../../drivers/secrets/backend.ts';
import type { Config } from '../config/schema.ts';
import { findPlugins } from './find.ts';
import { readLockedFiles } from './locked-files.ts';
import { findMissingTrust } from './trusted-files.ts';
import type { PluginReport } from './types.ts';
import { vetPlugin } from './vet-plugin.ts';

/** The file of a driver, and its hash when it was checked. */
export interface DriverFile {
  readonly path: string;
  readonly sha256: string;
}

/**
 * Finds the file of a plug-in that the configuration names, and checks that it is safe to run.
 * @param from - the plug-in, as the configuration lists it
 * @throws SecretFailure `secrets_setup`
 */
export async function findDriver(
  config: Pick<Config, 'plugins' | 'origin'>,
  from: string,
): Promise<DriverFile> {
  const { sources } = await findPlugins(config);
  const source = sources.find((each) => each.from === from);
  if (source === undefined)
    throw buildSetupFailure(
      `is of the plug-in \`${from}\`, which \`plugins\` does not list or which is missing`,
    );
  const untrusted = await findMissingTrust(source, config.origin);
  if (untrusted !== null) throw buildSetupFailure(`is of the plug-in \`${from}\`, which ${untrusted}`);
  const vetted = await vetPlugin(source, await readLockedFiles(config.origin.base_dir));
  if (!vetted.ok) throw buildSetupFailure(`is of the plug-in \`${from}\`, which ${vetted.why}`);
  return { path: source.path, sha256: vetted.sha256 };
}

/**
 * Compares a file with the service's report on its plug-ins. Refuses a file whose plug-in is excluded as a
 * whole, and a file that has changed since it was admitted.
 * @throws SecretFailure `secrets_setup`
 */
export function assertAdmitted(file: DriverFile, report: PluginReport | undefined, from: string): void {
  if (report?.status !== 'active')
    throw buildSetupFailure(
      `is of the plug-in \`${from}\`, which is left out; \`customshouse plugins list\` says why`,
    );
  if (report.sha256 !== file.sha256)
    throw buildSetupFailure(
      `is of the plug-in \`${from}\`, which was changed since it was loaded; \`customshouse policy reload\` takes it over`,
    );
}

function buildSetupFailure(predicate: string): SecretFailure {
  return new SecretFailure('secrets_setup', predicate);
}
