import { defineFeature } from '../../operations/feature.ts';

export const complianceFeature = defineFeature({
  name: 'compliance',
  loadOperations: () => import('./operation-list.ts'),
});
