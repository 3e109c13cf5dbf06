import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandFailure, EXIT } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** The folder that `--path` names, by its whole path. @throws CommandFailure where there is none */
export async function resolveFolder(path: string, { cwd }: Terminal): Promise<string> {
  const folder = resolve(cwd, path);
  if ((await stat(folder).catch(() => null))?.isDirectory()) return folder;
  throw new CommandFailure(EXIT.usage, 'folder_not_found', `\`${path}\` is no folder.`, {
    hint: 'Name the folder of the project with --path.',
  });
}
