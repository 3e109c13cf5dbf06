import { join, relative } from 'node:path';
import { addPathToError, type SettingsChange } from '../../../coding-agents/setup/apply.ts';
import {
  deleteSettingsFile,
  readSettingsFile,
  writeSettingsFile,
} from '../../../coding-agents/setup/settings-file.ts';
import { type AgentFramework, readFrameworkGuard } from '../../../operations/agent-frameworks.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatDiff, printDiff } from '../../../operations/cli-kit/diff-text.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { resolveFolder } from './resolve-folder.ts';

export interface FrameworkOptions {
  readonly path: string;
  readonly force?: true;
  readonly uninstall?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

/**
 * Writes the file that guards a framework, or deletes it. An existing file that was changed is kept unless `force` is
 * set.
 */
export async function setUpFramework(
  framework: AgentFramework,
  options: FrameworkOptions,
  terminal: Terminal,
): Promise<void> {
  const path = join(await resolveFolder(options.path, terminal), framework.file);
  const existing = await addPathToError(path, () => readSettingsFile(path));
  const text = await readFrameworkGuard(framework);
  const after = options.uninstall ? null : text;
  const isKept = existing.text !== null && existing.text !== text && !options.force;
  const does = existing.text !== after && !options.dryRun;
  if (isKept) throw buildKeptFailure(path, options, terminal);
  if (does && after === null) await addPathToError(path, () => deleteSettingsFile(existing));
  if (does && after !== null) await addPathToError(path, () => writeSettingsFile(existing, after));
  const { real_path, text: before } = existing;
  printChange(framework, { path, real_path, before, after }, does, options, terminal);
}

function buildKeptFailure(path: string, { uninstall }: FrameworkOptions, terminal: Terminal): CommandFailure {
  const name = relative(terminal.cwd, path);
  const what = uninstall ? 'is not as it was written' : 'is there and says something else';
  return new CommandFailure(EXIT.no, 'file_changed', `\`${name}\` ${what}, and was kept.`, {
    hint: uninstall ? 'Delete it by hand, or add --force.' : 'Add --force to have it written over.',
  });
}

function printChange(
  { name, label }: AgentFramework,
  change: Omit<SettingsChange, 'action'>,
  done: boolean,
  { json, dryRun, uninstall }: FrameworkOptions,
  terminal: Terminal,
): void {
  const { path, before, after } = change;
  const action =
    before === after ? 'keep' : before === null ? 'create' : after === null ? 'delete' : 'change';
  if (json) {
    const diff = action === 'keep' ? '' : formatDiff(change);
    printJson(terminal, { name, files: [{ path, action, diff, done }], done });
    return;
  }
  const file = escapeControls(relative(terminal.cwd, path) || path);
  if (action === 'keep') printLine(terminal, uninstall ? `There is no ${file}.` : 'Nothing to change.');
  else if (dryRun) printDiff(change, terminal);
  else printLine(terminal, `${{ create: 'created', change: 'changed', delete: 'deleted' }[action]}  ${file}`);
  if (uninstall || dryRun) return;
  printLine(
    terminal,
    `Its first lines show how ${label} uses it. It asks the service at $SERVICE_URL, else at http://127.0.0.1:8000:`,
  );
  printLine(terminal, `  ${terminal.name} serve`);
}
