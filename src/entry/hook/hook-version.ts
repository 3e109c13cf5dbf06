import { getPackageVersion } from '../../platform/version.ts';

/** The version and the digest of the sources, which the build of a checkout defines. */
declare const HOOK_VERSION: string | undefined;

/** Returns the version by which a hook and a daemon check that they run the same code. */
export function getHookVersion(): string {
  return typeof HOOK_VERSION === 'undefined' ? getPackageVersion() : HOOK_VERSION;
}
