import { judge } from '../../core/decision/judge.ts';
import type { ConditionEvaluator } from '../../core/policy/conditions/facts.ts';
import { mergeClassified } from '../../core/stream/merge-verdicts.ts';
import type { Crossing, Verdict } from '../../core/types/index.ts';
import { addsNothing } from './resolve-verdict.ts';
import type { EnforcementPorts, Ruling } from './types.ts';

/**
 * Adds the classifiers to the verdict on the texts of a stream, when all of them have arrived. The verdict never becomes
 * milder.
 *
 * @param crossing - the crossing with the content of the whole stream
 */
export async function classifyStream(
  judged: Verdict,
  crossing: Crossing,
  { policy, fingerprintOf = null, classifiers }: EnforcementPorts,
  conditions: ConditionEvaluator | null,
): Promise<Pick<Ruling, 'verdict' | 'classification'>> {
  if (classifiers === undefined || judged.action === 'block' || !classifiers.appliesTo(crossing))
    return { verdict: judged };
  const classification = await classifiers.classify(crossing, judged.findings);
  if (addsNothing(classification)) return { verdict: judged, classification };
  const whole = judge({ ...crossing, classification }, policy, fingerprintOf, conditions);
  return { verdict: mergeClassified(judged, whole), classification };
}
