import { type Command, Option } from 'commander';
import { BOUNDARIES } from '../../../core/types/index.ts';
import type { ReloadReport } from '../../../runtime/policies/reload-report.ts';
import { ask } from '../ask.ts';
import { EXIT } from '../exit.ts';
import { collectValues, configOption, examples, jsonOption } from '../options.ts';
import { explain } from '../policy/explain.ts';
import { lint } from '../policy/lint.ts';
import { replay } from '../policy/replay.ts';
import { test } from '../policy/test.ts';
import { remark, say, sayJson, shown, type Terminal } from '../terminal.ts';

export function policy(command: Command, terminal: Terminal): void {
  const evaluate = command
    .command('evaluate')
    .summary('print the action for tags at a boundary')
    .description(
      'Print the action that the policy takes for tags at a boundary. Ends with 1 for `block` and `require_approval`.',
    )
    .addOption(new Option('-b, --boundary <boundary>', 'where').choices(BOUNDARIES).makeOptionMandatory())
    .option('-t, --data-tag <tag>', 'a tag, as `personal.pii`; may be given several times', collectValues)
    .option('--tenant <id>', 'whose rules apply')
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: EvaluateOptions) => evaluatePolicy(options, terminal));
  examples(evaluate, [
    ['service policy evaluate --boundary output --data-tag personal.pii', 'redact, unless you changed it'],
    ['service policy evaluate --boundary input --data-tag secret --tenant acme', 'one tenant'],
  ]);
  const reload = command
    .command('reload')
    .summary('reload the policy of the running service')
    .description(
      'Reload the policy of the running service. If the new policy is invalid, the previous one stays active and the problems are shown.',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: { config?: string; json?: true }) => reloadPolicy(options, terminal));
  examples(reload, [['service policy reload', '']]);
  test(command, terminal);
  lint(command, terminal);
  explain(command, terminal);
  replay(command, terminal);
  examples(command, [
    ['service policy evaluate --boundary input --data-tag secret.credential', 'block'],
    ['service policy reload', 'after an edit'],
    ['service policy test', 'the cases next to the policies'],
    ['service policy lint', 'rules that never match'],
    ['service policy explain evt_0123456789abcdef01234567', 'why a decision is what it is'],
    ['service policy replay --since 7d --with new.yaml', 'what would change'],
  ]);
}

interface EvaluateOptions {
  readonly boundary: string;
  readonly dataTag?: readonly string[];
  readonly tenant?: string;
  readonly config?: string;
  readonly json?: true;
}

async function evaluatePolicy(options: EvaluateOptions, terminal: Terminal): Promise<void> {
  const reply = (await ask(terminal, options.config, (of) => of.policyEvaluate, {
    boundary: options.boundary,
    data_tags: options.dataTag ?? [],
    ...(options.tenant !== undefined && { tenant_id: options.tenant }),
  })) as { readonly action: string };
  if (options.json) sayJson(terminal, reply);
  else say(terminal, reply.action);
  if (reply.action === 'block' || reply.action === 'require_approval') terminal.exit_code = EXIT.no;
}

type Reloaded = Extract<ReloadReport, { reloaded: true }>;

async function reloadPolicy(options: { config?: string; json?: true }, terminal: Terminal): Promise<void> {
  const report = (await ask(terminal, options.config, (of) => of.policiesReload, {})) as Reloaded;
  if (options.json) {
    sayJson(terminal, report);
    return;
  }
  for (const warning of report.warnings) remark(terminal, `warning: ${shown(warning)}`);
  const what = report.changed ? 'A new policy is active' : 'The policy has not changed';
  say(terminal, `${what}: ${report.policy_hash} (generation ${report.generation}).`);
}
