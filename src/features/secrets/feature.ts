import { defineFeature } from '../../operations/feature.ts';
import { openSecretBackend } from './agent-secrets.ts';

export const secretsFeature = defineFeature({
  name: 'secrets',
  loadOperations: () => import('./operation-list.ts'),
  open: ({ config, runtime }) => {
    const secrets = openSecretBackend(config, () => runtime().plugins());
    return {
      members: { secrets },
      listDrivers: async () => [await (await import('./secret-drivers.ts')).checkSecretBackend(secrets)],
      close: async () => secrets?.close(),
    };
  },
});
