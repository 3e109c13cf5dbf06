import { resolve } from 'node:path';
import type { Command } from 'commander';
import { EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { getPackageVersion } from '../../../platform/version.ts';
import { loadCliConfig } from '../load-cli-config.ts';

interface BackupOptions {
  readonly config?: string;
  readonly json?: true;
}

export function defineBackup(command: Command, terminal: Terminal): void {
  command
    .description(
      'Copy the state folder while the service runs: the audit log, keys, tokens, policies, and the store if it is SQLite. All that was acknowledged before the start is in the copy. It has secrets, and is readable by its owner only.',
    )
    .argument('<folder>', 'a new or an empty folder')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((folder: string, options: BackupOptions) => runBackup(folder, options, terminal));
  addExamples(command, [['customshouse backup /backup/2026-11-28', '']]);
}

async function runBackup(folder: string, options: BackupOptions, terminal: Terminal): Promise<void> {
  const config = await loadCliConfig(terminal, options.config, 'leave');
  const { makeBackup } = await import('../../../server/backup.ts');
  const target = resolve(terminal.cwd, folder);
  const manifest = await makeBackup(config, getPackageVersion(), target);
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const { version, started_at, store, files } = manifest;
  if (options.json)
    printJson(terminal, { folder: target, version, started_at, store, files: files.length, bytes });
  else {
    printLine(terminal, `backed up  ${formatCount(files.length, 'file')}, ${bytes} bytes, of ${started_at}`);
    if (store === 'postgres') printLine(terminal, POSTGRES_BACKUP);
  }
}

const POSTGRES_BACKUP =
  'The store is in PostgreSQL. Back it up now, after this copy: pg_dump --format=custom --file=store.dump DATABASE';

export function defineRestore(command: Command, terminal: Terminal): void {
  command
    .description(
      'Restore a backup as the state of a service that does not run, and verify its audit log. Checks each file before it writes one, and overwrites nothing. Ends with 1 if the audit log is broken.',
    )
    .argument('<folder>', 'the backup')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((folder: string, options: BackupOptions) => runRestore(folder, options, terminal));
  addExamples(command, [
    ['customshouse restore /backup/2026-11-28', 'into the state folder of ./service.yaml'],
    ['customshouse restore /backup/2026-11-28 --config /etc/customshouse/service.yaml', ''],
  ]);
}

async function runRestore(folder: string, options: BackupOptions, terminal: Terminal): Promise<void> {
  const config = await loadCliConfig(terminal, options.config, 'leave');
  const { restoreBackup } = await import('../../../server/backup.ts');
  const { manifest, audit } = await restoreBackup(resolve(terminal.cwd, folder), config);
  if (!audit.intact) terminal.exit_code = audit.broken === null ? EXIT.unknown : EXIT.no;
  const { version, started_at, store } = manifest;
  const events = audit.writers.reduce((sum, writer) => sum + writer.events, 0);
  const { intact, broken } = audit;
  if (options.json) {
    printJson(terminal, { state_dir: config.state_dir, version, started_at, store, intact, events, broken });
    return;
  }
  printLine(
    terminal,
    `restored  the state of ${started_at}, version ${escapeControls(version)}, in ${config.state_dir}`,
  );
  printLine(terminal, `${describeAudit(audit)}  ${formatCount(events, 'event')}`);
  if (store === 'postgres') printLine(terminal, POSTGRES_RESTORE);
  printLine(terminal, `Start it with \`${terminal.name} serve\`.`);
}

function describeAudit({ intact, broken }: { readonly intact: boolean; readonly broken: unknown }): string {
  if (intact) return 'intact';
  return broken === null ? 'unknown' : 'broken';
}

const POSTGRES_RESTORE =
  'The store is in PostgreSQL. Before the start: pg_restore --dbname=DATABASE store.dump, into an empty database.';
