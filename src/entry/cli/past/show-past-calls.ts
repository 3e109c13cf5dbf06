import type { CodingAgent } from '../../../coding-agents/record/coding-agent.ts';
import { quoteArg } from '../../../coding-agents/record/hook-command.ts';
import type { Machine } from '../../../coding-agents/record/settings.ts';
import { hasTranscripts } from '../../../coding-agents/transcripts/read-calls.ts';
import type { Consent } from '../../../operations/cli-kit/consent.ts';
import { convertExpectedFailure } from '../../../operations/cli-kit/convert-failure.ts';
import { printLine, printNotice, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { printPastDecisions, printPastSummary } from './print-past-calls.ts';
import { replayTranscripts } from './replay-transcripts.ts';

/**
 * Ends a setup with the user's own past: how many calls in the transcripts the policy would have stopped. At a terminal
 * one key opens the list. Without transcripts it prints nothing.
 */
export async function showPastCalls(
  agents: readonly CodingAgent[],
  machine: Machine,
  { config, yes }: Consent & { readonly config: string },
  terminal: Terminal,
): Promise<void> {
  if (!(await hasTranscripts(agents, machine))) return;
  const command = `${terminal.name} replay --transcripts --config ${quoteArg(config)}`;
  printNotice(terminal, '\nJudging the past calls of your agents on this machine. Nothing is stored ...');
  try {
    const report = await replayTranscripts(agents, machine, config, terminal);
    printPastSummary(report, terminal);
    if (report.decisions.length === 0) return;
    if (await askToShow(yes, terminal)) printPastDecisions(report, terminal);
    else printLine(terminal, `See them:\n  ${command}`);
  } catch (error) {
    // The hooks are installed, so the setup succeeded.
    const why = convertExpectedFailure(error)?.message ?? (error as Error).name;
    printNotice(terminal, `The past calls could not be judged: ${why} Try again:\n  ${command}`);
  }
}

async function askToShow(yes: Consent['yes'], { interactive }: Terminal): Promise<boolean> {
  if (!interactive || yes) return false;
  const { confirm } = await import('@clack/prompts');
  return (await confirm({ message: 'Show them?' })) === true;
}
