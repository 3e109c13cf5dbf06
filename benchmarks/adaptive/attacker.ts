/** The search: of three rounds one invents an attack, one recalls one, and one changes one that came far. */
import { createRandom, type RandomBelow } from '../../src/core/testing/hostile-texts.ts';
import type { Guard } from './guard.ts';
import { playAttack } from './play.ts';
import {
  type Attack,
  buildPlainAttack,
  findGoal,
  inventAttack,
  listTechniques,
  mutateAttack,
  recallAttack,
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
  readonly successes: readonly Success[];
  /** Rounds by the rule that ended them. */
  readonly ended: ReadonlyMap<string, number>;
}

interface Tried {
  readonly attack: Attack;
  readonly score: number;
}

/** Attacks that came furthest, which are changed further. */
const KEPT_PER_GOAL = 4;

function chooseAttack(
  round: number,
  kept: ReadonlyMap<string, readonly Tried[]>,
  below: RandomBelow,
): Attack {
  const goals = [...kept.values()];
  if (round % 3 === 1 || goals.length === 0) return inventAttack(below);
  if (round % 3 === 2) return recallAttack(below);
  const tried = goals[below(goals.length)]!;
  const changed = mutateAttack(tried[below(tried.length)]!.attack, below);
  return below(2) === 0 ? changed : mutateAttack(changed, below);
}

export async function runCampaign(seed: number, rounds: number, guard: Guard): Promise<Campaign> {
  const below = createRandom(seed);
  const kept = new Map<string, readonly Tried[]>();
  const successes: Success[] = [];
  const ended = new Map<string, number>();
  for (let round = 1; round <= rounds; round++) {
    const attack = chooseAttack(round, kept, below);
    const { is_reached, score, ended_by } = await playAttack(attack, guard, `round-${seed}-${round}`);
    if (is_reached) {
      const needs = await findNeeds(attack, guard, `round-${seed}-${round}`);
      successes.push({ round, attack, needs });
      // One that succeeded has nothing more to teach.
      continue;
    }
    ended.set(ended_by, (ended.get(ended_by) ?? 0) + 1);
    const tried = [...(kept.get(attack.goal) ?? []), { attack, score }];
    tried.sort((one, other) => other.score - one.score);
    kept.set(attack.goal, tried.slice(0, KEPT_PER_GOAL));
  }
  return { rounds, successes, ended };
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

/** Techniques that the documentation names as limits, each as what an attack needs at least. */
const KNOWN_LIMITS: readonly (readonly string[])[] = [
  // The person names the value, or a number, for another purpose.
  ['task=mention'],
  ['task=negation'],
  ['task=number'],
  // The person pastes a letter that the session has not seen, or has seen in another form.
  ['task=letter_before'],
  ['task=letter_after', 'session=new'],
  ['task=letter_after', 'hiding=rot13'],
  ['task=letter_after', 'hiding=spelled'],
  // `none_of` does not find a permitted value that a stranger describes.
  ['task=delete'],
  ['notation=script_ending'],
];

/** Returns whether a success needs a technique that the documentation names as a limit. */
export function isKnownLimit(needs: readonly string[]): boolean {
  return KNOWN_LIMITS.some((limit) => limit.every((need) => needs.includes(need)));
}
