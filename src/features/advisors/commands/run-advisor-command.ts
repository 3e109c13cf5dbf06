import { resolve } from 'node:path';
import type { AdvisorResult } from '../../../core/advisors/types.ts';
import type { CommandPorts } from '../../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { printLine, printNotice, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import type { Context } from '../../../operations/operation.ts';
import { buildOperatorCaller } from '../../../runtime/access/callers.ts';
import { getOsUserName } from '../../../runtime/access/os-user.ts';
import type { Config } from '../../../runtime/config/index.ts';
import type { PreparedCall } from '../advisory.ts';
import { requireStagingFolder } from '../artifact-files.ts';
import type { AdvisorStep } from '../run-advisor.ts';
import { type AnsweredQuestion, findProposal, type ProposalQuestion } from '../shown-proposal.ts';
import { convertArtifactFailure } from './deliver-artifacts.ts';

/** The options that all advisors share. */
export interface AdvisorOptions {
  readonly config?: string;
  readonly json?: true;
  readonly showPrompt?: true;
  /** The folder for proposed files; absent for an advisor without files. */
  readonly outputDir?: string;
  readonly apply?: true;
}

/**
 * Prepares and runs an advisor in this process, as the user of the command line. Ctrl-C stops the call. With `--apply`
 * the proposal that was shown last for the same question is the result, without a call of the model.
 * @returns the result; `null` if only the prompt was printed
 * @throws CommandFailure `not_configured` if the layer is off, or with the summary of a result that is no success
 */
export async function runAdvisorCommand(
  asked: ProposalQuestion,
  options: AdvisorOptions,
  terminal: Terminal,
  { loadConfig, openRuntime }: CommandPorts,
  prepare: (context: Context, config: Config) => Promise<PreparedCall>,
): Promise<AnsweredQuestion | null> {
  const config = await loadConfig(terminal, options.config, 'leave');
  // A prompt can be read before the layer is switched on.
  if (options.showPrompt !== true) {
    requireEnabled(config);
    // Before the call of the model, because an answer costs time and money.
    if (options.outputDir !== undefined)
      await convertArtifactFailure(requireStagingFolder(resolve(terminal.cwd, options.outputDir)));
  }
  const runtime = await openRuntime(config);
  const caller = buildOperatorCaller(`cli:${getOsUserName()}`);
  try {
    // A replay reads the journal itself, so events of the spool must be in it.
    await runtime.settleJournal();
    const question: ProposalQuestion = [...asked, runtime.policy().hash];
    if (options.apply === true && options.showPrompt !== true) {
      const shown = await findProposal(config.state_dir, question);
      if (shown !== null) {
        printNotice(terminal, 'This is the proposal that was shown before: no model is called.');
        return { result: shown, config, question };
      }
    }
    const prepared = await prepare({ runtime, caller, request_id: 'cli' }, config);
    if (options.showPrompt === true) {
      printPrompt(prepared, options, terminal);
      return null;
    }
    const result = await runPrepared(prepared, config, options, terminal);
    return { result, config, question };
  } finally {
    await runtime.close();
  }
}

/** @throws CommandFailure `not_configured` */
function requireEnabled({ intelligence }: Config): void {
  if (intelligence.enabled && intelligence.backend !== undefined) return;
  throw new CommandFailure(EXIT.no, 'not_configured', 'The intelligence layer is disabled.', {
    hint: 'To turn it on, set `intelligence.enabled: true` and `intelligence.backend` in service.yaml.',
  });
}

/** Prints exactly the messages that would be sent. */
function printPrompt({ prompt }: PreparedCall, { json }: AdvisorOptions, terminal: Terminal): void {
  const messages = [
    { role: 'system', content: prompt.system },
    { role: 'user', content: prompt.user },
  ];
  // Not escaped: the text is ours, and the metadata in it is ASCII already.
  if (json) printLine(terminal, JSON.stringify({ messages }));
  else
    for (const { role, content } of messages) {
      printLine(terminal, `--- ${role} ---`);
      printLine(terminal, content);
    }
  printNotice(terminal, 'Nothing was sent.');
}

async function runPrepared(
  prepared: PreparedCall,
  { intelligence }: Config,
  { json }: AdvisorOptions,
  terminal: Terminal,
): Promise<AdvisorResult> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.once('SIGINT', stop);
  const progress = json ? NO_PROGRESS : openProgress(intelligence.backend?.model ?? 'the model', terminal);
  try {
    const { result } = await prepared.run({ signal: controller.signal, onProgress: progress.show });
    if (controller.signal.aborted)
      throw new CommandFailure(EXIT.interrupted, 'interrupted', 'Stopped: nothing was changed.');
    return result;
  } finally {
    progress.end();
    process.removeListener('SIGINT', stop);
  }
}

interface Progress {
  readonly show: (step: AdvisorStep) => void;
  readonly end: () => void;
}

const NO_PROGRESS: Progress = { show: () => {}, end: () => {} };
const TICK_MS = 1_000;

/** Shows the step and its seconds on a terminal; elsewhere one line for each step. */
function openProgress(model: string, terminal: Terminal): Progress {
  const texts: Readonly<Record<AdvisorStep, string>> = {
    asking: `Waiting for ${model}`,
    checking: 'Checking the proposal',
    asking_again: `Sent back once with the problems; waiting for ${model}`,
  };
  if ((terminal.stderr as { isTTY?: boolean }).isTTY !== true)
    return { show: (step) => printNotice(terminal, `${texts[step]} ...`), end: () => {} };
  let text = '';
  let beganMs = performance.now();
  const draw = (): void => {
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    terminal.stderr.write(`\r\u001b[K${text} (${seconds} s, Ctrl-C stops)`);
  };
  const timer = setInterval(draw, TICK_MS);
  timer.unref();
  return {
    show: (step) => {
      text = texts[step];
      beganMs = performance.now();
      draw();
    },
    end: () => {
      clearInterval(timer);
      terminal.stderr.write('\r\u001b[K');
    },
  };
}
