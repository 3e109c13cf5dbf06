import { createHash } from 'node:crypto';
import type { Runtime } from '../../operations/runtime.ts';
import { coversName } from '../../runtime/access/scope.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { ApprovalHistory, EventWindow, WindowCounts } from '../../runtime/audit/window-types.ts';
import { listElements, listRuleGaps } from './control-elements.ts';
import { evaluateRequirements, formatMs, listDetectorGaps, listRequirements } from './control-gaps.ts';
import { countEvidence, openSampler, sumActions, sumValues } from './evidence.ts';
import type { ControlMapping, FrameworkMapping } from './mapping-types.ts';
import { loadPolicyTimeline, type PolicyTimeline } from './policy-timeline.ts';
import {
  CONTROL_STATUSES,
  type ComplianceReport,
  type ControlGap,
  type ControlReport,
  type ControlStatus,
  type RecordedChange,
  type ReportedPolicy,
  type ReportSummary,
} from './report-types.ts';

/** The audit log and the policies that a report reads. */
export type ComplianceSource = Pick<Runtime, 'auditWindow' | 'queryAudit' | 'policyOf'>;

/** A request for a report. The window and the tenants are resolved: a report reads no clock. */
export interface ComplianceRequest extends EventWindow {
  readonly framework: FrameworkMapping;
  /** The duration before `until_ms` as the caller wrote it; `null` for a window with two times. */
  readonly last: string | null;
}

const TOP_MAX = 10;
const SAMPLES_MAX = 20;
const CHANGES_MAX = 100;
const CHANGE_KINDS = [
  'service.policy_reload',
  'service.policy_document_save',
  'service.policy_document_rollback',
  'service.tenant_policies_save',
  'service.tenant_policies_rollback',
  'service.allowlist_add',
  'service.allowlist_remove',
  'service.allowlist_detector_add',
  'service.allowlist_detector_revoke',
  'service.allowlist_detector_expire',
] as const;

/**
 * Builds a report from the audit log and the saved policies. Deterministic: the same journal, window and policies give
 * the same record. Events are counted by the index and are not held in memory.
 */
export async function buildComplianceReport(
  request: ComplianceRequest,
  source: ComplianceSource,
): Promise<ComplianceReport> {
  const { framework, since_ms, until_ms, tenants, agents, last } = request;
  const fields = await source.auditWindow.countFields(request, ['boundary', 'rule', 'tag_family', 'agent']);
  const timeline = await loadPolicyTimeline(source, request);
  const approvals = await source.auditWindow.listApprovalHistories(request);
  const sampler = openSampler(source, request);
  const oldestMs = await source.auditWindow.findOldestEvent();
  const recordGaps = listRecordGaps(timeline);
  const context: ControlContext = { request, fields, timeline, sampler, record_gaps: recordGaps };
  const controls: ControlReport[] = [];
  for (const control of framework.controls) controls.push(await buildControl(control, context));
  return {
    report_version: 1,
    framework: framework.framework,
    title: framework.title,
    edition: framework.edition,
    mapping: { reviewed: framework.reviewed, hash: hashMapping(framework), sources: framework.sources },
    scope: framework.scope,
    generated_at: formatMs(until_ms),
    window: {
      since: formatMs(since_ms),
      until: formatMs(until_ms),
      last,
      recorded_since: timeline.intervals[0] === undefined ? null : formatMs(timeline.intervals[0].from_ms),
    },
    tenants: tenants === '*' ? null : tenants.toSorted(),
    agents: agents === '*' ? null : agents.toSorted(),
    summary: buildSummary(fields, approvals, controls),
    evidence: {
      sample_event_ids: await sampler.findNewest(SAMPLES_MAX),
      sample_approval_ids: approvals
        .slice(-SAMPLES_MAX)
        .map(({ request_id }) => request_id)
        .toReversed(),
    },
    record_gaps: recordGaps,
    controls,
    policies: listPolicies(timeline, tenants),
    changes: await listChanges(request, source),
    journal: {
      oldest_event: oldestMs === null ? null : formatMs(oldestMs),
      chains: await source.auditWindow.listChainStates(until_ms),
    },
  };
}

/** Returns the SHA-256 of a mapping, so that a report names the mapping that it was made with. */
function hashMapping(framework: FrameworkMapping): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(framework)).digest('hex')}`;
}

interface ControlContext {
  readonly request: ComplianceRequest;
  readonly fields: WindowCounts;
  readonly timeline: PolicyTimeline;
  readonly sampler: ReturnType<typeof openSampler>;
  readonly record_gaps: readonly ControlGap[];
}

async function buildControl(control: ControlMapping, context: ControlContext): Promise<ControlReport> {
  const { request, fields, timeline, sampler, record_gaps } = context;
  const { control_id, title, requirement, contribution, permissions, settings, coverage } = control;
  const about = { control_id, title, requirement, contribution, permissions, settings };
  const frameworkGaps = control.gaps.map(
    (message) =>
      ({ kind: 'framework', message, tenants: null, tenant_id: null, since: null, until: null }) as const,
  );
  if (coverage === 'none') {
    const evidence = { counts: [], sample_event_ids: [] };
    return {
      ...about,
      status: 'outside this service',
      active: null,
      elements: [],
      evidence,
      gaps: frameworkGaps,
    };
  }
  const elements = listElements(control, timeline, request.tenants);
  const rules = elements.flatMap(({ kind, name }) => (kind === 'rule' ? [name] : []));
  const counts = countEvidence(control, fields, rules);
  const requirements = listRequirements(control, listTenants(timeline, request.tenants));
  const checked = evaluateRequirements(requirements, timeline);
  const gaps = [
    ...checked.gaps,
    ...listDetectorGaps(control, timeline),
    ...listRuleGaps(elements),
    ...frameworkGaps,
  ];
  const isUnproved = timeline.intervals.every(({ view }) => view === null);
  const isWhole =
    record_gaps.length === 0 &&
    checked.met_always === checked.total &&
    gaps.every(({ kind }) => kind === 'framework');
  const active =
    isUnproved || (checked.total > 0 && checked.met_sometimes === 0) ? 'none' : isWhole ? 'all' : 'some';
  const status: ControlStatus =
    active === 'none' ? 'gap' : active === 'all' && coverage === 'full' ? 'enforced' : 'partly';
  return {
    ...about,
    status,
    active,
    elements,
    evidence: { counts, sample_event_ids: await sampler.findForRows(counts) },
    gaps,
  };
}

/** Returns the tenants for which requirements are checked: `default` and those with rules or contracts of their own. */
function listTenants({ intervals }: PolicyTimeline, tenants: '*' | readonly string[]): readonly string[] {
  if (tenants !== '*') return tenants.toSorted();
  const named = intervals.flatMap(({ view }) =>
    view === null
      ? []
      : [...view.policy.rules, ...view.policy.contracts, ...view.policy.identities].map(
          ({ tenant_id }) => tenant_id,
        ),
  );
  return [...new Set(['default', ...named.filter((each) => each !== null)])].toSorted();
}

/** Lists the parts of the window of which the journal or the saved policies tell nothing. */
function listRecordGaps({ since_ms, until_ms, intervals }: PolicyTimeline): ControlGap[] {
  const firstMs = intervals[0]?.from_ms ?? until_ms;
  const unrecorded: ControlGap = {
    kind: 'record',
    message: 'No event was recorded in this span or before it, so nothing shows what was enforced.',
    tenants: null,
    tenant_id: null,
    since: formatMs(since_ms),
    until: formatMs(firstMs),
  };
  const unsaved = intervals
    .filter(({ view }) => view === null)
    .map(
      ({ policy_hash, from_ms, to_ms }): ControlGap => ({
        kind: 'record',
        message: `The policy \`${policy_hash}\` is no longer saved, so that what it enforced is not known.`,
        tenants: null,
        tenant_id: null,
        since: formatMs(from_ms),
        until: formatMs(to_ms),
      }),
    );
  return firstMs > since_ms ? [unrecorded, ...unsaved] : unsaved;
}

function buildSummary(
  fields: WindowCounts,
  approvals: readonly ApprovalHistory[],
  controls: readonly ControlReport[],
): ReportSummary {
  const boundaries = fields.boundary ?? [];
  const actionCounts = sumActions(boundaries);
  const totalEvents = boundaries.reduce((sum, { count }) => sum + count, 0);
  const rules = fields.rule ?? [];
  return {
    total_events: totalEvents,
    boundary_counts: {
      input: 0,
      output: 0,
      action: 0,
      memory: 0,
      ...Object.fromEntries(sumValues(boundaries)),
    },
    action_counts: actionCounts,
    policy_violation_count: actionCounts.block + actionCounts.redact + actionCounts.require_approval,
    top_policies: sumValues(rules).slice(0, TOP_MAX),
    data_access_by_agent: sumValues(fields.agent ?? []).slice(0, TOP_MAX),
    approval_stats: buildApprovalStats(approvals),
    memory_retention_events: rules
      .filter(({ value }) => value === 'service.retention_purge')
      .reduce((sum, { count }) => sum + count, 0),
    anomaly_flags: listAnomalies(totalEvents, actionCounts.block, approvals),
    control_counts: Object.fromEntries(
      CONTROL_STATUSES.map((status) => [status, controls.filter((each) => each.status === status).length]),
    ) as Record<ControlStatus, number>,
  };
}

const APPROVAL_STATUSES = ['pending', 'approved', 'denied', 'expired', 'cancelled', 'consumed'] as const;

function buildApprovalStats(approvals: readonly ApprovalHistory[]): ReportSummary['approval_stats'] {
  const counts = Object.fromEntries(
    APPROVAL_STATUSES.map((status) => [status, approvals.filter((each) => each.status === status).length]),
  );
  const waits = approvals.flatMap(({ requested_ms, decided_ms }) =>
    decided_ms === null ? [] : [decided_ms - requested_ms],
  );
  const meanMs = waits.reduce((sum, each) => sum + each, 0) / waits.length;
  return { counts, average_latency_seconds: waits.length === 0 ? null : Math.round(meanMs) / 1_000 };
}

const BLOCKED_SHARE_MIN = 0.1;
const PENDING_MIN = 10;

function listAnomalies(total: number, blocked: number, approvals: readonly ApprovalHistory[]): string[] {
  const pending = approvals.filter(({ status }) => status === 'pending').length;
  const flags: string[] = [];
  if (total > 0 && blocked / total >= BLOCKED_SHARE_MIN)
    flags.push(`${((100 * blocked) / total).toFixed(1)} % of the events were blocked (10 % or more).`);
  if (pending >= PENDING_MIN) flags.push(`${pending} approval requests are still pending (10 or more).`);
  return flags;
}

function listPolicies({ intervals }: PolicyTimeline, tenants: '*' | readonly string[]): ReportedPolicy[] {
  const hashes = [...new Set(intervals.map(({ policy_hash }) => policy_hash))];
  return hashes.map((policyHash) => {
    const own = intervals.filter((each) => each.policy_hash === policyHash);
    const view = own[0]?.view ?? null;
    const rules = view?.listRules(tenants) ?? [];
    const isInScope = ({ tenant_id }: { readonly tenant_id: string | null }) =>
      tenant_id === null || coversName(tenants, tenant_id);
    return {
      policy_hash: policyHash,
      saved: view !== null,
      rules: rules.length,
      monitored_rules: rules.filter(({ enforcement }) => enforcement === 'monitor').length,
      contracts: view?.policy.contracts.filter(isInScope).length ?? 0,
      identities: view?.policy.identities.filter(isInScope).length ?? 0,
      intervals: own.map(({ from_ms, to_ms }) => ({ since: formatMs(from_ms), until: formatMs(to_ms) })),
    };
  });
}

/** Lists the changes of the policy, newest first. A reader of particular tenants sees those of its tenants. */
async function listChanges(
  { since_ms, until_ms, tenants, agents }: ComplianceRequest,
  { queryAudit }: ComplianceSource,
): Promise<RecordedChange[]> {
  const found: AuditEvent[] = [];
  for (const policyName of CHANGE_KINDS) {
    const { events } = await queryAudit({
      policy_name: policyName,
      since: formatMs(since_ms),
      until: formatMs(until_ms - 1),
      any_of: {
        ...(tenants !== '*' && { tenant_id: tenants }),
        ...(agents !== '*' && { agent_id: agents }),
      },
      newest_first: true,
      limit: CHANGES_MAX,
    });
    found.push(...events);
  }
  return found
    .toSorted((a, b) =>
      a.timestamp === b.timestamp ? (a.event_id < b.event_id ? 1 : -1) : a.timestamp < b.timestamp ? 1 : -1,
    )
    .slice(0, CHANGES_MAX)
    .map(({ event_id, timestamp, policy_name, decision, caller_id, policy_hash }) => ({
      event_id,
      timestamp,
      kind: policy_name,
      done: decision === 'allow',
      caller_id,
      policy_hash,
    }));
}
