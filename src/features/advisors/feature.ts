import { defineFeature } from '../../operations/feature.ts';

export const advisorsFeature = defineFeature({
  name: 'advisors',
  needs: ['compliance'],
  loadOperations: () => import('./operation-list.ts'),
  open: ({ runtime }) => ({
    members: {
      findComplianceGaps: async (request) =>
        (await import('./compliance-findings.ts')).buildComplianceFindings(request, runtime()),
    },
  }),
});
