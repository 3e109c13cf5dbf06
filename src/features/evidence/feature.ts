import type { Feature } from '../../operations/feature.ts';
import { buildEvidenceJobs } from './jobs.ts';
import { evidenceMigrations } from './tables.ts';

export const evidenceFeature: Feature = {
  needs: ['approvals', 'compliance'],
  migrations: evidenceMigrations,
  open: ({ runtime }) => ({
    members: {
      buildReportFiles: async (request) =>
        (await import('./report-files.ts')).buildReportFiles(request, runtime()),
    },
  }),
  openBackground: (parts) => ({ jobs: buildEvidenceJobs(parts) }),
};
