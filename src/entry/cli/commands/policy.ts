import { type Command, Option } from 'commander';
import { BOUNDARIES } from '../../../core/types/index.ts';
import { EXIT } from '../../../operations/cli-kit/command-failure.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  collectValues,
} from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import { definePolicyDraft } from '../policy/draft.ts';
import { definePolicyExplain } from '../policy/explain.ts';
import { definePolicyLint } from '../policy/lint.ts';
import { definePolicyReplay } from '../policy/replay.ts';
import { definePolicyTest } from '../policy/test.ts';
import { runSelectedOperation } from '../run-operation.ts';

export function definePolicy(command: Command, terminal: Terminal): void {
  const evaluate = command
    .command('evaluate')
    .summary('print the action for tags at a boundary')
    .description(
      'Print the action that the policy takes for tags at a boundary. Ends with 1 for `block` and `require_approval`.',
    )
    .addOption(new Option('-b, --boundary <boundary>', 'where').choices(BOUNDARIES).makeOptionMandatory())
    .option('-t, --data-tag <tag>', 'a tag, as `personal.pii`; may be given several times', collectValues)
    .option('--tenant <id>', 'tenant whose rules apply')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: EvaluateOptions) => evaluatePolicy(options, terminal));
  addExamples(evaluate, [
    [
      'customshouse policy evaluate --boundary output --data-tag personal.pii',
      'redact, unless you changed it',
    ],
    ['customshouse policy evaluate --boundary input --data-tag secret --tenant acme', 'one tenant'],
  ]);
  const reload = command
    .command('reload')
    .summary('reload the policy of the running service')
    .description(
      'Reload the policy of the running service. If the new policy is invalid, the previous one stays active and the problems are shown.',
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: { config?: string; json?: true }) => reloadPolicy(options, terminal));
  addExamples(reload, [['customshouse policy reload', '']]);
  definePolicyDraft(command, terminal);
  definePolicyTest(command, terminal);
  definePolicyLint(command, terminal);
  definePolicyExplain(command, terminal);
  definePolicyReplay(command, terminal);
  addExamples(command, [
    ['customshouse policy evaluate --boundary input --data-tag secret.credential', 'block'],
    ['customshouse policy reload', 'after an edit'],
    ['customshouse policy draft --from mcp tools.json', 'contracts for a server’s tools'],
    ['customshouse policy test', 'the cases next to the policies'],
    ['customshouse policy lint', 'rules that never match'],
    ['customshouse policy explain evt_0123456789abcdef01234567', 'why a decision is what it is'],
    ['customshouse policy replay --since 7d --with new.yaml', 'what would change'],
  ]);
}

interface EvaluateOptions {
  readonly boundary: (typeof BOUNDARIES)[number];
  readonly dataTag?: readonly string[];
  readonly tenant?: string;
  readonly config?: string;
  readonly json?: true;
}

async function evaluatePolicy(options: EvaluateOptions, terminal: Terminal): Promise<void> {
  const reply = await runSelectedOperation(terminal, options.config, (of) => of.policyEvaluate, {
    boundary: options.boundary,
    data_tags: options.dataTag ?? [],
    ...(options.tenant !== undefined && { tenant_id: options.tenant }),
  });
  if (options.json) printJson(terminal, reply);
  else printLine(terminal, reply.action);
  if (reply.action === 'block' || reply.action === 'require_approval') terminal.exit_code = EXIT.no;
}

async function reloadPolicy(options: { config?: string; json?: true }, terminal: Terminal): Promise<void> {
  const report = await runSelectedOperation(terminal, options.config, (of) => of.policiesReload, {});
  if (options.json) {
    printJson(terminal, report);
    return;
  }
  for (const warning of report.warnings) printNotice(terminal, `warning: ${escapeControls(warning)}`);
  const what = report.changed ? 'A new policy is active' : 'The policy has not changed';
  printLine(terminal, `${what}: ${report.policy_hash} (generation ${report.generation}).`);
}
