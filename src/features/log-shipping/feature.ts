import type { Feature } from '../../operations/feature.ts';

/** Ships the closed files of the journal to object storage. */
export const logShippingFeature: Feature = {
  openBackground: async (parts) =>
    parts.config.audit.object_storage === undefined
      ? {}
      : (await import('./jobs.ts')).openShippingWork(parts),
};
