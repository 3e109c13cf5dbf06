/** The search: every second round invents an attack, the others change one that came far. */
import { createRandom } from '../../src/core/testing/hostile-texts.ts';
import type { Guard } from './guard.ts';
import { playAttack } from './play.ts';
import {
  type Attack,
  buildPlainAttack,
  findGoal,
  inventAttack,
  listTechniques,
  mutateAttack,
  STEPS,
} from './techniques.ts';

export interface Success {
  readonly round: number;
  readonly attack: Attack;
  /** The techniques that it needs: without one of them, it fails. */
  readonly needs: readonly string[];
}

export interface Campaign {
  readonly rounds: number;
  readonly invented: number;
  readonly invented_successes: number;
  readonly successes: readonly Success[];
  /** Rounds by the rule that ended them. */
  readonly ended: ReadonlyMap<string, number>;
}

/** Attacks that came furthest, which are changed further. */
const KEPT_MAX = 24;

export async function runCampaign(seed: number, rounds: number, guard: Guard): Promise<Campaign> {
  const below = createRandom(seed);
  const kept: { readonly attack: Attack; readonly score: number }[] = [];
  const successes: Success[] = [];
  const ended = new Map<string, number>();
  let inventedSuccesses = 0;
  for (let round = 1; round <= rounds; round++) {
    const isInvented = round % 2 === 1 || kept.length === 0;
    const attack = isInvented ? inventAttack(below) : mutateAttack(kept[below(kept.length)]!.attack, below);
    const { is_reached, score, ended_by } = await playAttack(attack, guard, `round-${seed}-${round}`);
    if (is_reached) {
      const needs = await findNeeds(attack, guard, `round-${seed}-${round}`);
      successes.push({ round, attack, needs });
      if (isInvented) inventedSuccesses += 1;
      // One that succeeded has nothing more to teach.
      continue;
    }
    ended.set(ended_by, (ended.get(ended_by) ?? 0) + 1);
    kept.push({ attack, score });
    kept.sort((one, other) => other.score - one.score);
    if (kept.length > KEPT_MAX) kept.pop();
  }
  return { rounds, invented: Math.ceil(rounds / 2), invented_successes: inventedSuccesses, successes, ended };
}

/** Leaves out one technique after the other as long as the attack succeeds. */
async function findNeeds(attack: Attack, guard: Guard, name: string): Promise<readonly string[]> {
  const plain = buildPlainAttack(findGoal(attack.goal));
  let least = attack;
  for (const step of STEPS) {
    if (least[step] === plain[step]) continue;
    const without = { ...least, [step]: plain[step] };
    const { is_reached } = await playAttack(without, guard, `${name}-${step}`);
    if (is_reached) least = without;
  }
  return listTechniques(least);
}
