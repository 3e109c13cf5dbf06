import { packageVersion } from '../../platform/version.ts';

/** What the build of a checkout puts here: the version, and which sources it was built from. */
declare const HOOK_VERSION: string | undefined;

/** By which a hook and a resident process know that they are of one mind. */
export function hookVersion(): string {
  return typeof HOOK_VERSION === 'undefined' ? packageVersion() : HOOK_VERSION;
}
