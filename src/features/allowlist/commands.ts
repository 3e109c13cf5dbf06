import { type Command, Option } from 'commander';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { askConsent, type Consent } from '../../operations/cli-kit/consent.ts';
import { convertExpectedFailure } from '../../operations/cli-kit/convert-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../operations/cli-kit/options.ts';
import {
  escapeControls,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../operations/cli-kit/terminal.ts';
import { allowlistDetectorAdd } from './detector-operations.ts';

interface AllowOptions extends Consent {
  readonly tool?: string;
  readonly agent?: string;
  readonly tenant?: string;
  readonly until?: string;
  readonly reason?: string;
  readonly config?: string;
}

/** Defines `allow`. */
export function defineAllow(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command
    .description(
      'Allow the findings of one detector for a time: no rule acts on them in this scope. With an event, the detectors that decided on it are allowed for its tool, agent and tenant. Secrets and the guard of the service cannot be allowed; contracts, identities, budgets, flow rules and rules of a tenant still decide. Ends with 1 if something else decides, and names the document to change.',
    )
    // The subcommands have options with the same names.
    .enablePositionalOptions()
    .argument('[target]', 'the detector, as `git.push_force`, or the event of a stopped call, `evt_...`')
    .option('--tool <name>', 'the only tool; `*` for any (default: that of the event, or any)')
    .option('--agent <id>', 'the only agent; `*` for any (default: that of the event, or any)')
    .option('--tenant <id>', 'the only tenant; `*` for any (default: that of the event, or any)')
    .option('--until <when>', 'a duration or a date; at most a year (default: `30d`)')
    .option('--reason <text>', 'why it is harmless; without it, a terminal asks')
    .option('--yes', 'confirm without a question')
    .addOption(new Option('--dry-run', 'show what would be allowed, and change nothing').conflicts('yes'))
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((target: string | undefined, options: AllowOptions) =>
      allowDetector(target, options, terminal, ports),
    );
  addExamples(command, [
    ['customshouse allow git.push_force --tool Bash --reason "my own branch"', ''],
    [
      'customshouse allow evt_01890a5d8b4c2f6e7a91d3c5 --until 7d --reason "release week"',
      'as in this event',
    ],
    ['customshouse allow list', ''],
  ]);
}

interface AllowedEntry {
  readonly id: string;
  readonly rule_id: string;
  readonly tool_name: string | null;
  readonly agent_id: string | null;
  readonly tenant_id: string | null;
  readonly expires_at: string;
}

async function allowDetector(
  target: string | undefined,
  options: AllowOptions,
  terminal: Terminal,
  { runOperation }: CommandPorts,
): Promise<void> {
  const { tool, agent, tenant, until } = options;
  if (target === undefined)
    throw new CommandFailure(EXIT.usage, 'missing_argument', 'Name a detector or an event.', {
      hint: '`customshouse logs --decision block` lists the events.',
    });
  const input = {
    ...(target.startsWith('evt_') ? { event_id: target } : { rule_id: target }),
    ...(tool !== undefined && { tool_name: tool }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(tenant !== undefined && { tenant_id: tenant }),
    ...(until !== undefined && { until }),
    note: options.reason ?? (await askReason(options, terminal)),
  };
  const call = (confirmWeaker: boolean) =>
    runOperation(terminal, options.config, allowlistDetectorAdd, {
      ...input,
      confirm_weaker: confirmWeaker,
    });
  if (options.yes !== true) {
    for (const effect of await readEffects(call)) printNotice(terminal, `${escapeControls(effect)}.`);
    if (!(await askConsent('Allow this?', options, terminal))) {
      printLine(terminal, 'Nothing was changed.');
      return;
    }
  }
  const added = await call(true);
  if (options.json) printJson(terminal, added);
  else
    for (const entry of added.entries)
      printLine(terminal, escapeControls(describeEntry(entry, terminal.name)));
}

/** Asks for the reason. @throws CommandFailure without a terminal */
async function askReason({ yes, json }: Consent, terminal: Terminal): Promise<string> {
  if (!terminal.interactive || yes || json)
    throw new CommandFailure(EXIT.usage, 'missing_argument', 'Give the reason with --reason.');
  const { text } = await import('@clack/prompts');
  const answer = await text({ message: 'Why is it harmless?' });
  if (typeof answer === 'string') return answer;
  throw new CommandFailure(EXIT.interrupted, 'interrupted', 'Stopped: nothing was changed.');
}

/** Returns what the entry would allow, as the service lists it when it asks for the confirmation. */
async function readEffects(call: (confirmWeaker: boolean) => Promise<unknown>): Promise<readonly string[]> {
  try {
    await call(false);
  } catch (error) {
    const failure = convertExpectedFailure(error);
    if (failure?.code === 'weaker_policy') return failure.details.map(({ message }) => message);
    throw error;
  }
  throw new Error('The service allowed a detector without a confirmation.');
}

function describeEntry(entry: AllowedEntry, program: string): string {
  const { id, rule_id, tool_name, agent_id, tenant_id, expires_at } = entry;
  const scope = [
    tool_name === null ? 'any tool' : `the tool ${tool_name}`,
    agent_id === null ? 'any agent' : `the agent ${agent_id}`,
    tenant_id === null ? 'any tenant' : `the tenant ${tenant_id}`,
  ].join(', ');
  return `Allowed ${rule_id} for ${scope}, until ${expires_at}. To end it: ${program} allow revoke ${id}`;
}
