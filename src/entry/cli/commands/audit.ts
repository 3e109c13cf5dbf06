import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { DECISIONS } from '../../../core/types/index.ts';
import type { CommandPorts, RestoreOptions, ShipOptions } from '../../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { printJson, printNotice, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { printVerifyReport, setVerifyExit } from '../../../operations/cli-kit/verify-report.ts';
import type { ChainHead } from '../../../runtime/audit/journal-record.ts';
import { loadCliConfig } from '../load-cli-config.ts';

interface VerifyOptions {
  readonly dir?: string;
  readonly keys?: string;
  readonly trustedKey?: string;
  readonly publicKey?: string;
  readonly log?: string;
  readonly partial?: true;
  readonly config?: string;
  readonly json?: true;
}

export function defineAudit(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const verifying = command
    .command('verify')
    .summary('check every record of the journal, an evidence pack, or a bucket')
    .description(
      'Check every record of the journal: its hash, its place in the chain, and the signatures on checkpoints. Needs only the files and the public keys, so a copy can be checked anywhere. With PACK, check an evidence pack instead, on any machine; with `s3://BUCKET/PREFIX`, the logs in object storage. Ends with 1 at the first fault, and with 3 if a public key is missing, so that the result is unknown.',
    )
    .argument(
      '[pack]',
      'an evidence pack (`.tar.gz`), the folder that it was extracted to, or `s3://BUCKET/PREFIX`',
    )
    .option('--public-key <file>', 'check PACK with this key: `keys/<id>.json` of the service, or PEM')
    .option('--dir <folder>', 'a state folder or a journal, or a copy of one (default: the one in use)')
    .option('--keys <folder>', 'folder of the public keys (default: `keys` next to the journal)')
    .option('--trusted-key <id>', 'trust only this key, and keys that it endorsed')
    .option(
      '--partial',
      'with --dir: a copy without the newest and oldest files, as `audit restore` makes it',
    )
    .option('--log <id>', 'with `s3://`: only the log with this ID')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((pack: string | undefined, options: VerifyOptions) =>
      runVerification(pack, options, terminal, ports),
    );
  addExamples(verifying, [
    ['customshouse audit verify', 'the journal in use'],
    ['customshouse audit verify --dir /backup/state --json', 'a copy, for a program'],
    [
      'customshouse audit verify evidence.tar.gz --public-key key.json',
      'an evidence pack, with a key that you have',
    ],
    ['customshouse audit verify s3://acme-audit/production', 'the logs in object storage'],
  ]);
  defineExport(command, terminal, ports);
  defineShipping(command, terminal, ports);
  // Its subcommands are derived from operations.
  const hold = command.command('hold').summary('keep events of the audit log for a legal case');
  hold.description(
    'A legal hold keeps retention from deleting the files of the audit log that have a matching event. Adding and removing one is an audit event.',
  );
  addExamples(hold, [
    ['customshouse audit hold add --tenant acme --since 2026-07-01 --reason "Case 2026-114"', ''],
  ]);
  addExamples(command, [
    ['customshouse audit verify', ''],
    ['customshouse audit export --pack evidence.tar.gz --last 90d', 'proof for an auditor'],
    ['customshouse audit export --since 2026-10-01 --until 2026-11-01 > october.jsonl', 'a month'],
  ]);
}

function defineShipping(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const restoring = command
    .command('restore')
    .summary('copy a log from object storage into a new folder')
    .description(
      'Copy the log of one service from object storage into a new folder, which then has `journal` and `keys` as a state folder has them. `customshouse audit verify --dir FOLDER --partial` checks it. The address defaults to `audit.object_storage` of the configuration; credentials, region and endpoint come from the environment, as the SDK of AWS finds them.',
    )
    .argument('[address]', '`s3://BUCKET/PREFIX`')
    .requiredOption('--to <folder>', 'the folder to make')
    .option('--log <id>', 'the ID of the log; needed if there are several')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action(async (address: string | undefined, options: RestoreOptions) =>
      (await ports.loadShipping()).restoreLog(address, options, terminal, ports),
    );
  addExamples(restoring, [
    ['customshouse audit restore s3://acme-audit/production --to lost-node', 'the log of a lost machine'],
  ]);
  const shipping = command
    .command('ship')
    .summary('close and ship the last files of a stopped service')
    .description(
      'Close the newest file of each chain and ship everything that is not in object storage yet. A running service does this by itself; use it before a machine is removed, after the service has stopped.',
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action(async (options: ShipOptions) => (await ports.loadShipping()).shipLog(options, terminal, ports));
  addExamples(shipping, [['customshouse audit ship', 'before the machine is removed']]);
}

interface ExportWords {
  readonly format: 'jsonl' | 'csv';
  readonly pack?: string;
  readonly framework?: string;
  readonly json?: true;
  readonly since?: string;
  readonly until?: string;
  readonly last?: string;
  readonly agent?: string;
  readonly tenant?: string;
  readonly session?: string;
  readonly decision?: string;
  readonly policy?: string;
  readonly dataTag?: string;
  readonly cursor?: string;
  readonly config?: string;
}

function defineExport(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const exporting = command
    .command('export')
    .summary('write any range of events as JSON lines or CSV, or an evidence pack')
    .description(
      'Write all events that match every filter to standard output, oldest first. Memory stays bounded for any number of events. Standard error shows the progress and the cursor to continue from. With --pack, write a signed archive instead that proves the events of a window: `customshouse audit verify` checks it on any machine. A pack takes --since, --until, --last (default 90d), --tenant and --framework.',
    )
    .option('--pack <file>', 'write an evidence pack (`.tar.gz`) to this file')
    .option('--framework <id>', 'include the compliance report for a framework in the pack (`hipaa`)')
    .addOption(new Option('--format <format>', 'of the output').choices(['jsonl', 'csv']).default('jsonl'))
    .option('--since <time>', 'the beginning: ISO 8601, or a duration before now (7d)')
    .option('--until <time>', 'the end: ISO 8601, or a duration before now')
    .option('--last <duration>', 'instead of --since and --until')
    .option('--agent <id>', 'the agent')
    .option('--tenant <id>', 'the tenant')
    .option('--session <id>', 'the session')
    .addOption(new Option('--decision <decision>', 'what was decided').choices(DECISIONS))
    .option('--policy <name>', 'the rule that decided')
    .option('--data-tag <tag>', 'a tag or one of its descendants')
    .option('--cursor <cursor>', 'continue an export that stopped')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((words: ExportWords) => runExport(words, terminal, ports));
  addExamples(exporting, [
    ['customshouse audit export --last 30d --format csv > events.csv', 'for a spreadsheet'],
    ['customshouse audit export --since 2026-10-01 --until 2026-11-01 > october.jsonl', 'a month'],
    ['customshouse audit export --pack evidence.tar.gz --last 90d', 'proof for an auditor'],
  ]);
}

async function runExport(words: ExportWords, terminal: Terminal, ports: CommandPorts): Promise<void> {
  if (words.pack !== undefined) {
    refuseFilters(words);
    const { makeEvidencePack } = await ports.loadPacks();
    return makeEvidencePack({ ...words, pack: words.pack }, terminal, ports);
  }
  if (words.framework !== undefined)
    throw new CommandFailure(EXIT.usage, 'invalid_request', '`--framework` is for an evidence pack.', {
      hint: 'Add `--pack FILE`.',
    });
  const { format, cursor = null, config, ...rest } = words;
  const { exportEvents, readJournalPages, readQueryPages } = await import('../audit-export.ts');
  const named = {
    agent_id: rest.agent,
    tenant_id: rest.tenant,
    session_id: rest.session,
    decision: rest.decision,
    policy_name: rest.policy,
    data_tag: rest.dataTag,
    ...(await getRange(rest)),
  };
  const filter = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  const loaded = await loadCliConfig(terminal, config, 'leave');
  const exportsActions = loaded.audit.export_actions;
  const readPages =
    loaded.audit.index === 'off'
      ? readJournalPages(await ports.openRuntime(loaded))
      : readQueryPages(terminal, config);
  const count = await exportEvents(
    { format, filter, cursor, readPages, exports_actions: exportsActions },
    terminal,
  );
  printNotice(terminal, `${formatCount(count, 'event')} exported.`);
}

const PACK_OPTIONS = ['pack', 'framework', 'since', 'until', 'last', 'tenant', 'config', 'json', 'format'];

/** A pack with fewer events would not prove that none is missing. */
function refuseFilters(words: ExportWords): void {
  const wrong = Object.keys(words).find((name) => !PACK_OPTIONS.includes(name));
  if (wrong === undefined && words.format === 'jsonl') return;
  const option = `--${(wrong ?? 'format').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new CommandFailure(EXIT.usage, 'invalid_request', `\`${option}\` cannot be used with --pack.`, {
    hint: 'A pack holds all events of a window, or of one tenant: use --since, --until, --last and --tenant.',
  });
}

/** Resolves relative times once, so that all pages have the same range. Without an end, the range ends now. */
async function getRange({ since, until, last }: Pick<ExportWords, 'since' | 'until' | 'last'>) {
  const { parseFilter } = await import('../../../runtime/audit/filter.ts');
  const given = Object.entries({ since, until, last }).filter(([, value]) => value !== undefined);
  const nowMs = Date.now();
  const { since_ms, until_ms } = parseFilter(Object.fromEntries(given), nowMs);
  return {
    since: since_ms === null ? undefined : new Date(since_ms).toISOString(),
    until: new Date(until_ms ?? nowMs).toISOString(),
  };
}

/** Verifies a pack, or the journal if no pack is named. */
async function runVerification(
  pack: string | undefined,
  options: VerifyOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  if (pack?.startsWith('s3://') === true) {
    const { verifyShippedLog } = await ports.loadShipping();
    return verifyShippedLog(pack, options, terminal);
  }
  if (pack === undefined && options.publicKey === undefined) return verifyFolder(options, terminal);
  if (pack === undefined)
    throw new CommandFailure(EXIT.usage, 'invalid_request', '`--public-key` is for an evidence pack.', {
      hint: 'Name the pack, or use `--trusted-key` for a journal.',
    });
  const { verifyEvidencePack } = await ports.loadPacks();
  await verifyEvidencePack(pack, options, terminal);
}

async function verifyFolder(options: VerifyOptions, terminal: Terminal): Promise<void> {
  const { loadPublicKeys, verifyJournal } = await import('../../../runtime/audit/index.ts');
  const places = await getPlaces(options, terminal);
  const keys = options.keys === undefined ? places.keys : resolve(terminal.cwd, options.keys);
  // Read before the journal, because the journal only grows.
  const knownHeads = await readRememberedHeads(options, places.index, terminal);
  const report = await verifyJournal({
    dir: places.journal,
    public_keys: await loadPublicKeys(keys),
    trusted_key_id: options.trustedKey ?? null,
    known_heads: knownHeads,
    is_partial: options.partial ?? false,
  });
  if (!options.json) return printVerifyReport(report, terminal);
  printJson(terminal, report);
  setVerifyExit(report, terminal);
}

interface Places {
  readonly journal: string;
  readonly keys: string;
  readonly index: string;
}

async function getPlaces(options: VerifyOptions, terminal: Terminal): Promise<Places> {
  const { buildStatePaths } = await import('../../../server/state-dir.ts');
  const dir =
    options.dir === undefined
      ? (await loadCliConfig(terminal, options.config, 'leave')).state_dir
      : resolve(terminal.cwd, options.dir);
  const inside = buildStatePaths(dir);
  if (await isThere(inside.journal)) return inside;
  if (options.dir !== undefined && (await isThere(dir)))
    return { ...buildStatePaths(dirname(dir)), journal: dir };
  throw new CommandFailure(EXIT.usage, 'not_found', `There is no journal in \`${dir}\`.`, {
    hint: 'Name its folder with --dir, or the configuration that it belongs to with --config.',
  });
}

/** Returns the last record of each chain that the index has seen, so that a truncated journal is detected. */
async function readRememberedHeads(
  options: VerifyOptions,
  path: string,
  terminal: Terminal,
): Promise<ReadonlyMap<string, ChainHead>> {
  const { indexHeads, openIndex } = await import('../../../runtime/audit/index.ts');
  try {
    const address = options.dir === undefined ? await readConfiguredIndex(options, terminal) : { path };
    if (address === null || ('path' in address && !(await isThere(address.path)))) return new Map();
    const opened = await openIndex({ ...address, read_only: true });
    return await indexHeads(opened).finally(opened.close);
  } catch {
    printNotice(
      terminal,
      'warning: The index cannot be read; the journal is checked without what it remembers.',
    );
    return new Map();
  }
}

/** Returns the address of the index that the configuration names. Only that of a database needs a secret. */
async function readConfiguredIndex(options: VerifyOptions, terminal: Terminal) {
  const { readIndexAddress } = await import('../../../server/index-address.ts');
  const config = await loadCliConfig(terminal, options.config, 'leave');
  if (config.audit.index !== 'postgres') return readIndexAddress(config);
  return readIndexAddress(await loadCliConfig(terminal, options.config));
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
