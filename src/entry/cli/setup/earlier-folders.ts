import { existsSync, lstatSync, renameSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { EARLIER_NAME, PACKAGE_NAME } from '../../../core/names.ts';
import { escapeControls, printNotice, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { getUserConfigFolder } from '../../../platform/files/user-folder.ts';

/**
 * Moves the user's folders with the earlier name: configuration, journals and reports. A link stays in the old place,
 * because other projects' hooks name files there. A folder stays as it is if the new one exists already.
 */
export function moveEarlierFolders(terminal: Terminal): void {
  const { env } = terminal;
  const home = env.HOME || homedir();
  const state = env.XDG_STATE_HOME ?? '';
  const bases = [
    dirname(getUserConfigFolder(env, home)),
    isAbsolute(state) ? state : join(home, '.local', 'state'),
  ];
  for (const base of bases) {
    const [from, to] = [join(base, EARLIER_NAME), join(base, PACKAGE_NAME)];
    if (!lstatSync(from, { throwIfNoEntry: false })?.isDirectory()) continue;
    const shown = escapeControls(from);
    if (existsSync(to)) {
      printNotice(terminal, `\`${shown}\` is not used any more: \`${escapeControls(to)}\` is there, too.`);
      continue;
    }
    renameSync(from, to);
    symlinkSync(PACKAGE_NAME, from, 'dir');
    printNotice(terminal, `\`${shown}\`, of the earlier name, was moved to \`${escapeControls(to)}\`.`);
  }
}
