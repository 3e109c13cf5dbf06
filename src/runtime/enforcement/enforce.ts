import { findTaskRestrictions } from '../../core/decision/capability.ts';
import { explainDenial } from '../../core/decision/denial-help.ts';
import { findContract } from '../../core/decision/find-contract.ts';
import { usesValues } from '../../core/flow/uses-values.ts';
import { type ConditionEvaluator, hasConditions } from '../../core/policy/conditions/facts.ts';
import type { Crossing, Policy, Verdict } from '../../core/types/index.ts';
import type { Caller } from '../access/types.ts';
import { markSelfTest } from '../audit/self-test.ts';
import { formatTime } from '../audit/service-event.ts';
import type { AuditEvent } from '../audit/types.ts';
import type { Endpoint } from '../observability/endpoint.ts';
import { loadConditions } from '../policies/conditions.ts';
import { buildAuditEvent } from './audit-event.ts';
import type { ActorContext } from './crossings.ts';
import type { LoggedTexts } from './logged-texts.ts';
import { openVerdictResolver } from './resolve-verdict.ts';
import {
  decideInSession,
  explainSessionFault,
  findSessionNeeds,
  type SessionNeeds,
} from './sessions/index.ts';
import { recordOpening } from './sessions/values.ts';
import { type CheckedTask, getTaskUse, refuseTask, type TaskUse } from './task.ts';
import type { EnforcementExtras, EnforcementPorts, Ruling, UnrecordedRuling } from './types.ts';

const NO_TEXTS: LoggedTexts = { inputs: false, outputs: false };

/** A ruling whose event is not written yet: no part of it may leave the process before `recorded` resolves. */
export interface PendingRuling extends UnrecordedRuling {
  /** Resolves when the event is durable; it is a block if the event cannot be written. Never rejects. */
  readonly recorded: Promise<Ruling>;
}

/**
 * Decides on a crossing and records the decision. Resolves when its event is durable, never before. Never rejects:
 * a decision that cannot be recorded is a block, and so is one that depends on a session that cannot be read or saved.
 */
export async function enforce(
  given: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: EnforcementPorts,
  approvalRequestId: string | null = null,
  extras: EnforcementExtras = {},
): Promise<Ruling> {
  const { recorded } = await decideCrossing(given, caller, endpoint, ports, approvalRequestId, extras);
  return recorded;
}

/** Decides as `enforce` does, for callers that have work to do while the event is written. Never rejects. */
export async function decideCrossing(
  given: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: EnforcementPorts,
  approvalRequestId: string | null = null,
  { reuse_approval = false, ...extras }: EnforcementExtras = {},
): Promise<PendingRuling> {
  const context = openDecision(given, caller, endpoint, ports, extras);
  const { policy } = ports;

  // The lease of the node and the kill switch come first: nothing is judged without the one or against the other.
  const refused = refuseUnjudged(given, ports);
  if (refused !== null) return { ...refused, recorded: recordRuling(refused, 0, context) };

  // Check the task that the call names. Most calls name none, and do not wait for it.
  const use = getTaskUse(given);
  const isFenced = hasLostLease(ports);
  const task = use === null || isFenced ? null : await openTask(use, ports);
  const named = task === null ? given : { ...given, task: task.shown };

  // Load conditions.
  const conditions = hasConditions(policy) ? await loadConditionsOrNull(policy) : null;

  // Look up what the session and the rules both need.
  const contract = findContract(named, policy);
  const needs = findSessionNeeds(named, policy, contract);

  // Judge, call the classifiers, and resolve the approval.
  const approvalContext =
    extras.self_test || isFenced ? null : { caller, approval_request_id: approvalRequestId, reuse_approval };
  const { resolve, scan_ms } = openVerdictResolver(ports, conditions, contract, approvalContext);

  // Load the session; it brackets the verdict, because the verdict changes it and a race for the last call repeats it.
  const resolved = await (isFenced && (needs !== null || use !== null)
    ? blockFenced(named, ports)
    : needs === null
      ? resolve(named)
      : decideWithSession(named, needs, resolve, ports, context));

  // Count the call for its task.
  const decided = task === null || extras.self_test ? resolved : await countForTask(resolved, task, ports);

  // Record.
  return { ...decided, recorded: recordRuling(decided, scan_ms(), context) };
}

/** Checks a task. Never rejects. */
async function openTask(use: TaskUse, { checkTask = refuseTask }: EnforcementPorts): Promise<CheckedTask> {
  try {
    return await checkTask(use);
  } catch {
    return REFUSED_TASK;
  }
}

const TASK_FAULT = { rule: 'fault.internal', reason: 'The task could not be checked, so it blocks.' };
const REFUSED_TASK: CheckedTask = {
  shown: { task_id: null, refusal: TASK_FAULT },
  count: async () => TASK_FAULT,
};

/** Counts an allowed call for its task. Blocks it if the task ended meanwhile, or if another call used the rest. */
async function countForTask(
  decided: UnrecordedRuling,
  task: CheckedTask,
  { policy, onSessionFault }: EnforcementPorts,
): Promise<UnrecordedRuling> {
  if (decided.verdict.decision === 'block') return decided;
  const refusal = await task.count().catch((fault: unknown) => {
    onSessionFault?.(fault);
    return UNCOUNTED;
  });
  if (refusal === null) return decided;
  const crossing = { ...decided.crossing, task: { ...task.shown, refusal } };
  const violations = findTaskRestrictions(crossing).flatMap(({ violation }) => violation ?? []);
  const block = buildBlock({ ...refusal, fault: refusal === UNCOUNTED }, policy);
  const { grant_id } = decided;
  return {
    ...{ crossing, verdict: { ...block, violations }, approval: null },
    ...(grant_id !== undefined && { grant_id }),
  };
}

const UNCOUNTED = {
  rule: 'fault.store',
  reason: 'The call could not be counted for its task, so it blocks.',
};

/** Returns the block if this node may not decide or if the kill switch stops an agent that the crossing names, else `null`. */
export function refuseUnjudged(crossing: Crossing, ports: EnforcementPorts): UnrecordedRuling | null {
  const { fence, findAgentBlock, policy } = ports;
  if (fence?.findFenced()?.is_stateless_allowed === false) return blockFenced(crossing, ports);
  const found = findAgentBlock?.(crossing) ?? null;
  return found === null ? null : { crossing, verdict: buildBlock(found, policy), approval: null };
}

/** Returns whether this node has lost its lease, so that it must not rely on the state that the nodes share. */
export function hasLostLease({ fence }: Pick<EnforcementPorts, 'fence'>): boolean {
  return (fence?.findFenced() ?? null) !== null;
}

/** Returns the block of a crossing that a node without a lease cannot decide. */
export function blockFenced(
  crossing: Crossing,
  { policy }: Pick<EnforcementPorts, 'policy'>,
): UnrecordedRuling {
  return { crossing, verdict: buildBlock(FENCED, policy), approval: null };
}

const FENCED: BlockReason = {
  rule: 'fault.cluster',
  reason:
    'This node of the service cannot reach the database of its cluster, so it blocks. Another node can decide.',
  fault: true,
};

/** Loads the conditions of a policy; `null` if that fails, and then conditions restrict and never allow. */
export function loadConditionsOrNull(policy: Policy): Promise<ConditionEvaluator | null> {
  return loadConditions(policy).catch(() => null);
}

/** The ports that recording needs: of the policy its hash, its rules and the style of masks. */
export type RecordingPorts = Omit<EnforcementPorts, 'policy'> & {
  readonly policy: Pick<Policy, 'hash' | 'redaction' | 'rules'>;
};

/** The context of one decision. */
export interface DecisionContext {
  readonly event_id: string;
  readonly caller: Caller;
  readonly endpoint: Endpoint;
  readonly ports: RecordingPorts;
  readonly extras: EnforcementExtras;
  /** The start time by `performance.now()`. */
  readonly began_ms: number;
}

/** Opens the context of a decision and gives it an event id. */
export function openDecision(
  { now_ms }: Pick<Crossing, 'now_ms'>,
  caller: Caller,
  endpoint: Endpoint,
  ports: RecordingPorts,
  extras: EnforcementExtras = {},
): DecisionContext {
  const eventId = ports.new_event_id(now_ms);
  return { event_id: eventId, caller, endpoint, ports, extras, began_ms: performance.now() };
}

/**
 * The reason to block a crossing that was not judged: a stable rule name such as `memory.undeclared`, and one fixed
 * sentence. Without `coverage`, all of the content counts as scanned.
 */
export type BlockReason = Pick<Verdict, 'rule' | 'reason'> & Partial<Pick<Verdict, 'fault' | 'coverage'>>;

/**
 * Blocks without judging and records the block. The caller leaves the content out of the crossing. Never
 * rejects.
 */
export function refuseCrossing(
  reason: BlockReason,
  crossing: Crossing,
  caller: Caller,
  endpoint: Endpoint,
  ports: RecordingPorts,
  extras: EnforcementExtras = {},
): Promise<Ruling> {
  const refused = { crossing, verdict: buildBlock(reason, ports.policy), approval: null };
  return recordRuling(refused, 0, openDecision(crossing, caller, endpoint, ports, extras));
}

/** Records a decision and counts it. `scan_ms` is the time of `judge`. Never rejects. */
export async function recordRuling(
  decided: UnrecordedRuling,
  scanMs: number,
  context: DecisionContext,
): Promise<Ruling> {
  const { event_id, endpoint, ports, began_ms } = context;
  const crossing = replaceToolName(decided.crossing, context.extras);
  let shown: UnrecordedRuling = { ...decided, crossing };
  let actionShown: string | undefined;
  // The one catch around recording: a decision that is not recorded is not given.
  try {
    const event = buildEvent(shown, context);
    await ports.record(event);
    if (ports.logged_texts?.exports_actions === true) actionShown = event.action_shown;
  } catch (fault) {
    ports.onRecordFault?.(fault);
    shown = { crossing, verdict: buildUnrecordableVerdict(decided.verdict), approval: null };
  }
  const help = explainDenial(shown.verdict, ports.policy.rules, event_id);
  const ruling: Ruling = { ...shown, event_id, help, scan_duration_ms: Math.round(scanMs) };
  if (context.extras.self_test) return ruling;
  ports.onRuling?.(ruling, endpoint, scanMs / 1_000);
  ports.telemetry?.recordCheck({ ...ruling, action_shown: actionShown, component: endpoint, began_ms });
  return ruling;
}

/** Returns the crossing with the tool name that may be recorded. */
function replaceToolName(crossing: Crossing, { recorded_tool }: EnforcementExtras): Crossing {
  const { tool, destination_agent_id } = crossing;
  if (recorded_tool === undefined || recorded_tool === tool) return crossing;
  const isTool = destination_agent_id === tool;
  return {
    ...crossing,
    tool: recorded_tool,
    destination_agent_id: isTool ? recorded_tool : destination_agent_id,
  };
}

/** The one catch around sessions: if a session cannot be read or saved, the crossing is blocked. */
export async function decideWithSession(
  crossing: Crossing,
  needs: SessionNeeds,
  decide: (crossing: Crossing) => Promise<UnrecordedRuling>,
  { policy, sessions, onSessionFault }: EnforcementPorts,
  { event_id, caller, extras }: DecisionContext,
): Promise<UnrecordedRuling> {
  try {
    if (sessions === undefined) throw new Error('No session store is configured.');
    const { requires_opened_session = false } = extras;
    const about = { event_id, caller_id: caller.id, requires_opened_session };
    return await decideInSession(crossing, needs, sessions, about, decide);
  } catch (fault) {
    const reason = explainSessionFault(fault);
    if (reason.fault) onSessionFault?.(fault);
    return { crossing, verdict: buildBlock(reason, policy), approval: null };
  }
}

/**
 * Records that a coding agent opened a session, if the policy depends on where values come from. Never rejects: without
 * the record, the session's prompts are no person's.
 */
export async function recordSessionOpening(
  actor: ActorContext,
  caller: Caller,
  { policy, sessions, onSessionFault }: EnforcementPorts,
): Promise<void> {
  if (sessions === undefined || !usesValues(policy, actor.tenant_id)) return;
  try {
    await recordOpening(actor, caller.id, sessions);
  } catch (fault) {
    onSessionFault?.(fault);
  }
}

function buildEvent(
  { crossing, verdict, approval, approved_rules, grant_id, classification }: UnrecordedRuling,
  { event_id, caller, endpoint, ports, extras }: DecisionContext,
): AuditEvent {
  const { policy } = ports;
  // A text that an operator tries is in no log, and nothing of it can be allowlisted.
  const { logged_texts = NO_TEXTS, sealFingerprint = null } = extras.self_test ? {} : ports;
  const granted = approved_rules === undefined ? crossing : { ...crossing, approved_rules };
  const marked = markSelfTest(extras.buildMetadata?.(verdict), extras.self_test === true);
  const about = markFenced(marked, ports);
  const failedClassifiers = classification?.failed ?? [];
  const decided = {
    ...{ event_id, crossing: granted, verdict, approval, caller, endpoint, about },
    failed_classifiers: failedClassifiers,
    ...(grant_id !== undefined && { grant_id }),
  };
  const style = { logged: logged_texts, typed_redaction: policy.redaction.typed };
  const event = buildAuditEvent({ ...decided, ...style, sealFingerprint });
  const revision = ports.fence?.policyRevision() ?? null;
  return revision === null ? event : { ...event, policy_revision: revision };
}

/** Marks a decision without a lease: since when this node had no news of the others. */
function markFenced(
  metadata: AuditEvent['metadata'] | undefined,
  { fence }: Pick<EnforcementPorts, 'fence'>,
): AuditEvent['metadata'] | undefined {
  const fenced = fence?.findFenced() ?? null;
  if (fenced === null) return metadata;
  return { ...metadata, fenced: true, fenced_synced_at: formatTime(fenced.synced_ms) };
}

/** Returns a block without findings: without a record, nothing about the text leaves the process. */
function buildUnrecordableVerdict({ coverage, policy_hash }: Verdict): Verdict {
  const reason = 'The decision could not be written to the audit journal, so it is not given.';
  return buildBlock({ rule: 'fault.audit', reason, coverage, fault: true }, { hash: policy_hash });
}

/** Returns a block that no finding caused. */
function buildBlock(
  { rule, reason, fault = false, coverage = { status: 'full' } }: BlockReason,
  { hash: policyHash }: Pick<Policy, 'hash'>,
): Verdict {
  return { ...BLOCK, rule, reason, fault, coverage, policy_hash: policyHash };
}

/** The common fields of every block that no finding caused. */
const BLOCK = {
  decision: 'block',
  action: 'block',
  findings: [],
  allowlisted_findings: [],
  violations: [],
  data_tags: [],
  content: null,
  stripped_fields: [],
  removed: [],
  fallback_used: false,
  monitored: [],
  approval: null,
  enforced_result: null,
  taint_change: null,
  values_change: null,
} as const;
