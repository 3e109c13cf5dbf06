import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { DECISIONS } from '../../core/types/index.ts';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { findNewestEvents } from '../../operations/cli-kit/find-events.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../operations/cli-kit/options.ts';
import {
  escapeControls,
  printJson,
  printLine,
  replaceProgramName,
  type Terminal,
} from '../../operations/cli-kit/terminal.ts';
import { writePrivateFile } from '../../platform/files/private-file.ts';
import { policyCase } from './case-operation.ts';

interface WrongOptions {
  readonly last?: true;
  readonly expect?: 'allow' | 'block';
  readonly note?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Defines `wrong`. */
export function defineWrong(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command
    .description(
      'Collect a wrong decision as a test case. Writes the call of an event, with secrets, personal data and injections masked, and the expected decision to a file in `policies/tests` next to the configuration, where `policy test` runs it. Decides nothing and sends nothing.',
    )
    .argument('[event]', 'the event of the call, `evt_...`')
    .option('--last', 'take the last blocked call')
    .addOption(
      new Option('--expect <decision>', 'the right decision (default: the opposite of the event’s)').choices(
        DECISIONS.filter((each) => each !== 'modify'),
      ),
    )
    .option('--note <text>', 'why it is wrong; secrets and personal data in it are masked')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((event: string | undefined, options: WrongOptions) =>
      collectCase(event, options, terminal, ports),
    );
  addExamples(command, [
    ['customshouse wrong --last --note "my own branch"', ''],
    ['customshouse wrong evt_01890a5d8b4c2f6e7a91d3c5 --expect allow', ''],
    ['customshouse policy test', 'run the collected cases'],
  ]);
}

async function collectCase(
  named: string | undefined,
  options: WrongOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  if ((named === undefined) === (options.last === undefined))
    throw new CommandFailure(EXIT.usage, 'missing_argument', 'Name an event, or give --last.', {
      hint: '`customshouse logs --decision block` lists the events.',
    });
  const { expect, note } = options;
  const drafted = await ports.runOperation(terminal, options.config, policyCase, {
    event_id: named ?? (await findLastCall(options, terminal, ports)),
    ...(expect !== undefined && { expect }),
    ...(note !== undefined && { note }),
  });
  const { origin } = await ports.loadConfig(terminal, options.config, 'leave');
  const file = join(origin.base_dir, drafted.file);
  if (!writePrivateFile(file, drafted.text.trimEnd(), 'keep'))
    throw new CommandFailure(EXIT.no, 'conflict', `The event is already collected, in \`${file}\`.`, {
      hint: 'Remove that file to collect it again.',
    });
  const { event_id, passes } = drafted;
  if (options.json) {
    printJson(terminal, { file, event_id, expect: drafted.expect, passes });
    return;
  }
  printLine(terminal, `Collected in ${escapeControls(file)}: ${drafted.expect} expected.`);
  const today = passes
    ? 'The case passes today: masked content decided, or the policy has changed since.'
    : 'The case fails until the policy is changed. Run it with `customshouse policy test`.';
  printLine(terminal, replaceProgramName(terminal, today));
}

/** The number of events among which the last call is looked for. An approval writes an event without a call. */
const EVENTS_SEARCHED = 50;

async function findLastCall(
  { config }: WrongOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<string> {
  const filter = { boundary: 'action', decision: 'block', limit: EVENTS_SEARCHED } as const;
  const events = await findNewestEvents(terminal, config, filter, ports);
  const last = events.find(({ action_shown }) => action_shown !== undefined);
  if (last !== undefined) return last.event_id;
  throw new CommandFailure(EXIT.no, 'not_found', 'There is no blocked call in the audit log.', {
    hint: 'List the events with `customshouse logs`.',
  });
}
