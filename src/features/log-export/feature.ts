import type { Feature } from '../../operations/feature.ts';

/** Exports the audit log to an OpenTelemetry collector. */
export const logExportFeature: Feature = {
  openBackground: async (parts) =>
    parts.config.log_export.endpoint === undefined ? {} : (await import('./jobs.ts')).openLogExport(parts),
};
