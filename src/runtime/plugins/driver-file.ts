import { SecretFailure } from '../../drivers/secrets/backend.ts';
import type { Config } from '../config/schema.ts';
import { findPlugins } from './find.ts';
import { readLockedFiles } from './locked.ts';
import type { PluginReport } from './types.ts';
import { vetPlugin } from './vet.ts';

/** A file that a driver is in, and what it was when it was looked at. */
export interface DriverFile {
  readonly path: string;
  readonly sha256: string;
}

/**
 * Finds the file of a plug-in that the configuration names, and looks whether it may be run.
 * @param from the plug-in, as it is listed
 * @throws SecretFailure `secrets_setup`
 */
export async function findDriver(
  config: Pick<Config, 'plugins' | 'origin'>,
  from: string,
): Promise<DriverFile> {
  const { sources } = await findPlugins(config);
  const source = sources.find((each) => each.from === from);
  if (source === undefined)
    throw unusable(`is of the plug-in \`${from}\`, which \`plugins\` does not list or which is missing`);
  const vetted = await vetPlugin(source, await readLockedFiles(config.origin.base_dir));
  if (!vetted.ok) throw unusable(`is of the plug-in \`${from}\`, which ${vetted.why}`);
  return { path: source.path, sha256: vetted.sha256 };
}

/**
 * Holds a file to what the service says of its plug-ins: what is left out is left out whole, and a file that was changed since
 * has been admitted by nobody.
 * @throws SecretFailure `secrets_setup`
 */
export function assertAdmitted(file: DriverFile, report: PluginReport | undefined, from: string): void {
  if (report?.status !== 'active')
    throw unusable(`is of the plug-in \`${from}\`, which is left out; \`service plugins list\` says why`);
  if (report.sha256 !== file.sha256)
    throw unusable(
      `is of the plug-in \`${from}\`, which was changed since it was loaded; \`service policy reload\` takes it over`,
    );
}

function unusable(predicate: string): SecretFailure {
  return new SecretFailure('secrets_setup', predicate);
}
