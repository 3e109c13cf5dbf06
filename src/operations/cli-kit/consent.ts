import { CommandFailure, EXIT } from './command-failure.ts';
import type { Terminal } from './terminal.ts';

/** The ways to confirm: with an option, or at the question. */
export interface Consent {
  readonly yes?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

/**
 * Returns whether to continue with the shown changes. Without a terminal only `--yes` confirms.
 * @param preselected the answer that Return gives
 * @throws CommandFailure if there is no terminal for the question
 */
export async function askConsent(
  question: string,
  consent: Consent,
  terminal: Terminal,
  preselected = false,
): Promise<boolean> {
  if (consent.dryRun) return false;
  if (consent.yes) return true;
  if (!terminal.interactive || consent.json) {
    throw new CommandFailure(EXIT.usage, 'confirmation_required', 'Not a terminal, so nothing was changed.', {
      hint: 'Use `--yes` to confirm or `--dry-run` to preview.',
    });
  }
  const { confirm } = await import('@clack/prompts');
  const answer = await confirm({ message: question, initialValue: preselected });
  if (typeof answer === 'symbol')
    throw new CommandFailure(EXIT.interrupted, 'interrupted', 'Stopped: nothing was changed.');
  return answer;
}
