import type { Conditions } from '../policy/conditions/facts.ts';
import type { Monitored, Policy, WouldBe } from '../types/index.ts';
import { type Mends, mendsOf } from './mend.ts';
import { type NotRecalled, type RecordedEvent, recollect } from './recorded.ts';
import { retell, type Told, toldOf } from './retell.ts';
import { type Voice, voicesOf } from './said.ts';
import { type NotAsked, notAsked } from './trials.ts';

/** Why a decision is what it is. */
export interface Explanation {
  readonly told: Told;
  /** Whether that is what the record says. */
  readonly agrees: boolean;
  readonly voices: readonly Voice[];
  readonly monitored: readonly Monitored[];
  readonly would_be: WouldBe | null;
  readonly not_asked: readonly NotAsked[];
  readonly not_asked_left_off: number;
  /** The least that would have to be otherwise; `null` where it was allowed as it stood. */
  readonly mends: Mends | null;
}

/** Explains a recorded decision by the policy that made it: all rules are asked again, by the code that judged. */
export function explain(
  event: RecordedEvent,
  decided_ms: number,
  policy: Policy,
  conditions: Conditions | null = null,
): Explanation | NotRecalled {
  const recalled = recollect(event, decided_ms, conditions);
  if (typeof recalled === 'string') return recalled;
  const heard = retell(recalled, policy);
  const told = toldOf(heard);
  const { rules, left_off } = notAsked(recalled, policy);
  const voices = voicesOf(recalled, policy, heard);
  return {
    told,
    agrees:
      told.decision === event.decision && told.action === event.action && told.rule === event.policy_name,
    voices,
    monitored: heard.monitored,
    would_be: heard.would_be,
    not_asked: rules,
    not_asked_left_off: left_off,
    mends: told.decision === 'allow' ? null : mendsOf(recalled, policy),
  };
}
