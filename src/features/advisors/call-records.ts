import { type Context, Refusal } from '../../operations/operation.ts';
import { createEventId } from '../../runtime/audit/event-id.ts';
import { AuditFailure } from '../../runtime/audit/failure.ts';
import { LIMIT_MAX } from '../../runtime/audit/filter.ts';
import { buildServiceEvent } from '../../runtime/audit/service-event.ts';
import type { AdvisorOutcome } from './run-advisor.ts';
import type { AdvisoryLayer } from './types.ts';

const PHASE = 'advisor_call';
const DAY = '24h';
/** The most pages of events that are read to add tokens up. */
const PAGES_MAX = 100;

/** Calls of a service without an audit log, which has no other record of them. Times in milliseconds, with tokens. */
const unrecorded: { readonly at_ms: number; readonly tokens: number }[] = [];

/**
 * Checks the budget against the recorded calls of all processes.
 * @throws Refusal `budget_exceeded`
 */
export async function requireBudget(
  { budget }: AdvisoryLayer['settings'],
  { runtime }: Context,
): Promise<void> {
  const { calls, tokens } = await countCalls(runtime);
  if (calls >= budget.calls_per_day)
    throw new Refusal(
      'budget_exceeded',
      `The advisors were called ${calls} times within 24 hours, which is the limit (\`intelligence.budget.calls_per_day\`).`,
    );
  if (tokens >= budget.tokens_per_day)
    throw new Refusal(
      'budget_exceeded',
      `The advisors used ${tokens} tokens within 24 hours; the limit is ${budget.tokens_per_day} (\`intelligence.budget.tokens_per_day\`).`,
    );
}

interface CallTotals {
  readonly calls: number;
  readonly tokens: number;
}

async function countCalls(runtime: Context['runtime']): Promise<CallTotals> {
  let calls = 0;
  let tokens = 0;
  let cursor = '';
  try {
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const filter = { policy_name: `service.${PHASE}`, last: DAY, limit: LIMIT_MAX, cursor };
      const { events, next_cursor } = await runtime.queryAudit(filter);
      calls += events.length;
      for (const { metadata } of events)
        tokens += readTokens(metadata.input_tokens) + readTokens(metadata.output_tokens);
      if (next_cursor === null || next_cursor === undefined) break;
      cursor = next_cursor;
    }
  } catch (error) {
    if (!(error instanceof AuditFailure && (error.code === 'audit_disabled' || error.code === 'index_off')))
      throw error;
    const sinceMs = runtime.now_ms() - 86_400_000;
    const recent = unrecorded.filter(({ at_ms }) => at_ms > sinceMs);
    return { calls: recent.length, tokens: recent.reduce((sum, each) => sum + each.tokens, 0) };
  }
  return { calls, tokens };
}

function readTokens(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}

/** The subject of a call, for its audit event. */
export interface CallSubject {
  readonly event_id?: string;
  readonly framework?: string;
  readonly since?: string;
}

/** Writes the audit event of a call: who asked which advisor, and how it ended. No text of prompt or answer. */
export async function recordCall(
  { result, usage, failure }: AdvisorOutcome,
  subject: CallSubject,
  durationMs: number,
  { runtime, caller }: Context,
): Promise<void> {
  const nowMs = runtime.now_ms();
  const tokens = usage.input_tokens + usage.output_tokens;
  unrecorded.push({ at_ms: nowMs, tokens });
  if (unrecorded.length > UNRECORDED_MAX) unrecorded.shift();
  await runtime.note(
    buildServiceEvent({
      event_id: createEventId(nowMs),
      now_ms: nowMs,
      phase: PHASE,
      done: true,
      reason: `The ${result.advisor_name} advisor was called.`,
      caller_id: caller.id,
      policy_hash: runtime.policy().hash,
      metadata: {
        advisor: result.advisor_name,
        artifacts: Object.keys(result.artifacts).length,
        duration_ms: Math.round(durationMs),
        ...(failure !== null && { failure }),
        ...(subject.event_id !== undefined && { about_event_id: subject.event_id }),
        ...(subject.framework !== undefined && { framework: subject.framework }),
        ...(subject.since !== undefined && { since: subject.since }),
        input_tokens: usage.input_tokens,
        model: runtime.advisors.settings.backend?.model ?? 'none',
        output_tokens: usage.output_tokens,
        status: result.status,
      },
    }),
  );
}

const UNRECORDED_MAX = 100_000;
