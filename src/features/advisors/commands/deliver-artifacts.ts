import { join, resolve } from 'node:path';
import type { AdvisorResult } from '../../../core/advisors/types.ts';
import type { CommandPorts } from '../../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { printDiff } from '../../../operations/cli-kit/diff-text.ts';
import {
  escapeControls,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import { PRINTABLE_TEXT } from '../../../operations/shapes.ts';
import { buildOperatorCaller } from '../../../runtime/access/callers.ts';
import { getOsUserName } from '../../../runtime/access/os-user.ts';
import type { Config } from '../../../runtime/config/index.ts';
import {
  type ArtifactChange,
  ArtifactFailure,
  applyArtifacts,
  listArtifactChanges,
  stageArtifacts,
} from '../artifact-files.ts';
import { type AnsweredQuestion, dropProposal, keepProposal } from '../shown-proposal.ts';
import { isWeakening, printAdvice, readReview } from './print-advice.ts';

/** The options of advisors that propose files. */
export interface DeliveryOptions {
  readonly outputDir: string;
  readonly apply?: true;
  readonly yes?: true;
  /** The reason to apply a proposal that weakens the policy. */
  readonly confirmWeaker?: string;
  readonly json?: true;
}

/** Prints a result, stages its files, and applies them if that was requested and confirmed. */
export async function deliverArtifacts(
  { result, config, question }: AnsweredQuestion,
  root: string,
  options: DeliveryOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  if (!isSuccess(result, options, terminal)) return;
  if (!options.json) printAdvice(result, terminal);
  const folder = resolve(terminal.cwd, options.outputDir);
  const { isReadByConfig } = await import('../../../runtime/config/document-files.ts');
  const isActive = (path: string): boolean => isReadByConfig(config, path);
  const staged = await convertArtifactFailure(stageArtifacts(folder, result.artifacts, isActive));
  if (!options.json) {
    printLine(terminal);
    for (const path of staged)
      printLine(terminal, `staged   ${escapeControls(join(options.outputDir, path))}`);
    if (staged.length === 0) printLine(terminal, 'No file is proposed.');
  }
  if (staged.length > 0) keepProposal(config.state_dir, question, result);
  const changes = await convertArtifactFailure(listArtifactChanges(root, result.artifacts));
  const isApplied =
    options.apply === true &&
    (await applyConfirmedChanges(changes, result, root, config, options, terminal, ports));
  if (isApplied) await dropProposal(config.state_dir, question);
  if (options.json) {
    const applied = isApplied ? changes.map(({ path }) => path) : [];
    printJson(terminal, { ...result, staged: staged.map((path) => join(folder, path)), applied });
  } else if (staged.length > 0 && options.apply !== true)
    printLine(
      terminal,
      'Nothing is applied. Run the command again with `--apply` to install this proposal, or copy the files yourself.',
    );
}

/** Returns whether the changes were applied. */
async function applyConfirmedChanges(
  changes: readonly ArtifactChange[],
  result: AdvisorResult,
  root: string,
  config: Config,
  options: DeliveryOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<boolean> {
  if (changes.length === 0) {
    if (!options.json) printLine(terminal, 'Nothing to apply: the files are there already.');
    return false;
  }
  if (!options.json) {
    printLine(terminal, `\nChanges in ${escapeControls(root)}:`);
    for (const change of changes) printDiff(change, terminal);
  }
  const consent = await confirmChanges(isWeakening(result), options, terminal);
  if (consent === null) {
    printNotice(terminal, 'Nothing was applied.');
    return false;
  }
  if (consent.note !== null) await recordConfirmation(result, config, ports);
  const { state_dir } = config;
  await convertArtifactFailure(
    applyArtifacts(root, changes, { state_dir, now_ms: Date.now(), note: consent.note }),
  );
  if (options.json) return true;
  for (const { path, before } of changes)
    printLine(terminal, `${before === null ? 'created ' : 'replaced'} ${escapeControls(join(root, path))}`);
  printLine(
    terminal,
    'Undo it with `customshouse intelligence undo`. A running service uses policies at once.',
  );
  return true;
}

/** The consent to a change. */
interface Consent {
  /** The reason to weaken the policy; `null` if the change does not. */
  readonly note: string | null;
}

/** Writes the audit event for a confirmed proposal. The reason stays in the change record, in the state folder. */
async function recordConfirmation(
  result: AdvisorResult,
  config: Config,
  { openRuntime }: CommandPorts,
): Promise<void> {
  const { recordOperatorChange } = await import('../../../operations/managed-change.ts');
  const runtime = await openRuntime(config);
  try {
    const event = {
      phase: 'advisor_apply',
      reason: 'An operator confirmed a proposal that weakens the policy.',
      metadata: {
        advisor: result.advisor_name,
        weaker_places: readReview(result)?.together?.lets_through.length ?? 0,
      },
    };
    const caller = buildOperatorCaller(`cli:${getOsUserName()}`);
    await recordOperatorChange(event, { runtime, caller, request_id: 'cli' });
  } finally {
    await runtime.close();
  }
}

/**
 * Returns the consent; `null` without it. Without a terminal `--apply` is the consent. A proposal that weakens the policy
 * needs a reason as well.
 * @throws CommandFailure `confirmation_required`
 */
async function confirmChanges(
  weakens: boolean,
  options: DeliveryOptions,
  terminal: Terminal,
): Promise<Consent | null> {
  const isAsked = terminal.interactive && !options.json && !options.yes;
  if (weakens && options.confirmWeaker !== undefined) return { note: options.confirmWeaker };
  if (!isAsked) {
    if (!weakens) return { note: null };
    throw new CommandFailure(
      EXIT.no,
      'confirmation_required',
      'The proposal weakens the policy, so nothing was applied.',
      { hint: 'Read what it would allow. Use `--confirm-weaker <reason>` to apply it.' },
    );
  }
  const { confirm, text } = await import('@clack/prompts');
  const answer = weakens
    ? await text({ message: 'This weakens the policy. To apply it, give the reason:' })
    : await confirm({ message: 'Apply these changes?', initialValue: false });
  if (typeof answer === 'symbol')
    throw new CommandFailure(EXIT.interrupted, 'interrupted', 'Stopped: nothing was applied.');
  if (typeof answer === 'boolean') return answer ? { note: null } : null;
  const note = parseReason(answer);
  return note === null ? null : { note };
}

const REASON_UNITS_MAX = 500;

/** Returns a reason without blanks around it; `null` if it is empty, too long, or has other than printable characters. */
export function parseReason(text: string): string | null {
  const reason = text.trim();
  const isValid = reason.length <= REASON_UNITS_MAX && new RegExp(PRINTABLE_TEXT, 'u').test(reason);
  return reason !== '' && isValid ? reason : null;
}

/**
 * Returns whether a result is a success. With `--json` another result is printed as it is, and the exit code is 1.
 * @throws CommandFailure with the summary of another result, without `--json`
 */
export function isSuccess(
  result: AdvisorResult,
  { json }: { readonly json?: true },
  terminal: Terminal,
): boolean {
  if (result.status === 'success') return true;
  if (json) {
    printJson(terminal, result);
    terminal.exit_code = EXIT.no;
    return false;
  }
  const problems = Array.isArray(result.metadata.problems) ? (result.metadata.problems as string[]) : [];
  throw new CommandFailure(EXIT.no, `advisor_${result.status}`, result.summary, {
    lines: problems.slice(1).map(escapeControls),
  });
}

/** Converts the failure of a change to one of the command line. */
export function convertArtifactFailure<Value>(promise: Promise<Value>): Promise<Value> {
  return promise.catch((fault: unknown) => {
    if (fault instanceof ArtifactFailure) throw new CommandFailure(EXIT.no, fault.code, fault.message);
    throw fault;
  });
}
