import { defineFeature } from '../../operations/feature.ts';

export const reportedDecisionsFeature = defineFeature({
  name: 'reported-decisions',
  loadOperations: () => import('./operation-list.ts'),
});
