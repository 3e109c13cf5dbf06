import { randomBytes } from 'node:crypto';
import { Type } from '../../core/schema.ts';
import { findOwnEvent } from '../../operations/audit.ts';
import { applyManagedChange, confirmInput } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { buildListPage, pageInput, pageOutput, readNamePage } from '../../operations/paging.ts';
import { PRINTABLE_TEXT } from '../../operations/shapes.ts';
import { dropBlankName, resolveTenantOrAll } from '../../operations/subject.ts';
import { parseDuration } from '../../runtime/audit/filter.ts';
import { buildDetectorEvent } from './detector-event.ts';
import {
  type AllowedDetectorRow,
  buildAllowedDetector,
  deleteAllowedDetector,
  insertAllowedDetectors,
  listAllowedDetectorRows,
} from './detector-store.ts';
import { EXPIRES_MS_MAX } from './operations.ts';
import { type DetectorScope, listDecidingDetectors, requireDetector } from './resolve-detectors.ts';
import { allowedDetectors } from './tables.ts';

const DEFAULT_LIFE = '30d';
const ENTRIES_MAX = 1_000;
const EXAMPLE_ID = `alw_${'0'.repeat(24)}`;

function buildScopeSchema(what: string) {
  return Type.Nullable(
    Type.String({
      maxLength: 256,
      pattern: PRINTABLE_TEXT,
      description: `The only ${what}; \`*\` for any (default: that of the event, or any).`,
    }),
  );
}

const idSchema = Type.String({ pattern: '^alw_[0-9a-f]{24}$', description: 'The ID of the entry.' });

export const allowlistDetectorList = defineOperation({
  name: 'allowlist_detector_list',
  summary: 'List allowlisted detectors',
  description:
    'The detectors that operators allow for a time, with their scope. Expired entries are removed.',
  http: { method: 'GET', path: '/v1/dashboard/allowlist/detectors' },
  cli: {
    verb: 'allow list',
    options: ['cursor', 'limit'],
    columns: {
      rows: 'entries',
      cells: {
        ID: 'id',
        DETECTOR: 'rule_id',
        TOOL: 'tool_name',
        AGENT: 'agent_id',
        TENANT: 'tenant_id',
        UNTIL: 'expires_at',
        BY: 'created_by',
        REASON: 'reason',
      },
      empty: 'No detector is allowlisted.',
    },
    examples: [['customshouse allow list', '']],
  },
  permission: 'policy:read',
  for_users: 'if_named',
  needs: 'store',
  input: Type.Object({ ...pageInput }),
  output: Type.Object({ entries: Type.Array(allowedDetectors.schema), ...pageOutput }),
  example: { limit: 10 },
  answer: { entries: [], next_cursor: null },
  async run(input, context) {
    const { tenants } = context.caller;
    const query = ['allowed_detectors', tenants];
    const { after, limit } = readNamePage(query, input);
    const nowMs = context.runtime.now_ms();
    const rows = (await listAllowedDetectorRows((await context.runtime.store()).db)).filter(
      ({ id, tenant_id, expires_ms }) =>
        nowMs < expires_ms &&
        (after === null || id > after) &&
        (tenants === '*' || tenant_id === '' || tenants.includes(tenant_id)),
    );
    const { entries, next_cursor } = buildListPage(query, rows, limit, ({ id }) => id);
    return { entries: entries.map(allowedDetectors.show), next_cursor };
  },
});

export const allowlistDetectorAdd = defineOperation({
  name: 'allowlist_detector_add',
  summary: 'Allow the findings of a detector for a time',
  description:
    'No rule acts on findings of the detector in this scope, in all workers, until the entry expires. Names the detector, or the event that it blocked (`event_id`): its tool, agent and tenant are then the scope. Secrets and the guard of the service cannot be allowed. Contracts, identities, budgets, flow rules and rules of the tenant still decide. Requires `confirm_weaker` with the reason in `note`.',
  http: { method: 'POST', path: '/v1/dashboard/allowlist/detectors' },
  permission: 'policies:edit',
  caller: 'person',
  needs: 'owner',
  input: Type.Object({
    rule_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, pattern: PRINTABLE_TEXT, description: 'The detector.' }),
    ),
    event_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'The audit event of a stopped call.' }),
    ),
    tool_name: Type.Optional(buildScopeSchema('tool')),
    agent_id: Type.Optional(buildScopeSchema('agent')),
    tenant_id: Type.Optional(buildScopeSchema('tenant')),
    until: Type.Optional(
      Type.String({
        maxLength: 32,
        description: `A duration such as \`${DEFAULT_LIFE}\` (default), or a date; at most a year.`,
      }),
    ),
    note: Type.String({ minLength: 1, maxLength: 500, pattern: PRINTABLE_TEXT, description: 'The reason.' }),
    ...confirmInput,
  }),
  output: Type.Object({ entries: Type.Array(allowedDetectors.schema) }),
  example: {
    rule_id: 'git.push_force',
    tool_name: 'Bash',
    confirm_weaker: true,
    note: 'The branch is mine',
  },
  answer: null,
  refusals: ['conflict', 'policy_invalid', 'weaker_policy', 'not_found'],
  async run(input, context) {
    const { maskComment } = await import('../../runtime/enforcement/mask-comment.ts');
    const reason = maskComment(input.note, context.runtime.policy());
    if (reason === null) throw new Refusal('invalid_request', '`note` must give the reason.');
    const createdMs = context.runtime.now_ms();
    const expiresMs = parseExpiry(input.until ?? DEFAULT_LIFE, createdMs);
    const { rule_ids, scope } = await resolveTarget(input, context);
    const build = (ruleId: string): AllowedDetectorRow => {
      const id = `alw_${randomBytes(12).toString('hex')}`;
      return {
        id,
        rule_id: ruleId,
        ...scope,
        reason,
        created_by: context.caller.id,
        created_ms: createdMs,
        expires_ms: expiresMs,
      };
    };
    const [first, ...others] = rule_ids;
    const rows = [build(first), ...others.map(build)] as const;
    await requireNew(rows, context);
    await applyManagedChange(
      {
        next: (now) => ({
          ...now,
          allowed_detectors: [...(now.allowed_detectors ?? []), ...rows.map(buildAllowedDetector)],
        }),
        save: (trx) => insertAllowedDetectors(trx, rows),
        undo: async (trx) => {
          for (const { id } of rows) await deleteAllowedDetector(trx, id);
        },
        event: buildDetectorEvent('allowlist_detector_add', 'An operator allowlisted a detector.', rows),
        confirmation: { confirm_weaker: input.confirm_weaker, note: input.note },
      },
      context,
    );
    return { entries: rows.map(allowedDetectors.show) };
  },
});

export const allowlistDetectorRevoke = defineOperation({
  name: 'allowlist_detector_revoke',
  summary: 'Revoke an allowlisted detector',
  description: 'Rules act on findings of the detector again, in all workers.',
  http: { method: 'POST', path: '/v1/dashboard/allowlist/detectors/revoke' },
  cli: {
    verb: 'allow revoke',
    arguments: ['id'],
    line: ({ id, rule_id }) => `Revoked ${id}: rules act on \`${rule_id}\` again.`,
    examples: [[`customshouse allow revoke ${EXAMPLE_ID}`, '']],
  },
  permission: 'policies:edit',
  caller: 'person',
  needs: 'owner',
  input: Type.Object({ id: idSchema }),
  output: allowedDetectors.schema,
  example: { id: EXAMPLE_ID },
  answer: null,
  refusals: ['not_found', 'policy_invalid'],
  async run({ id }, context) {
    const rows = await listAllowedDetectorRows((await context.runtime.store()).db);
    const row = rows.find((each) => each.id === id);
    if (row === undefined) throw new Refusal('not_found', 'There is no entry with this ID.');
    resolveTenantOrAll(row, context);
    await applyManagedChange(
      {
        next: (now) => ({
          ...now,
          allowed_detectors: (now.allowed_detectors ?? []).filter((each) => each.id !== id),
        }),
        save: async (trx) => void (await deleteAllowedDetector(trx, id)),
        undo: (trx) => insertAllowedDetectors(trx, [row]),
        event: buildDetectorEvent(
          'allowlist_detector_revoke',
          'An operator revoked an allowlisted detector.',
          [row],
        ),
        confirmation: null,
      },
      context,
    );
    return allowedDetectors.show(row);
  },
});

interface TargetInput {
  readonly rule_id?: string;
  readonly event_id?: string;
  readonly tool_name?: string | null;
  readonly agent_id?: string | null;
  readonly tenant_id?: string | null;
}

/** Resolves an entry's detectors and scope. The scope is stored with an empty text for any. */
async function resolveTarget({ rule_id, event_id, ...named }: TargetInput, context: Context) {
  if ((rule_id === undefined) === (event_id === undefined))
    throw new Refusal('invalid_request', 'Name the detector by either `rule_id` or `event_id`.');
  const event = event_id === undefined ? null : await findOwnEvent(event_id, context);
  const isAction = event?.boundary === 'action';
  const hasTwoAgents = event !== null && ![null, event.agent_id].includes(event.source_agent_id);
  if (hasTwoAgents && dropBlankName(named.agent_id) === null)
    throw new Refusal('invalid_request', 'Two agents act in this event. Name one, or `*` for any.');
  const scope = {
    tool: readScope(named.tool_name, isAction ? event.tool_name : null),
    agent_id: readScope(named.agent_id, event?.agent_id ?? null),
    tenant_id: resolveTenantOrAll(
      { tenant_id: readScope(named.tenant_id, event?.tenant_id ?? null) },
      context,
    ),
  };
  const ruleIds =
    event === null ? ([rule_id as string] as const) : await listDecidingDetectors(event, context);
  const checked: DetectorScope = {
    tool: dropBlankName(scope.tool),
    agent_id: dropBlankName(scope.agent_id),
    tenant_id: dropBlankName(scope.tenant_id),
  };
  for (const id of ruleIds) await requireDetector(id, checked, context);
  return { rule_ids: ruleIds, scope };
}

function readScope(named: string | null | undefined, ofEvent: string | null): string {
  const written = dropBlankName(named) ?? ofEvent ?? '*';
  return written === '*' ? '' : written;
}

function parseExpiry(written: string, nowMs: number): number {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(written);
  const lastsMs = isDate ? Date.parse(written) - nowMs : (parseDuration(written) ?? 0);
  if (lastsMs > 0 && lastsMs <= EXPIRES_MS_MAX) return nowMs + lastsMs;
  throw new Refusal(
    'invalid_request',
    '`until` is a duration such as `30d`, or a date ahead such as `2027-01-31`; at most a year.',
  );
}

async function requireNew(rows: readonly AllowedDetectorRow[], { runtime }: Context): Promise<void> {
  const stored = await listAllowedDetectorRows((await runtime.store()).db);
  if (stored.length + rows.length > ENTRIES_MAX)
    throw new Refusal('conflict', `There are ${ENTRIES_MAX} entries already. Revoke some first.`);
  const getScopeKey = ({ rule_id, tool, agent_id, tenant_id }: AllowedDetectorRow) =>
    JSON.stringify([rule_id, tool, agent_id, tenant_id]);
  const keys = new Set(rows.map(getScopeKey));
  const same = stored.find((each) => keys.has(getScopeKey(each)) && runtime.now_ms() < each.expires_ms);
  if (same !== undefined)
    throw new Refusal('conflict', `The entry \`${same.id}\` allows this already. Revoke it to change it.`);
}
