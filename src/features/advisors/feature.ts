import type { Feature } from '../../operations/feature.ts';
import type { Config } from '../../runtime/config/index.ts';
import { buildOff } from '../../runtime/observability/driver-checks.ts';
import type { DriverState } from '../../runtime/observability/service-state.ts';

export const advisorsFeature: Feature = {
  needs: ['compliance'],
  open: ({ config: { intelligence }, prepareModel, runtime }) => {
    const model = prepareModel(intelligence);
    return {
      members: {
        advisors: { settings: intelligence, backend: model.open },
        findComplianceGaps: async (request) =>
          (await import('./compliance-findings.ts')).buildComplianceFindings(request, runtime()),
      },
      listDrivers: async () => [describeModel(intelligence)],
      close: model.close,
    };
  },
};

function describeModel({ enabled, backend }: Config['intelligence']): DriverState {
  if (!enabled) return buildOff('advisor', 'advisor model', '`intelligence.enabled` is off.');
  return {
    ...{ kind: 'advisor', name: backend?.model ?? 'advisor model' },
    ...{ driver: backend?.provider ?? null, status: 'unchecked' },
    detail: 'It is called only when an operator requests advice.',
  };
}
