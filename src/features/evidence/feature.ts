import type { Feature } from '../../operations/feature.ts';

export const evidenceFeature: Feature = {
  name: 'evidence',
  needs: ['compliance'],
  loadMigrations: async () => (await import('./tables.ts')).evidenceMigrations,
  open: ({ runtime }) => ({
    members: {
      buildReportFiles: async (request) =>
        (await import('./report-files.ts')).buildReportFiles(request, runtime()),
    },
  }),
  loadBackground: async () => {
    const { buildEvidenceJobs } = await import('./jobs.ts');
    return (parts) => ({ jobs: buildEvidenceJobs(parts) });
  },
};
