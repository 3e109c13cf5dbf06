import { CommandFailure, EXIT } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** How a person says yes: beforehand, or when asked. */
export interface Consent {
  readonly yes?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

/**
 * Whether to go on with what was shown. Without a terminal nobody is asked, and `--yes` is the consent.
 * @throws CommandFailure where nobody can be asked
 */
export async function agreed(question: string, consent: Consent, terminal: Terminal): Promise<boolean> {
  if (consent.dryRun) return false;
  if (consent.yes) return true;
  if (!terminal.interactive || consent.json) {
    throw new CommandFailure(EXIT.usage, 'confirmation_required', 'Not a terminal, so nothing was changed.', {
      hint: 'Use `--yes` to confirm or `--dry-run` to preview.',
    });
  }
  const { confirm } = await import('@clack/prompts');
  const answer = await confirm({ message: question, initialValue: false });
  if (typeof answer === 'symbol')
    throw new CommandFailure(EXIT.interrupted, 'interrupted', 'Stopped: nothing was changed.');
  return answer;
}
