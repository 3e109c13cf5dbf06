import type { Feature } from '../../operations/feature.ts';

export const complianceFeature: Feature = {
  name: 'compliance',
};
