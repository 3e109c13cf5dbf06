import type { TSchema } from 'typebox';
import { type AnyOperation, defineOperation, type Operation, Refusal } from '../../operations/operation.ts';
import type { Permission } from '../../runtime/config/permissions.ts';

/**
 * The refusal of the advisory layer, which is not part of this version. Its routes exist and refuse before they check
 * the request, so that a client can distinguish "not configured" from "no such route" and from its own errors.
 */
function buildNotConfiguredRefusal(): Refusal {
  return new Refusal(
    'not_configured',
    'The intelligence layer is not configured: this version does not include it, whatever `intelligence` in service.yaml says.',
  );
}

interface AdvisoryDescription {
  readonly name: string;
  readonly summary: string;
  readonly http: Operation['http'];
  readonly permission: Permission;
  readonly input: TSchema;
  readonly example: object;
}

function buildAdvisoryOperation({
  name,
  summary,
  http,
  permission,
  input,
  example,
}: AdvisoryDescription): AnyOperation {
  return defineOperation({
    name,
    summary,
    description: `${summary}. Answers 503 while the intelligence layer is not configured.`,
    http,
    permission,
    needs: 'nothing',
    unavailable: buildNotConfiguredRefusal,
    input,
    output: { type: 'object' },
    example,
    answer: null,
    refusals: ['not_configured'],
    run: () => {
      throw buildNotConfiguredRefusal();
    },
  });
}

const eventInputSchema = {
  type: 'object',
  required: ['event_id'],
  properties: { event_id: { type: 'string' } },
} as const;

export const intelligenceStatus = buildAdvisoryOperation({
  name: 'intelligence_status',
  summary: 'Whether intelligence is enabled, and which backend and model',
  http: { method: 'GET', path: '/v1/intelligence/status' },
  permission: 'policy:read',
  input: { type: 'object', properties: {} },
  example: {},
});

export const intelligenceExplain = buildAdvisoryOperation({
  name: 'intelligence_explain',
  summary: 'Classify and explain an incident',
  http: { method: 'POST', path: '/v1/intelligence/explain' },
  permission: 'audit:read',
  input: eventInputSchema,
  example: { event_id: 'evt_0123456789abcdef01234567' },
});

export const intelligenceRecommend = buildAdvisoryOperation({
  name: 'intelligence_recommend',
  summary: 'Suggest policy improvements from audit aggregates',
  http: { method: 'POST', path: '/v1/intelligence/recommend' },
  permission: 'audit:read',
  input: { type: 'object', properties: { since: { type: 'string' } } },
  example: { since: '7d' },
});

export const intelligenceCompliance = buildAdvisoryOperation({
  name: 'intelligence_compliance',
  summary: 'Generate a compliance policy set',
  http: { method: 'POST', path: '/v1/intelligence/compliance' },
  permission: 'audit:read',
  input: { type: 'object', required: ['framework'], properties: { framework: { type: 'string' } } },
  example: { framework: 'HIPAA' },
});

export const dashboardIntelligenceExplain = buildAdvisoryOperation({
  name: 'dashboard_intelligence_explain',
  summary: 'Classify and explain an incident, for the dashboard',
  http: { method: 'POST', path: '/v1/dashboard/intelligence/explain' },
  permission: 'intelligence:explain',
  input: eventInputSchema,
  example: { event_id: 'evt_0123456789abcdef01234567' },
});
