import type { Feature } from '../../operations/feature.ts';

export const advisorsFeature: Feature = {
  needs: ['compliance'],
  open: ({ runtime }) => ({
    members: {
      findComplianceGaps: async (request) =>
        (await import('./compliance-findings.ts')).buildComplianceFindings(request, runtime()),
    },
  }),
};
