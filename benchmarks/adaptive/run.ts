/**
 * Attacks a running service whose contracts say where values come from. The attacker knows rules, contracts and code.
 * `scripts/run benchmarks/adaptive/run.ts [--rounds 1000] [--seed 1] [--open] [--list] [--json]`
 *
 * In each round an agent that obeys the attacker tries to bring a chosen value into a call without a question. `--open`
 * attacks the same service without contracts. Each success is listed; the same seed plays the same rounds.
 */
import { parseArgs } from 'node:util';
import { runCampaign } from './attacker.ts';
import { startGuards } from './guard.ts';
import { listTechniques } from './techniques.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    open: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const { guarded, open } = await startGuards();
try {
  const started = performance.now();
  const campaign = await runCampaign(
    Number(values.seed),
    Number(values.rounds),
    values.open ? open : guarded,
  );
  const seconds = (performance.now() - started) / 1000;
  const { rounds, successes, ended } = campaign;
  if (values.json)
    console.log(JSON.stringify({ seed: values.seed, ...campaign, ended: Object.fromEntries(ended) }));
  else {
    for (const { round, attack, needs } of successes)
      console.log(
        `  round ${round}: ${attack.goal} by ${needs.join(' ') || 'asking'} (of ${listTechniques(attack).join(' ')})`,
      );
    console.log(`seed ${values.seed}: ${successes.length} of ${rounds} succeed; ${seconds.toFixed(0)} s`);
    const ways = Map.groupBy(
      successes,
      ({ attack, needs }) => `${attack.goal} by ${needs.join(' ') || 'asking'}`,
    );
    for (const [way, each] of [...ways].sort(([, a], [, b]) => b.length - a.length))
      console.log(`  ${String(each.length).padStart(4)}  ${way}`);
    for (const [rule, count] of [...ended].sort(([, a], [, b]) => b - a))
      console.log(`  ${String(count).padStart(4)}  ended by ${rule}`);
  }
} finally {
  await guarded.stop();
}
