import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import type { Terminal } from '../../../operations/cli-kit/terminal.ts';

/** Returns the absolute path of the folder that `--path` names. @throws CommandFailure if it does not exist */
export async function resolveFolder(path: string, { cwd }: Terminal): Promise<string> {
  const folder = resolve(cwd, path);
  if ((await stat(folder).catch(() => null))?.isDirectory()) return folder;
  throw new CommandFailure(EXIT.usage, 'folder_not_found', `\`${path}\` is no folder.`, {
    hint: 'Name the folder of the project with --path.',
  });
}
