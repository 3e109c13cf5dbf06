import { Type } from '../../core/schema.ts';
import type { Context } from '../../operations/operation.ts';
import { defineOperation } from '../../operations/operation.ts';
import { cutPage, pageInput } from '../../operations/paging.ts';
import { formatUsage, readCounts, readFirstSeen, sumByValue, type ValueCount } from './count-tables.ts';
import { findScopedEvents } from './incidents.ts';
import { parseWindow, type ReadScope, resolveReadScope } from './read-scope.ts';
import { lastSchema, listPageSchemas, tenantSchema, usageSchemas } from './schemas.ts';

/** The number of agents that one row names. */
const AGENTS_MAX = 20;

export const observeHooks = defineOperation({
  name: 'observe_hooks',
  summary: 'List hooks that wrote events',
  description:
    'Lists the coding agents and hook events of a period, most recent activity first: decisions, agents, first and last seen, and the version of the hook program of the newest event. A hook that is configured and missing here wrote nothing.',
  http: { method: 'GET', path: '/v1/dashboard/observe/hooks' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: Type.Object({
    hooks: Type.Array(
      Type.Object({
        coding_agent: Type.String({ description: 'The dialect of the hook: `claude-code`.' }),
        hook_event: Type.String({ description: 'The event of the coding agent: `PreToolUse`.' }),
        hook_version: Type.Nullable(
          Type.String({ description: '`null` if the newest event does not name it.' }),
        ),
        agent_ids: Type.Array(Type.String(), { description: 'Twenty at most.' }),
        ...usageSchemas,
      }),
    ),
    ...listPageSchemas,
  }),
  example: { last: '7d' },
  answer: { hooks: [], count: 0, next_cursor: null, total: 0 },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { runtime } = context;
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, runtime.now_ms());
    const counts = await readCounts(runtime, 'hook', scope, window, { split: 'agent' });
    const agents = Map.groupBy(counts, ({ value }) => value);
    const all = sumByValue(counts).toSorted((a, b) => b.last_ms - a.last_ms);
    const { items, next_cursor } = cutPage(all, ['hooks', scope, window.last], input);
    const names = items.map(({ value }) => value);
    const first = await readFirstSeen(runtime, 'hook', scope, names);
    const hooks = [];
    for (const each of items) {
      const ids = agents.get(each.value)?.flatMap(({ split }) => split ?? []) ?? [];
      hooks.push({
        ...splitHook(each.value),
        hook_version: await findHookVersion(each, scope, context),
        agent_ids: [...new Set(ids)].toSorted().slice(0, AGENTS_MAX),
        ...formatUsage(each, first.get(each.value)),
      });
    }
    return { hooks, count: hooks.length, next_cursor, total: all.length };
  },
});

/** Separates the coding agent from its event. The name of a coding agent has no slash. */
function splitHook(value: string): { readonly coding_agent: string; readonly hook_event: string } {
  const slash = value.indexOf('/');
  return { coding_agent: value.slice(0, slash), hook_event: value.slice(slash + 1) };
}

/** The number of events of one millisecond that are searched for a hook. */
const SAME_TIME_MAX = 50;

/** Returns the version in the newest event of a hook; `null` if that event names none. */
async function findHookVersion(
  { value, last_ms }: ValueCount,
  scope: ReadScope,
  context: Context,
): Promise<string | null> {
  const since = new Date(last_ms).toISOString();
  const until = new Date(last_ms + 1).toISOString();
  const { events } = await findScopedEvents({ since, until, limit: SAME_TIME_MAX }, scope, context);
  const newest = events.find(({ metadata }) => `${metadata.hook}/${metadata.hook_event}` === value);
  const version = newest?.metadata.hook_version;
  return typeof version === 'string' ? version : null;
}
