import type { Command } from 'commander';
import type { Explanation } from '../../../core/review/explain.ts';
import type { Voice } from '../../../core/review/said.ts';
import type { Trial } from '../../../core/review/trials.ts';
import { ask } from '../ask.ts';
import { EXIT } from '../exit.ts';
import { configOption, examples, jsonOption } from '../options.ts';
import { counted } from '../table.ts';
import { paint, say, sayJson, shown, type Terminal } from '../terminal.ts';

interface ExplainOptions {
  readonly all?: true;
  readonly config?: string;
  readonly json?: true;
}

/** Adds `policy explain`. */
export function explain(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('explain')
    .argument('<event_id>', 'the event, `evt_...`')
    .summary('explain a decision')
    .description(
      'Explain a recorded decision: which rule decided and why, and the smallest change that would reverse it. The policy that decided is evaluated again on the recorded tags and facts, because no text is kept. With --all, every rule that was evaluated, in order. Ends with 1 if the event is not there or cannot be explained.',
    )
    .option('--all', 'every tag and every rule that was evaluated')
    .addOption(configOption())
    .addOption(jsonOption())
    .action((event_id: string, options: ExplainOptions) => run(event_id, options, terminal));
  examples(command, [
    ['service policy explain evt_0123456789abcdef01234567', ''],
    ['service policy explain evt_0123456789abcdef01234567 --all', 'every rule'],
  ]);
}

interface Reply {
  readonly event_id: string;
  readonly timestamp: string;
  readonly policy_hash: string;
  readonly status: string;
  readonly reason: string;
  readonly recorded: { readonly decision: 'allow' | 'modify' | 'block'; readonly action: string } & Record<
    'rule' | 'reason',
    string
  >;
  readonly explanation: Explanation | null;
}

async function run(event_id: string, options: ExplainOptions, terminal: Terminal): Promise<void> {
  const reply = (await ask(terminal, options.config, (of) => of.policyExplain, { event_id })) as Reply;
  if (options.json) sayJson(terminal, reply);
  else tell(reply, options.all === true, terminal);
  if (reply.explanation === null) terminal.exit_code = EXIT.no;
}

const COLOURS = { allow: 'green', modify: 'yellow', block: 'red' } as const;

function tell(reply: Reply, all: boolean, terminal: Terminal): void {
  const { recorded, explanation } = reply;
  const decision = paint(terminal, ['bold', COLOURS[recorded.decision]], recorded.decision);
  say(terminal, `${decision}  ${shown(recorded.reason)}`);
  say(terminal, `rule    ${shown(recorded.rule)} (${recorded.action})`);
  say(terminal, `policy  ${reply.policy_hash}`);
  if (explanation === null) {
    say(terminal, `\n${shown(reply.reason)}`);
    return;
  }
  if (!explanation.agrees) {
    const { decision: other, rule } = explanation.told;
    say(terminal, `note    Asked again, the policy says ${other} by ${shown(rule)}.`);
  }
  const shown_voices = all ? explanation.voices : explanation.voices.filter(({ won }) => won);
  for (const voice of shown_voices) tellVoice(voice, all, terminal);
  const hidden = explanation.voices.length - shown_voices.length;
  if (hidden > 0)
    say(terminal, `\n${counted(hidden, 'other tag or check', 'other tags or checks')} decided less (--all).`);
  tellAside(explanation, all, terminal);
  tellMends(explanation, terminal);
}

function tellVoice(voice: Voice, all: boolean, terminal: Terminal): void {
  const mark = voice.won ? paint(terminal, 'bold', '*') : ' ';
  const rule = voice.trials.length === 0 ? `${voice.rule}: ` : '';
  say(terminal, `\n${mark} ${shown(subject(voice))}: ${voice.action}  ${shown(rule + voice.reason)}`);
  for (const trial of voice.trials)
    if (all || SHORT.includes(trial.outcome)) say(terminal, `    ${trialLine(trial, terminal)}`);
  const others = voice.trials.filter(({ outcome }) => !SHORT.includes(outcome)).length;
  if (!all && others > 0)
    say(terminal, `    ${paint(terminal, 'dim', `${counted(others, 'rule')} more did not decide (--all)`)}`);
  if (all && voice.trials_left_off > 0) say(terminal, `    and ${voice.trials_left_off} more rules`);
}

function subject({ about, tag, origin, severity }: Voice): string {
  if (about === 'crossing') return 'the crossing itself';
  if (about !== 'tag') return about;
  return `${tag} (${severity === null ? origin : `${origin}, ${severity}`})`;
}

/** What the short form shows of the rules: those that matched. */
const SHORT: readonly Trial['outcome'][] = ['matched', 'monitored'];

const WORDS = {
  matched: 'matches',
  monitored: 'monitors',
  not_matched: 'no match',
  not_reached: 'skipped',
};

function trialLine({ rule, tenant_id, outcome, why }: Trial, terminal: Terminal): string {
  const name = tenant_id === null ? rule : `${tenant_id}/${rule}`;
  const word = WORDS[outcome].padEnd(9);
  return `${outcome === 'matched' ? word : paint(terminal, 'dim', word)}  ${shown(name)}  ${shown(why)}`;
}

function tellAside(
  { would_be, not_asked, not_asked_left_off }: Explanation,
  all: boolean,
  terminal: Terminal,
): void {
  if (would_be !== null)
    say(
      terminal,
      `\nWith all that is in monitor mode in force: ${would_be.decision} by ${shown(would_be.rule)}.`,
    );
  const count = not_asked.length + not_asked_left_off;
  if (count === 0) return;
  say(terminal, `\n${count} rules are for other places or tenants${all ? ':' : ' (--all).'}`);
  if (all) for (const { rule, why } of not_asked) say(terminal, `    ${shown(rule)}  ${shown(why)}`);
}

function tellMends({ mends }: Explanation, terminal: Terminal): void {
  if (mends === null || mends.changes.length === 0) return;
  const { changes, comes_to } = mends;
  say(
    terminal,
    `\nIt would have come to ${comes_to.decision}${changes.length > 1 ? ', all of these together' : ''}:`,
  );
  for (const { change } of changes) say(terminal, `  - ${shown(change)}`);
}
