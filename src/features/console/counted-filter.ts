import type { Context } from '../../operations/operation.ts';
import { narrowScope } from '../../runtime/access/scope.ts';
import type { CountField } from '../../runtime/audit/count-types.ts';
import type { AuditFilter } from '../../runtime/audit/types.ts';
import { readCounts } from './count-tables.ts';
import type { ReadScope } from './read-scope.ts';

/** The fields of which one can be counted, each with its name in the counts. */
const COUNTED: Readonly<Record<string, CountField>> = {
  boundary: 'boundary',
  policy_name: 'rule',
  tool_name: 'tool',
};
/** The fields that every count has. */
const SHARED = [
  'tenant_id',
  'agent_id',
  'decision',
  'action',
  'any_of',
  'decisions_only',
  'without_self_tests',
];

/**
 * Counts the events that match a filter without reading them; `null` if the filter has a field that is not counted. The
 * period begins at a multiple of five minutes; `null` counts all events.
 */
export async function countMatches(
  filter: AuditFilter,
  scope: ReadScope,
  period: { readonly since_ms: number | null; readonly until_ms: number },
  { runtime }: Context,
): Promise<number | null> {
  const fields = Object.keys(filter).filter((field) => !SHARED.includes(field));
  const [field = 'boundary', ...more] = fields;
  const by = COUNTED[field];
  if (by === undefined || more.length > 0) return null;
  const value = filter[field as 'boundary' | 'policy_name' | 'tool_name'];
  const tenants = narrowScope(scope.tenants, filter.tenant_id ?? null);
  const agents = narrowScope(scope.agents, filter.agent_id ?? null);
  const details = {
    ...(value !== undefined && { values: [value] }),
    approval_events: !filter.decisions_only,
  };
  const counts = await readCounts(runtime, by, { tenants, agents }, period, details);
  return counts
    .filter(
      ({ decision, action }) =>
        (filter.decision === undefined || filter.decision === decision) &&
        (filter.action === undefined || filter.action === action) &&
        (filter.any_of?.action?.includes(action) ?? true),
    )
    .reduce((sum, { count }) => sum + count, 0);
}
