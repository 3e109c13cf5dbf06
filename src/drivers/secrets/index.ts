import { cloud } from './cloud.ts';
import { env } from './env.ts';
import { plugin } from './plugin.ts';
import { vault } from './vault.ts';

/** The only list of secret backends, in the order of the documentation. */
export const secretDrivers = [env, vault, cloud, plugin] as const;

/** A value of `secrets.backend`. */
export type SecretDriverName = (typeof secretDrivers)[number]['name'];

/** The names of all secret backends. */
export const SECRET_DRIVER_NAMES: readonly SecretDriverName[] = secretDrivers.map(({ name }) => name);
