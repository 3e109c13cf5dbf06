/** A process that makes a number of calls, then reports how many were accepted and what they cost. */
import type { Racer } from '../../../platform/store/testing/races.ts';
import { buildSpendRequest, buildUsage, openTestCosts } from './test-costs.ts';

export interface SpendRace {
  readonly budgets: readonly object[];
  readonly tries: number;
  /** The reserved output tokens that each call uses. */
  readonly output_tokens: number;
}

export interface SpendRaceResult {
  readonly calls: number;
  readonly micro_usd: number;
}

export default async function raceToSpend({
  store,
  input,
  number,
}: Racer<SpendRace>): Promise<SpendRaceResult> {
  const { costs } = openTestCosts(async () => store, { budgets: input.budgets });
  let calls = 0;
  let microUsd = 0;
  const one = async (at: number): Promise<void> => {
    const answer = await costs.reserve(
      buildSpendRequest({ user_id: `user-${number}`, session_id: `${number}-${at}` }),
    );
    if ('over' in answer) return;
    // One call in five is settled without usage. One in seven is never settled, so its reservation remains.
    if (at % 7 === 6) calls += 1;
    else if (at % 5 === 4) await answer.settle(null);
    else {
      const cost = await answer.settle(buildUsage({ output_tokens: input.output_tokens }));
      calls += 1;
      microUsd += cost.micro_usd;
    }
  };
  for (let at = 0; at < input.tries; at += 4)
    await Promise.all([at, at + 1, at + 2, at + 3].map((each) => one(each)));
  await costs.close();
  return { calls, micro_usd: microUsd };
}
