/** A racer that makes calls until it has tried so many, and gives how many were let go on and what they came to. */
import type { Racer } from '../../../platform/store/testing/races.ts';
import { buildSpendRequest, buildUsage, openTestCosts } from './test-costs.ts';

export interface SpendRace {
  readonly budgets: readonly object[];
  readonly tries: number;
  /** How many of the tokens out that were put aside are used. */
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
  let micro_usd = 0;
  const one = async (at: number): Promise<void> => {
    const answer = await costs.reserve(
      buildSpendRequest({ user_id: `user-${number}`, session_id: `${number}-${at}` }),
    );
    if ('over' in answer) return;
    // One in five is given up, and one in seven never settled: what was put aside for it stays so.
    if (at % 7 === 6) calls += 1;
    else if (at % 5 === 4) await answer.settle(null);
    else {
      const cost = await answer.settle(buildUsage({ output_tokens: input.output_tokens }));
      calls += 1;
      micro_usd += cost.micro_usd;
    }
  };
  for (let at = 0; at < input.tries; at += 4)
    await Promise.all([at, at + 1, at + 2, at + 3].map((each) => one(each)));
  await costs.close();
  return { calls, micro_usd };
}
