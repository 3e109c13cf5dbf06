import { defineFeature } from '../../operations/feature.ts';

export const evidenceFeature = defineFeature({
  name: 'evidence',
  needs: ['compliance'],
  loadOperations: () => import('./operation-list.ts'),
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
});
