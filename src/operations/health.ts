import { operation, Refusal } from './operation.ts';

export const health = operation({
  name: 'health',
  summary: 'Health of the service',
  description: 'Answers as long as the process does. Open to everyone.',
  http: { method: 'GET', path: '/v1/health' },
  mcp: { tool: 'health_check', read_only: true },
  permission: null,
  needs: 'live',
  input: { type: 'object', properties: {} },
  output: {
    type: 'object',
    required: ['status', 'version', 'mode', 'uptime_seconds', 'agents_seen'],
    properties: {
      status: { const: 'healthy' },
      version: { type: 'string' },
      mode: { enum: ['sidecar', 'gateway'] },
      uptime_seconds: { type: 'integer' },
      agents_seen: { type: 'array', items: { type: 'string' } },
    },
  },
  example: {},
  answer: {
    status: 'healthy',
    version: '0.1.0',
    mode: 'sidecar',
    uptime_seconds: 3600,
    agents_seen: ['orders', 'support-bot'],
  },
  async run(_input, { runtime }) {
    return {
      status: 'healthy' as const,
      version: runtime.version,
      mode: runtime.mode,
      uptime_seconds: Math.max(0, Math.floor((runtime.now_ms() - runtime.started_ms) / 1000)),
      agents_seen: [...(await runtime.agentsSeen())],
    };
  },
});

export const ready = operation({
  name: 'ready',
  summary: 'Readiness of the service',
  description: 'Answers 200 when all stores are open and a policy is in force, else 503. Open to everyone.',
  http: { method: 'GET', path: '/v1/ready' },
  permission: null,
  needs: 'live',
  input: { type: 'object', properties: {} },
  output: { type: 'object', required: ['status'], properties: { status: { const: 'ready' } } },
  example: {},
  answer: { status: 'ready' },
  refusals: ['unavailable'],
  async run(_input, { runtime }) {
    if (await runtime.ready()) return { status: 'ready' as const };
    throw new Refusal('unavailable', 'The service is starting, or one of its stores is not open.');
  },
});
