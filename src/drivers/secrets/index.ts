import { cloud } from './cloud.ts';
import { env } from './env.ts';
import { plugin } from './plugin.ts';
import { vault } from './vault.ts';

/** The only list of secret backends, in the order of the documentation. */
export const secretDrivers = [env, vault, cloud, plugin] as const;

/** A value of `secrets.backend`. */
export type SecretDriverName = (typeof secretDrivers)[number]['name'];

type DriverNames<Drivers extends readonly { readonly name: string }[]> = {
  readonly [At in keyof Drivers]: Drivers[At]['name'];
};

/** The names of all secret backends. */
export const SECRET_DRIVER_NAMES = secretDrivers.map(({ name }) => name) as unknown as DriverNames<
  typeof secretDrivers
>;
