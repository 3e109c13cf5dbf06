import { setTimeout as wait } from 'node:timers/promises';
import type { Feature } from '../../operations/feature.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { readAccountSettings } from './account-settings.ts';
import { buildAccountJobs } from './jobs.ts';
import { accountMigrations } from './tables.ts';
import { hasAdministrator } from './user-records.ts';

export const accountsFeature: Feature = {
  migrations: accountMigrations,
  open: ({ config, port, store, ports }) => {
    const parts = () => ({ store, ports, settings: readAccountSettings(config, port), wait });
    const accounts = createLazyValue(async () => (await import('./index.ts')).openAccounts(parts()));
    return {
      members: {
        accounts: accounts.open,
        identifyUser: async (sessionToken) =>
          (await (await accounts.open()).identify(sessionToken))?.caller ?? null,
        // Every start calls this, so it loads little.
        prepareFirstSignIn: async (isTerminal) => {
          if (!isTerminal) return (await hasAdministrator((await store()).db)) ? null : { link: null };
          const link = await (await import('./manage-users.ts')).createFirstLink(parts());
          return link === null ? null : { link };
        },
      },
      listDrivers: async () => [await (await import('./account-drivers.ts')).checkOpenIdProvider(config)],
    };
  },
  openBackground: (parts) => ({ jobs: buildAccountJobs(parts) }),
};
