import type { Command } from 'commander';
import type { Evaluation } from '../../../core/review/evaluations.ts';
import type { Explanation } from '../../../core/review/explain.ts';
import type { RuleTraceEntry } from '../../../core/review/rule-trace.ts';
import { EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import { type Answer, runSelectedOperation } from '../run-operation.ts';

interface ExplainOptions {
  readonly all?: true;
  readonly config?: string;
  readonly json?: true;
}

/** Adds `policy explain`. */
export function definePolicyExplain(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('explain')
    .argument('<event_id>', 'the event, `evt_...`')
    .summary('explain a decision')
    .description(
      'Explain a recorded decision: which rule decided, why, and the smallest change that would reverse it. The policy that decided is evaluated again on the recorded tags and facts, because no text is stored. With --all, every rule that was evaluated, in order. Ends with 1 if the event is not there or cannot be explained.',
    )
    .option('--all', 'every tag and every rule that was evaluated')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((eventId: string, options: ExplainOptions) => runExplain(eventId, options, terminal));
  addExamples(command, [
    ['customshouse policy explain evt_0123456789abcdef01234567', ''],
    ['customshouse policy explain evt_0123456789abcdef01234567 --all', 'every rule'],
  ]);
}

async function runExplain(eventId: string, options: ExplainOptions, terminal: Terminal): Promise<void> {
  const reply = await runSelectedOperation(terminal, options.config, (of) => of.policyExplain, {
    event_id: eventId,
  });
  if (options.json) printJson(terminal, reply);
  else {
    printExplanation(reply, options.all === true, terminal);
    await printAllowCommand(reply, terminal);
  }
  if (reply.explanation === null) terminal.exit_code = EXIT.no;
}

const COLOURS = { allow: 'green', modify: 'yellow', block: 'red' } as const;

function printExplanation(reply: Answer<'policyExplain'>, all: boolean, terminal: Terminal): void {
  const { recorded, explanation } = reply;
  const decision = paintText(terminal, ['bold', COLOURS[recorded.decision]], recorded.decision);
  printLine(terminal, `${decision}  ${escapeControls(recorded.reason)}`);
  printLine(terminal, `rule    ${escapeControls(recorded.rule)} (${recorded.action})`);
  printLine(terminal, `policy  ${reply.policy_hash}`);
  if (reply.allowlist_entries.length > 0)
    printLine(terminal, `allowed ${reply.allowlist_entries.map(escapeControls).join(', ')}`);
  if (explanation === null) {
    printLine(terminal, `\n${escapeControls(reply.reason)}`);
    return;
  }
  if (!explanation.matches_record) {
    const { decision: other, rule } = explanation.replayed;
    printLine(terminal, `note    Asked again, the policy says ${other} by ${escapeControls(rule)}.`);
  }
  const shownEvaluations = all
    ? explanation.evaluations
    : explanation.evaluations.filter(({ decisive }) => decisive);
  for (const evaluation of shownEvaluations) printEvaluation(evaluation, all, terminal);
  const hidden = explanation.evaluations.length - shownEvaluations.length;
  if (hidden > 0)
    printLine(
      terminal,
      `\n${formatCount(hidden, 'other tag or check', 'other tags or checks')} decided less (--all).`,
    );
  printUnevaluatedRules(explanation, all, terminal);
  printCounterfactual(explanation, terminal);
}

/** Prints the command that lets the call through, if only findings decided for which `customshouse allow` has an effect. */
async function printAllowCommand(
  { event_id, recorded, explanation }: Answer<'policyExplain'>,
  terminal: Terminal,
): Promise<void> {
  const decisive = explanation?.evaluations.filter((each) => each.decisive) ?? [];
  if (recorded.decision === 'allow' || decisive.length === 0) return;
  const { isNeverAllowed } = await import('../../../core/decision/allowlist.ts');
  const isAllowable = decisive.every(
    ({ tag, origin }) => origin === 'found' && tag !== null && !isNeverAllowed([tag]),
  );
  if (isAllowable)
    printLine(terminal, `\nAn operator can allow it: ${terminal.name} allow ${event_id} --reason <text>`);
}

function printEvaluation(evaluation: Evaluation, all: boolean, terminal: Terminal): void {
  const mark = evaluation.decisive ? paintText(terminal, 'bold', '*') : ' ';
  const rule = evaluation.rule_trace.length === 0 ? `${evaluation.rule}: ` : '';
  printLine(
    terminal,
    `\n${mark} ${escapeControls(describeSubject(evaluation))}: ${evaluation.action}  ${escapeControls(rule + evaluation.reason)}`,
  );
  for (const entry of evaluation.rule_trace)
    if (all || SHORT.includes(entry.outcome)) printLine(terminal, `    ${traceLine(entry, terminal)}`);
  const others = evaluation.rule_trace.filter(({ outcome }) => !SHORT.includes(outcome)).length;
  if (!all && others > 0)
    printLine(
      terminal,
      `    ${paintText(terminal, 'dim', `${formatCount(others, 'rule')} more did not decide (--all)`)}`,
    );
  if (all && evaluation.rule_trace_truncated > 0)
    printLine(terminal, `    and ${evaluation.rule_trace_truncated} more rules`);
}

function describeSubject({ subject, tag, origin, severity }: Evaluation): string {
  if (subject === 'crossing') return 'the call or message itself';
  if (subject !== 'tag') return subject;
  return `${tag} (${severity === null ? origin : `${origin}, ${severity}`})`;
}

/** The outcomes that the short form shows: matching rules only. */
const SHORT: readonly RuleTraceEntry['outcome'][] = ['matched', 'monitored'];

const WORDS = {
  matched: 'matches',
  monitored: 'monitors',
  not_matched: 'no match',
  not_reached: 'skipped',
};

function traceLine({ rule, tenant_id, outcome, reason }: RuleTraceEntry, terminal: Terminal): string {
  const name = tenant_id === null ? rule : `${tenant_id}/${rule}`;
  const word = WORDS[outcome].padEnd(9);
  return `${outcome === 'matched' ? word : paintText(terminal, 'dim', word)}  ${escapeControls(name)}  ${escapeControls(reason)}`;
}

function printUnevaluatedRules(
  { enforced_result, not_evaluated, not_evaluated_truncated }: Explanation,
  all: boolean,
  terminal: Terminal,
): void {
  if (enforced_result !== null)
    printLine(
      terminal,
      `\nWith all rules in monitor mode enforced: ${enforced_result.decision} by ${escapeControls(enforced_result.rule)}.`,
    );
  const count = not_evaluated.length + not_evaluated_truncated;
  if (count === 0) return;
  printLine(terminal, `\n${count} rules are for other places or tenants${all ? ':' : ' (--all).'}`);
  if (all)
    for (const { rule, reason } of not_evaluated)
      printLine(terminal, `    ${escapeControls(rule)}  ${escapeControls(reason)}`);
}

function printCounterfactual({ counterfactual }: Explanation, terminal: Terminal): void {
  if (counterfactual === null || counterfactual.changes.length === 0) return;
  const { changes, result } = counterfactual;
  printLine(
    terminal,
    `\nThe decision would be ${result.decision}${changes.length > 1 ? ' with all of these changes' : ' with this change'}:`,
  );
  for (const { change } of changes) printLine(terminal, `  - ${escapeControls(change)}`);
}
