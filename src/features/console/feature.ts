import { defineFeature } from '../../operations/feature.ts';

export const consoleFeature = defineFeature({
  name: 'console',
  loadOperations: () => import('./operation-list.ts'),
});
