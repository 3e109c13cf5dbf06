import { type Command, InvalidArgumentError } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { Config } from '../../../runtime/config/index.ts';
import type { AllowableValue } from '../../../runtime/policies/allow-value.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { readBounded } from '../read-bounded.ts';

interface AddOptions {
  readonly reason: string;
  readonly owner: string;
  readonly expires: string;
  readonly ruleId?: string;
  readonly config?: string;
  readonly json?: true;
}

export function defineFingerprint(command: Command, terminal: Terminal): void {
  command.description(
    'Allowlist single values without storing them: an entry under `detection.allowlist` holds a keyed hash. Only the owner of the state folder can read the key; with the key, values can be guessed.',
  );
  const add = command
    .command('add')
    .summary('print an entry for a value on standard input')
    .description(
      'Print a `detection.allowlist` entry for a value on standard input. If the words next to the value identify it, as in `password = ...`, include them. Ends with 1 if nothing is found.',
    )
    .requiredOption('--reason <text>', 'why it is harmless')
    .requiredOption('--owner <name>', 'the owner of the entry')
    .requiredOption('--expires <when>', 'when the entry expires: days, as `90d`, or a date', parseExpiry)
    .option('--rule-id <id>', 'the detector to allowlist, if several detectors match')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: AddOptions) => addEntry(options, terminal));
  addExamples(add, [
    ['customshouse fingerprint add --reason "test tenant" --owner ops --expires 90d < key.txt', ''],
    ['pbpaste | customshouse fingerprint add --reason docs --owner me --expires 2027-01-31', ''],
  ]);
  const list = command
    .command('list')
    .summary('list the entries of the configuration')
    .description('List the entries under `detection.allowlist`, and which of them have expired.')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: { config?: string; json?: true }) => listEntries(options, terminal));
  addExamples(list, [['customshouse fingerprint list --json', 'for a program']]);
  addExamples(command, [['customshouse fingerprint list', '']]);
}

const DAY_MS = 86_400_000;
const DAYS_MAX = 366;

/** Returns a date as given, or the date that many days from now. */
function parseExpiry(text: string): string {
  const days = Number(/^(\d{1,3})d$/.exec(text)?.[1] ?? 0);
  if (days >= 1 && days <= DAYS_MAX) return new Date(Date.now() + days * DAY_MS).toISOString();
  const aheadMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) - Date.now() : Number.NaN;
  if (aheadMs > 0 && aheadMs <= DAYS_MAX * DAY_MS) return text;
  throw new InvalidArgumentError(`Give days, as \`90d\`, or a date ahead; at most ${DAYS_MAX} days.`);
}

async function addEntry(options: AddOptions, terminal: Terminal): Promise<void> {
  if (terminal.stdin.isTTY)
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      'Give the value on standard input, by a pipe or a file: typed text would stay on the screen.',
    );
  const { decodeUtf8Text } = await import('../../../operations/file.ts');
  const text = decodeUtf8Text(await readBounded(terminal.stdin)).replace(/\r?\n$/, '');
  const found = await findIn(text, options, terminal);
  const [only] = found;
  if (only === undefined)
    throw new CommandFailure(
      EXIT.no,
      'not_found',
      'No detector matches this input, so there is nothing to allowlist.',
      {
        hint: 'Include the words next to the value, as in the original text. For commands and instructions, use `customshouse allow`.',
      },
    );
  if (found.length > 1)
    throw new CommandFailure(EXIT.usage, 'usage', 'Several detectors match this input:', {
      lines: found.map(({ rule_id, severity }) => `${rule_id} (${severity})`),
      hint: 'Give the value alone, or name the detector with --rule-id.',
    });
  const { fingerprint } = only;
  const entry = { fingerprint, reason: options.reason, owner: options.owner, expires_at: options.expires };
  if (options.json) {
    printJson(terminal, { rule_id: only.rule_id, entry });
    return;
  }
  printNotice(terminal, `Found by ${only.rule_id} (${only.severity}). Put this in service.yaml:\n`);
  printLine(terminal, (await import('yaml')).stringify({ detection: { allowlist: [entry] } }).trimEnd());
}

async function findIn(
  text: string,
  options: AddOptions,
  terminal: Terminal,
): Promise<readonly AllowableValue[]> {
  const config = await loadCliConfig(terminal, options.config);
  const { loadPolicy } = await import('../../../runtime/policies/index.ts');
  const made = await loadPolicy(config);
  if (!made.ok)
    throw new CommandFailure(EXIT.usage, 'invalid_configuration', 'The configuration is not valid.', {
      hint: 'Find the problems with `customshouse validate`.',
    });
  const { listAllowableValues } = await import('../../../runtime/policies/allow-value.ts');
  const { ruleId } = options;
  return listAllowableValues(text, config, made.policy).filter(
    ({ rule_id }) => ruleId === undefined || rule_id === ruleId,
  );
}

async function listEntries(options: { config?: string; json?: true }, terminal: Terminal): Promise<void> {
  const { detection } = await loadCliConfig(terminal, options.config);
  const entries = detection.allowlist.map((entry) => ({ ...entry, expired: isExpired(entry) }));
  if (options.json) {
    printJson(terminal, { entries });
    return;
  }
  if (entries.length === 0) printNotice(terminal, 'No fingerprint is allowlisted.');
  for (const { fingerprint, reason, owner, expires_at, expired } of entries) {
    const state = expired ? paintText(terminal, 'red', 'expired') : paintText(terminal, 'green', 'allowed');
    printLine(
      terminal,
      `${state}  ${fingerprint}  until ${expires_at}, ${escapeControls(owner)}: ${escapeControls(reason)}`,
    );
  }
}

function isExpired({ expires_at }: Config['detection']['allowlist'][number]): boolean {
  return Date.parse(expires_at) <= Date.now();
}
