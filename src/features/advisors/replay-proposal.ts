import type { ChangedDecision } from '../../core/review/replay.ts';
import type { Policy } from '../../core/types/index.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { replayApart } from '../../runtime/policies/run-apart.ts';

/** The recorded decisions of a period under a proposed policy. */
export interface ProposalReplay {
  readonly since: string;
  readonly same: number;
  readonly stricter: number;
  readonly less_strict: number;
  /** Decisions that cannot be replayed. */
  readonly unknown: number;
  readonly stricter_examples: readonly DecisionChange[];
  readonly less_strict_examples: readonly DecisionChange[];
}

/** One decision that would change. */
export interface DecisionChange {
  readonly event_id: string;
  readonly from: string;
  readonly to: string;
  readonly from_rule: string;
  readonly to_rule: string;
}

const EXAMPLES_MAX = 5;

/** Replays the decisions of a period for each tenant of the caller, one after the other, in other processes. */
export async function replayProposal(
  next: Policy,
  since: string,
  tenants: '*' | readonly string[],
  runtime: Pick<Runtime, 'limits' | 'policy' | 'now_ms'>,
  signal: AbortSignal,
): Promise<ProposalReplay> {
  const filters = tenants === '*' ? [{ since }] : tenants.map((tenantId) => ({ since, tenant_id: tenantId }));
  const sum = { same: 0, stricter: 0, less_strict: 0, unknown: 0 };
  const examples = { stricter: [] as ChangedDecision[], less_strict: [] as ChangedDecision[] };
  for (const filter of filters) {
    const { state_dir } = runtime.limits;
    const request = { state_dir, next, active: runtime.policy(), filter, now_ms: runtime.now_ms() };
    const { tally } = await replayApart(request, signal);
    for (const name of ['same', 'stricter', 'less_strict', 'unknown'] as const)
      sum[name] += tally.total[name];
    examples.stricter.push(...tally.stricter);
    examples.less_strict.push(...tally.less_strict);
  }
  return {
    since,
    ...sum,
    stricter_examples: examples.stricter.slice(0, EXAMPLES_MAX).map(pickChange),
    less_strict_examples: examples.less_strict.slice(0, EXAMPLES_MAX).map(pickChange),
  };
}

function pickChange({ event_id, from, to, from_rule, to_rule }: ChangedDecision): DecisionChange {
  return { event_id, from, to, from_rule, to_rule };
}
