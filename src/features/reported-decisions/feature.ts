import type { Feature } from '../../operations/feature.ts';

export const reportedDecisionsFeature: Feature = {
  name: 'reported-decisions',
};
