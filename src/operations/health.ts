import { Type } from '../core/schema.ts';
import { coversName } from '../runtime/access/scope.ts';
import type { Caller } from '../runtime/access/types.ts';
import { type Context, defineOperation, Refusal } from './operation.ts';

/** Present in both answers only after a failed reload: the previous policy is still active. */
const lastReload = Type.Object(
  {
    status: Type.Literal('failed'),
    code: Type.Enum(['policy_invalid', 'reload_failed'], {
      description:
        '`policy_invalid`: the configuration or a policy has a mistake; `reload_failed`: the log says why.',
    }),
  },
  { description: 'Only if the last policy reload failed. The previous policy is still active.' },
);

async function readLastReload({ runtime }: Context) {
  const code = await runtime.reloadFailure();
  return code === null ? {} : { last_reload: { status: 'failed' as const, code } };
}

/** Present only in a cluster. */
const nodeLease = Type.Object(
  {
    fenced: Type.Boolean({ description: 'This node has no lease, and `cluster.on_partition` applies.' }),
    synced_at: Type.String({ description: 'The last time at which it had the database.' }),
    policy_revision: Type.Nullable(
      Type.Integer({ description: 'The revision that is active on it; `null` while it starts.' }),
    ),
    policies_differ: Type.Boolean({
      description: 'Live nodes at the same revision have different policies: their configurations differ.',
    }),
  },
  { description: 'Only in a cluster: the lease of the node that answers.' },
);

function readLease({ runtime }: Context) {
  const lease = runtime.lease();
  if (lease === null) return {};
  const { is_fenced, synced_ms, policy_revision, policies_differ } = lease;
  const synced = new Date(synced_ms).toISOString();
  return { cluster: { fenced: is_fenced, synced_at: synced, policy_revision, policies_differ } };
}

export const health = defineOperation({
  name: 'health',
  summary: 'Health of the service',
  description:
    'Answers as long as the process does. Open to everyone; only a caller who may check for all tenants sees names of agents.',
  http: { method: 'GET', path: '/v1/health' },
  mcp: { tool: 'health_check', read_only: true },
  permission: null,
  identifies_caller: true,
  needs: 'live',
  input: Type.Object({}),
  output: Type.Object({
    status: Type.Literal('healthy'),
    version: Type.String(),
    mode: Type.Enum(['sidecar', 'gateway']),
    uptime_seconds: Type.Integer(),
    agents_seen: Type.Array(Type.String(), {
      description:
        'Empty for a caller without a credential from elsewhere, and for one of particular tenants.',
    }),
    foreign_entries: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Only if the state folder has entries that are not of this service, which are skipped: at most 20, for callers who also see agents.',
      }),
    ),
    last_reload: Type.Optional(lastReload),
    cluster: Type.Optional(nodeLease),
  }),
  example: {},
  answer: {
    status: 'healthy',
    version: '0.1.0',
    mode: 'sidecar',
    uptime_seconds: 3600,
    agents_seen: ['orders', 'support-bot'],
  },
  async run(_input, context) {
    const { runtime, caller } = context;
    const foreignEntries = runtime.foreignEntries();
    const known = isKnown(caller);
    const [agentsSeen, failed] = await Promise.all([runtime.agentsSeen(), readLastReload(context)]);
    return {
      status: 'healthy' as const,
      version: runtime.version,
      mode: runtime.mode,
      uptime_seconds: Math.max(0, Math.floor((runtime.now_ms() - runtime.started_ms) / 1000)),
      agents_seen: known ? listOwnAgents(agentsSeen, caller) : [],
      ...(foreignEntries.length > 0 && known && { foreign_entries: [...foreignEntries] }),
      ...failed,
      ...readLease(context),
    };
  },
});

/** Returns whether a caller sees names. They belong to no tenant here, so a caller of particular tenants sees none. */
function isKnown({ permissions, tenants }: Caller): boolean {
  return tenants === '*' && (permissions.includes('check') || permissions.includes('audit:read'));
}

function listOwnAgents(seen: readonly string[], { agents }: Caller): string[] {
  return seen.filter((agentId) => coversName(agents, agentId));
}

export const ready = defineOperation({
  name: 'ready',
  summary: 'Readiness of the service',
  description:
    'Answers 200 when all stores are open and a policy is active, else 503. In a cluster, it is 503 without a lease. Needs no credential.',
  http: { method: 'GET', path: '/v1/ready' },
  permission: null,
  needs: 'live',
  input: Type.Object({}),
  output: Type.Object({ status: Type.Literal('ready'), last_reload: Type.Optional(lastReload) }),
  example: {},
  answer: { status: 'ready' },
  refusals: ['unavailable'],
  async run(_input, context) {
    if (await context.runtime.ready())
      return { status: 'ready' as const, ...(await readLastReload(context)) };
    if (context.runtime.lease()?.is_fenced === true)
      throw new Refusal('unavailable', 'This node cannot reach the database of its cluster.');
    throw new Refusal('unavailable', 'The service is starting, or one of its stores is not open.');
  },
});
