import type { Feature } from '../../operations/feature.ts';

export const consoleFeature: Feature = {
  name: 'console',
};
