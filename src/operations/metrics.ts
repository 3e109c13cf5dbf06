import { Type } from '../core/schema.ts';
import { defineOperation } from './operation.ts';

export const metrics = defineOperation({
  name: 'metrics',
  summary: 'Metrics for time-series scrapers',
  description: 'Counters and histograms of all workers in the Prometheus text format.',
  http: { method: 'GET', path: '/v1/metrics', produces: 'text/plain; version=0.0.4; charset=utf-8' },
  permission: 'metrics:read',
  needs: 'live',
  input: Type.Object({}),
  output: Type.String(),
  example: {},
  answer: [
    '# HELP service_requests_total Checks that were answered, by endpoint and decision.',
    '# TYPE service_requests_total counter',
    'service_requests_total{endpoint="scan_input",decision="allow"} 0',
    'service_requests_total{endpoint="scan_input",decision="block"} 1',
    '',
  ].join('\n'),
  run: (_input, { runtime }) => runtime.metricsText(),
});
