import { type Command, Option } from 'commander';
import type { PolicyTestCase } from '../../../core/review/case.ts';
import { escapeUnprintable } from '../../../core/text/unprintable.ts';
import { DECISIONS, PHASES } from '../../../core/types/index.ts';
import { isEventId } from '../../../runtime/audit/event-id.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import { CommandFailure, EXIT } from '../command-failure.ts';
import { findNewestEvents } from '../find-events.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../options.ts';
import { escapeControls, printJson, printLine, replaceProgramName, type Terminal } from '../terminal.ts';

interface WrongOptions {
  readonly last?: true;
  readonly expect?: 'allow' | 'block';
  readonly note?: string;
  readonly config?: string;
  readonly json?: true;
}

export function defineWrong(command: Command, terminal: Terminal): void {
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
    .action((event: string | undefined, options: WrongOptions) => collectCase(event, options, terminal));
  addExamples(command, [
    ['customshouse wrong --last --note "my own branch"', ''],
    ['customshouse wrong evt_01890a5d8b4c2f6e7a91d3c5 --expect allow', ''],
    ['customshouse policy test', 'run the collected cases'],
  ]);
}

async function collectCase(
  event_id: string | undefined,
  options: WrongOptions,
  terminal: Terminal,
): Promise<void> {
  if ((event_id === undefined) === (options.last === undefined))
    throw new CommandFailure(EXIT.usage, 'missing_argument', 'Name an event, or give --last.');
  const event = await findCall(event_id, options, terminal);
  const config = await loadCliConfig(terminal, options.config, 'leave');
  const [{ join }, { stringify }, { writePrivateFile }, { maskComment }, { loadPolicy }, { testPolicy }] =
    await Promise.all([
      import('node:path'),
      import('yaml'),
      import('../../../platform/files/private-file.ts'),
      import('../../../runtime/enforcement/approvals/mask.ts'),
      import('../../../runtime/policies/index.ts'),
      import('../../../runtime/policies/test-policy.ts'),
    ]);
  const made = await loadPolicy(config);
  if (!made.ok)
    throw new CommandFailure(EXIT.usage, 'config_invalid', 'The policy is not valid.', {
      hint: 'Show every problem with `customshouse validate`.',
    });
  const decision = options.expect ?? (event.decision === 'allow' ? 'block' : 'allow');
  const note = options.note === undefined ? null : maskComment(options.note, made.policy);
  const file = join(config.origin.base_dir, 'policies', 'tests', `wrong-${event.event_id}.yaml`);
  const text = stringify({ version: 'v1alpha1', tests: [buildCase(event, decision, note)] }).trimEnd();
  if (!writePrivateFile(file, text, 'keep'))
    throw new CommandFailure(EXIT.no, 'conflict', `The event is already collected, in \`${file}\`.`, {
      hint: 'Remove that file to collect it again.',
    });
  const { results } = await testPolicy(made.policy, config, [file], config.origin.base_dir);
  const passes = results.every(({ differences }) => differences.length === 0);
  if (options.json) {
    printJson(terminal, { file, event_id: event.event_id, expect: decision, passes });
    return;
  }
  printLine(terminal, `Collected in ${escapeControls(file)}: ${decision} expected.`);
  const today = passes
    ? 'The case passes today: masked content decided, or the policy has changed since.'
    : 'The case fails until the policy is changed. Run it with `customshouse policy test`.';
  printLine(terminal, replaceProgramName(terminal, today));
}

/** The number of events among which the last call is looked for. An approval writes an event without a call. */
const EVENTS_SEARCHED = 50;

async function findCall(
  event_id: string | undefined,
  { config }: WrongOptions,
  terminal: Terminal,
): Promise<AuditEvent> {
  const filter =
    event_id === undefined
      ? { boundary: 'action', decision: 'block', limit: EVENTS_SEARCHED }
      : { event_id, limit: 1 };
  const events = await findNewestEvents(terminal, config, filter);
  const event =
    event_id === undefined ? events.find(({ action_shown }) => action_shown !== undefined) : events[0];
  // The ID becomes a part of a file name, and an imported event may have any.
  if (event !== undefined && isEventId(event.event_id)) return event;
  const what =
    event_id === undefined ? 'There is no blocked call in the audit log.' : 'There is no such event.';
  throw new CommandFailure(EXIT.no, 'not_found', what, { hint: 'List the events with `customshouse logs`.' });
}

function buildCase(event: AuditEvent, decision: 'allow' | 'block', note: string | null): PolicyTestCase {
  const { event_id, tool_name, agent_id, tenant_id, source_agent_id, destination_agent_id, metadata } = event;
  const phase = PHASES.find((each) => each === metadata.phase);
  return {
    name: `${event_id} should ${decision}`,
    boundary: 'action',
    ...(phase !== undefined && { phase }),
    ...(tool_name !== null && { tool: tool_name }),
    agent_id,
    ...(source_agent_id !== null && { source_agent_id }),
    ...(destination_agent_id !== null && { destination_agent_id }),
    tenant_id,
    payload: readArguments(event),
    expect: { decision },
    ...(note !== null && { 'x-note': note }),
  };
}

/** Returns the masked arguments that an event holds. @throws CommandFailure if it holds none, or not all of them */
function readArguments({ action_shown, tool_name }: AuditEvent): unknown {
  if (action_shown === undefined || tool_name === null)
    throw new CommandFailure(
      EXIT.no,
      'no_action',
      'The event holds no call, so there is nothing to collect.',
      {
        hint: 'Events hold blocked and held calls; all of them with `audit.log_actions: all`.',
      },
    );
  try {
    return JSON.parse(action_shown.slice(escapeUnprintable(tool_name).length));
  } catch {
    throw new CommandFailure(
      EXIT.no,
      'no_action',
      'The event holds only a part of the call, which is too long.',
      {
        hint: 'Write the case by hand, as docs/how-to/test-policies.md shows.',
      },
    );
  }
}
