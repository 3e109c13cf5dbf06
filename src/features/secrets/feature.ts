import type { Feature } from '../../operations/feature.ts';
import { openSecretBackend } from './agent-secrets.ts';

export const secretsFeature: Feature = {
  open: ({ config, runtime }) => {
    const secrets = openSecretBackend(config, () => runtime().plugins());
    return {
      members: { secrets },
      listDrivers: async () => [await (await import('./secret-drivers.ts')).checkSecretBackend(secrets)],
      close: async () => secrets?.close(),
    };
  },
};
