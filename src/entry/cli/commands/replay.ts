import { type Command, Option } from 'commander';
import { codingAgents } from '../../../coding-agents/coding-agents.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { printJson, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { CALLS_MAX, REPLAY_MS_MAX } from '../past/judge-past-calls.ts';

interface ReplayOptions {
  readonly transcripts?: true;
  readonly path: string;
  readonly codingAgent?: string;
  readonly config?: string;
  readonly json?: true;
}

export function defineReplay(command: Command, terminal: Terminal): void {
  command
    .description(
      `Judge the tool calls in the transcripts that coding agents keep on this machine, and list those that the policy would have stopped, asked about or changed, each with the command that allows it. Only reads: nothing runs, and nothing is written or recorded. Secrets and personal data are masked. Each call is judged alone, without sessions, budgets and approvals; the newest ${CALLS_MAX.toLocaleString('en')} calls at most, for ${REPLAY_MS_MAX / 1_000} s at most. \`policy replay\` judges the recorded decisions under another policy.`,
    )
    .option('--transcripts', 'judge the calls in the transcripts (required)')
    .option('--path <folder>', 'the project whose configuration applies', '.')
    .addOption(
      new Option('--coding-agent <name>', 'calls of one coding agent').choices(
        codingAgents.flatMap(({ name, transcript }) => (transcript === null ? [] : [name])),
      ),
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: ReplayOptions) => runReplay(options, terminal));
  addExamples(command, [
    ['customshouse replay --transcripts', 'what the present policy would have stopped'],
    ['customshouse replay --transcripts --config stricter.yaml --json', 'under another configuration'],
  ]);
}

async function runReplay(options: ReplayOptions, terminal: Terminal): Promise<void> {
  if (!options.transcripts)
    throw new CommandFailure(EXIT.usage, 'missing_argument', 'Give --transcripts.', {
      hint: 'Recorded decisions are replayed by `customshouse policy replay --with FILE`.',
    });
  const [{ readMachine }, { replayTranscripts }, { printPastDecisions, printPastSummary }] =
    await Promise.all([
      import('../setup/agent-plan.ts'),
      import('../past/replay-transcripts.ts'),
      import('../past/print-past-calls.ts'),
    ]);
  const machine = await readMachine(options, terminal);
  const agents = codingAgents.filter(
    ({ name }) => options.codingAgent === undefined || name === options.codingAgent,
  );
  const report = await replayTranscripts(agents, machine, options.config, terminal);
  if (options.json) return printJson(terminal, report);
  printPastSummary(report, terminal);
  printPastDecisions(report, terminal);
}
