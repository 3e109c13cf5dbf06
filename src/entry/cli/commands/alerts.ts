import type { Command } from 'commander';
import { CommandFailure, EXIT } from '../command-failure.ts';
import { addExamples, buildJsonOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';

/** Defines the documented command `alerts`, which reports that this version has no alerts. */
export function defineAlerts(command: Command, _terminal: Terminal): void {
  command
    .description(
      'Alerts are not part of this version: channels in `alerts.channels` are checked, and nothing is sent.',
    )
    .argument('[words...]', 'ignored')
    .allowUnknownOption()
    .addOption(buildJsonOption())
    .action(() => {
      throw new CommandFailure(EXIT.usage, 'not_configured', 'This version has no alerts, and sends none.');
    });
  addExamples(command, [['service alerts', 'says so, and ends with 2']]);
}
