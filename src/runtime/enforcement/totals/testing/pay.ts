/** Payments under a rule that sums them, and a racer that makes some. */

import { judge } from '../../../../core/decision/judge.ts';
import { celEvaluator } from '../../../../core/policy/conditions/cel.ts';
import { buildTestPolicy } from '../../../../core/testing/policies.ts';
import type { Crossing, Json, Policy } from '../../../../core/types/index.ts';
import type { Store } from '../../../../platform/store/index.ts';
import type { Racer } from '../../../../platform/store/testing/races.ts';
import { buildExampleCrossing } from '../../../../server/testing/example-crossing.ts';
import { decideInSession, explainSessionFault, findSessionNeeds } from '../../sessions/index.ts';
import { LIMITS } from '../../sessions/testing/limits.ts';

/** Returns a policy that blocks payments for which a condition holds. */
export function buildCap(when: string, more: object = {}): Policy {
  const condition = { tools: ['pay'], when, ...more };
  return buildTestPolicy({ rules: [{ name: 'cap', boundary: 'action', action: 'block', condition }] });
}

/** Decides on a payment and returns the deciding rule's name. */
export async function pay(
  store: Store,
  policy: Policy,
  value: Json,
  parts: Partial<Crossing> = {},
): Promise<string> {
  const content = { kind: 'json', value } as const;
  const call = { boundary: 'action', phase: 'request', tool: 'pay', session_id: 's' } as const;
  const crossing = { ...buildExampleCrossing('', call), content, ...parts };
  const needs = findSessionNeeds(crossing, policy, null);
  if (needs === null) throw new Error('The policy reads no totals.');
  const ports = { store: async () => store, limits: LIMITS, timeOf: (nowMs: number) => nowMs };
  const about = { event_id: 'evt_1', caller_id: 'test', requires_opened_session: false };
  try {
    const { verdict } = await decideInSession(crossing, needs, ports, about, async (given) => ({
      crossing: given,
      verdict: judge(given, policy, null, celEvaluator, null),
    }));
    return verdict.rule;
  } catch (fault) {
    return explainSessionFault(fault).rule;
  }
}

/** Pays 0.1 several times, and returns how often that was allowed and how often others were in the way. */
export default async function payOften({ store, input }: Racer<{ readonly tries: number }>) {
  const policy = buildCap('sum("pay.amount", "1h", "agent") > 1.5');
  const made = { allowed: 0, busy: 0 };
  for (let at = 0; at < input.tries; at += 1) {
    const rule = await pay(store, policy, { amount: 0.1 });
    if (rule === 'default.allow') made.allowed += 1;
    if (rule === 'limit.totals') made.busy += 1;
  }
  return made;
}
