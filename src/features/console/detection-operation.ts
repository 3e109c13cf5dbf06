import { Type } from '../../core/schema.ts';
import { defineOperation } from '../../operations/operation.ts';
import { cutPage, pageInput } from '../../operations/paging.ts';
import { formatUsage, readCounts, sumByValue, type ValueCount } from './count-tables.ts';
import { parseWindow, resolveReadScope } from './read-scope.ts';
import { lastSchema, listPageSchemas, tenantSchema, usageSchemas } from './schemas.ts';

/** A detector is noisy if it found something in this many events and rules acted on few of them. */
const NOISY_EVENTS_MIN = 20;
const NOISY_ACTED_MAX = 0.1;

export const dashboardDetection = defineOperation({
  name: 'dashboard_detection',
  summary: 'Show the results of detectors',
  description:
    'Lists the detectors by boundary with the events in which they found something, and the hits of the allowlist. A detector is noisy if it found something in 20 events or more and rules acted on at most a tenth of them.',
  http: { method: 'GET', path: '/v1/dashboard/detection' },
  permission: 'dashboard:view',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: Type.Object({
    detectors: Type.Array(
      Type.Object({
        detector: Type.String(),
        boundary: Type.String(),
        ...usageSchemas,
        enforced_count: Type.Integer({
          description: 'Events that were changed, blocked or held for approval.',
        }),
        noisy: Type.Boolean(),
      }),
      { description: 'Most frequent first.' },
    ),
    allowlist: Type.Array(
      Type.Object({
        fingerprint: Type.String(),
        reason: Type.String(),
        owner: Type.String(),
        expires: Type.String(),
        expired: Type.Boolean(),
        hits: Type.Integer({ description: 'Events of the period in which the value was found.' }),
        last_hit: Type.Nullable(Type.String()),
      }),
    ),
    ...listPageSchemas,
  }),
  example: { last: '24h' },
  answer: { detectors: [], allowlist: [], count: 0, next_cursor: null, total: 0 },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { runtime } = context;
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, runtime.now_ms());
    const all = sumByValue(await readCounts(runtime, 'detector', scope, window));
    const { items, next_cursor } = cutPage(all, ['detection', scope, window.last], input);
    const hits = sumByValue(await readCounts(runtime, 'allowlisted', scope, window));
    const detectors = items.map(formatDetector);
    return {
      detectors,
      allowlist: runtime.policy().detection.allowlist.map(({ fingerprint, reason, owner, expires_ms }) => {
        const hit = hits.find(({ value }) => value === fingerprint);
        return {
          ...{ fingerprint, reason, owner },
          expires: new Date(expires_ms).toISOString(),
          expired: expires_ms <= runtime.now_ms(),
          hits: hit?.events ?? 0,
          last_hit: hit === undefined ? null : new Date(hit.last_ms).toISOString(),
        };
      }),
      count: detectors.length,
      next_cursor,
      total: all.length,
    };
  },
});

function formatDetector(each: ValueCount) {
  const enforcedCount = each.events - each.outcomes.allow;
  const slash = each.value.indexOf('/');
  return {
    detector: each.value.slice(slash + 1),
    boundary: each.value.slice(0, slash),
    ...formatUsage(each),
    enforced_count: enforcedCount,
    noisy: each.events >= NOISY_EVENTS_MIN && enforcedCount / each.events <= NOISY_ACTED_MAX,
  };
}
