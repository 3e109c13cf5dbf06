import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { DECISIONS } from '../../../core/types/index.ts';
import type { VerifyReport } from '../../../runtime/audit/index.ts';
import type { ChainHead } from '../../../runtime/audit/journal-record.ts';
import { CommandFailure, EXIT } from '../command-failure.ts';
import { formatCount } from '../format-table.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../options.ts';
import { escapeControls, paint, printJson, printLine, printNotice, type Terminal } from '../terminal.ts';

interface VerifyOptions {
  readonly dir?: string;
  readonly keys?: string;
  readonly trustedKey?: string;
  readonly config?: string;
  readonly json?: true;
}

export function defineAudit(command: Command, terminal: Terminal): void {
  const verify = command
    .command('verify')
    .summary('check every record of the journal')
    .description(
      'Check every record of the journal: its hash, its place in the chain, and the signatures on checkpoints. Needs only the files and the public keys, so a copy can be checked anywhere. Ends with 1 at the first fault.',
    )
    .option('--dir <folder>', 'a state folder or a journal, or a copy of one (default: the one in use)')
    .option('--keys <folder>', 'folder of the public keys (default: `keys` next to the journal)')
    .option('--trusted-key <id>', 'trust only this key, and keys that it endorsed')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: VerifyOptions) => verifyFolder(options, terminal));
  addExamples(verify, [
    ['service audit verify', 'the journal in use'],
    ['service audit verify --dir /backup/state --json', 'a copy, for a program'],
  ]);
  defineExport(command, terminal);
  addExamples(command, [
    ['service audit verify', ''],
    ['service audit export --since 2026-10-01 --until 2026-11-01 > october.jsonl', 'a month'],
  ]);
}

interface ExportWords {
  readonly format: 'jsonl' | 'csv';
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

function defineExport(command: Command, terminal: Terminal): void {
  const exporting = command
    .command('export')
    .summary('write any range of events as JSON lines or CSV')
    .description(
      'Write all events that match every filter to standard output, oldest first. Memory stays bounded for any number of events. Standard error shows the progress and the cursor to continue from.',
    )
    .addOption(new Option('--format <format>', 'of the output').choices(['jsonl', 'csv']).default('jsonl'))
    .option('--since <time>', 'not before: ISO 8601, or a duration before now (7d)')
    .option('--until <time>', 'not after')
    .option('--last <duration>', 'instead of --since and --until')
    .option('--agent <id>', 'the agent')
    .option('--tenant <id>', 'the tenant')
    .option('--session <id>', 'the session')
    .addOption(new Option('--decision <decision>', 'what was decided').choices(DECISIONS))
    .option('--policy <name>', 'the rule that decided')
    .option('--data-tag <tag>', 'a tag or one of its descendants')
    .option('--cursor <cursor>', 'go on where an export stopped')
    .addOption(buildConfigOption())
    .action((words: ExportWords) => runExport(words, terminal));
  addExamples(exporting, [
    ['service audit export --last 30d --format csv > events.csv', 'for a spreadsheet'],
    ['service audit export --since 2026-10-01 --until 2026-11-01 > october.jsonl', 'a month'],
  ]);
}

async function runExport(words: ExportWords, terminal: Terminal): Promise<void> {
  const { format, cursor = null, config, ...rest } = words;
  const { exportEvents } = await import('../audit-export.ts');
  const named = {
    agent_id: rest.agent,
    tenant_id: rest.tenant,
    session_id: rest.session,
    decision: rest.decision,
    policy_name: rest.policy,
    data_tag: rest.dataTag,
    ...(await rangeOf(rest)),
  };
  const filter = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  const count = await exportEvents({ format, filter, cursor, config }, terminal);
  printNotice(terminal, `${formatCount(count, 'event')} exported.`);
}

/** Resolves relative times once, so that all pages have the same range. Without an end, the range ends now. */
async function rangeOf({ since, until, last }: Pick<ExportWords, 'since' | 'until' | 'last'>) {
  const { parseFilter } = await import('../../../runtime/audit/filter.ts');
  const given = Object.entries({ since, until, last }).filter(([, value]) => value !== undefined);
  const now_ms = Date.now();
  const { since_ms, until_ms } = parseFilter(Object.fromEntries(given), now_ms);
  return {
    since: since_ms === null ? undefined : new Date(since_ms).toISOString(),
    until: new Date(until_ms ?? now_ms).toISOString(),
  };
}

async function verifyFolder(options: VerifyOptions, terminal: Terminal): Promise<void> {
  const { loadPublicKeys, verifyJournal } = await import('../../../runtime/audit/index.ts');
  const places = await placesOf(options, terminal);
  const keys = options.keys === undefined ? places.keys : resolve(terminal.cwd, options.keys);
  // Read before the journal, because the journal only grows.
  const known_heads = await rememberedHeads(places.index, terminal);
  const report = await verifyJournal({
    dir: places.journal,
    public_keys: await loadPublicKeys(keys),
    trusted_key_id: options.trustedKey ?? null,
    known_heads,
  });
  if (options.json) printJson(terminal, report);
  else tell(report, terminal);
  if (!report.intact) terminal.exit_code = EXIT.no;
}

interface Places {
  readonly journal: string;
  readonly keys: string;
  readonly index: string;
}

async function placesOf(options: VerifyOptions, terminal: Terminal): Promise<Places> {
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
async function rememberedHeads(index: string, terminal: Terminal): Promise<ReadonlyMap<string, ChainHead>> {
  if (!(await isThere(index))) return new Map();
  const { indexHeads, openIndex } = await import('../../../runtime/audit/index.ts');
  try {
    const opened = await openIndex({ path: index, read_only: true });
    return await indexHeads(opened).finally(opened.close);
  } catch {
    printNotice(
      terminal,
      'warning: The index cannot be read; the journal is checked without what it remembers.',
    );
    return new Map();
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function tell(report: VerifyReport, terminal: Terminal): void {
  for (const warning of report.warnings) printNotice(terminal, `warning: ${escapeControls(warning)}`);
  if (report.broken !== null) {
    const { writer, file, line, seq, reason } = report.broken;
    const place = `${file ?? writer}${line === null ? '' : `, line ${line}`}`;
    printLine(
      terminal,
      `${paint(terminal, ['bold', 'red'], 'broken')}  ${escapeControls(place)} (record ${seq}): ${escapeControls(reason)}`,
    );
    return;
  }
  const total = report.writers.reduce((sum, { events }) => sum + events, 0);
  printLine(terminal, `${paint(terminal, ['bold', 'green'], 'intact')}  ${formatCount(total, 'event')}`);
  for (const writer of report.writers) {
    const { records, segments, checkpoints, unsigned_tail, cuts } = writer;
    const parts = [
      formatCount(records, 'record'),
      `in ${formatCount(segments, 'file')}`,
      formatCount(checkpoints, 'signed checkpoint'),
      `${unsigned_tail} since the last`,
    ];
    if (cuts > 0) parts.push(`${formatCount(cuts, 'torn line')} cut`);
    printLine(terminal, `  ${escapeControls(writer.writer)}: ${parts.join(', ')}`);
  }
}
