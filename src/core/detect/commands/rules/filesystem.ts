import { isDisk, isLogPath, isTemporary, isWholeSystemPath } from '../../facts/command-paths.ts';
import { hasFlag, isHarmlessCall, joinWords, listOperands } from '../../shell/options.ts';
import type { Command, ShellWord } from '../../shell/syntax.ts';
import {
  findLosses,
  findSearchLoss,
  getTargets,
  isMisreadPath,
  isPrecious,
  isSpared,
  SEVERITY_OF_LOSS,
} from '../deletion-loss.ts';
import type { CommandRule } from './rule.ts';

/**
 * Rules for files and disks. For deletions: the root, a home or a system folder is critical. Elsewhere a recursive
 * deletion is flagged, also in the working folder, except in folders for temporary files and for content that tools
 * create again (`node_modules`, `dist`, caches). Without `-r` it is an ordinary deletion, unless its target is a
 * system file, data, or all files of a folder.
 */
export const filesystemRules: readonly CommandRule[] = [
  {
    id: 'filesystem.delete_whole',
    tag: 'dangerous.filesystem',
    severity: 'critical',
    programs: 'rm unlink del rd rmdir remove-item ri erase srm rimraf del-cli',
    description: 'Deletes the root, a home or a system folder with all that is in it.',
    safer: 'ls -la /home/ada',
    saw: (command) => findLosses(command).has('whole'),
    hits: [
      'rm -rf /',
      'rm -fr ~',
      'sudo rm -r --no-preserve-root /',
      'rm -rf "$HOME"/*',
      'rm -rf /tmp/../etc',
    ],
    misses: ['echo "rm -rf /"', 'rm -rf /tmp/x', 'rm notes.txt', 'grep -rn "rm -rf /" docs', 'rm --help'],
  },
  {
    id: 'filesystem.delete_forced',
    tag: 'dangerous.filesystem',
    severity: 'high',
    programs: 'rm unlink srm rimraf del-cli del erase remove-item ri',
    description: 'Deletes a folder outside the working one with all that is in it, without asking.',
    safer: 'ls -la /srv/data',
    saw: (command) => findLosses(command).has('outside'),
    hits: [
      'rm -rf /var/lib/app',
      'sudo rm --recursive --force /srv/data',
      'cat list | xargs rm -rf',
      'rm -rf ../other',
    ],
    misses: ['rm -rf /tmp/cache', 'rm -rf "$TMPDIR/build"', 'rm -ri /srv/data', 'rm -rf node_modules'],
  },
  {
    id: 'filesystem.delete_tree',
    tag: 'dangerous.filesystem',
    severity: 'medium',
    grade: (command) => (findLosses(command).has('tree') ? 'medium' : 'low'),
    programs: 'rm unlink rimraf del-cli del erase remove-item ri',
    description: 'Deletes a folder in the working one with all that is in it, without asking.',
    safer: 'git clean -nd',
    saw: (command) => findLosses(command).has('tree') || findLosses(command).has('part'),
    hits: ['rm -rf src', 'cd lib && rm -rf *', 'rm -rf .', 'rm -rf *', 'rm -f -r "$TARGET"'],
    misses: [
      'rm -rf dist',
      'rm -rf dist build',
      'rm -rf target/debug',
      'cd dist && rm -rf *',
      'npx rimraf dist',
      'rm -rf ./packages/web/node_modules',
      'rm -rf',
      'rm -f out.log',
      'npm run clean:rm',
    ],
  },
  {
    id: 'filesystem.delete_file',
    tag: 'dangerous.filesystem',
    severity: 'medium',
    programs: 'rm unlink srm shred wipe del erase remove-item ri apply_patch applypatch',
    description: 'Deletes a system file, a log, a key or a data file.',
    safer: 'mv app.db app.db.old',
    saw: (command) => findLosses(command).has('file'),
    hits: ['rm /etc/hosts', 'rm -f /var/log/auth.log', 'rm users.db', 'unlink /usr/lib/libc.so'],
    misses: ['rm a.txt', 'rm -f build/out.js', 'rm /tmp/x.db', 'rm --version'],
  },
  {
    id: 'filesystem.shred',
    tag: 'dangerous.filesystem',
    severity: 'high',
    programs: 'shred wipe srm wipefs blkdiscard sdelete sdelete64 cipher',
    description: 'Overwrites files or disks so that nothing can bring them back.',
    safer: 'mv secrets.txt old-secrets.txt',
    saw: (command) =>
      !isHarmlessCall(command) &&
      (command.name === 'cipher'
        ? command.words.some(({ text }) => /^\/w/i.test(text))
        : listOperands(command).length > 0),
    hits: ['shred -u -z notes.txt', 'wipefs -a /dev/sdb', 'cipher /w:C:\\'],
    misses: ['shred --help', 'man shred', 'cipher /e docs'],
  },
  {
    id: 'filesystem.find_delete',
    tag: 'dangerous.filesystem',
    severity: 'medium',
    programs: 'find fd',
    description: 'Deletes everything that a search finds, without showing it first.',
    safer: "find . -name '*.tmp' -print",
    grade: (command) => SEVERITY_OF_LOSS[findSearchLoss(command) ?? 'part'],
    saw: (command) => hasWord(command, '-delete') && findSearchLoss(command) !== null,
    hits: ["find . -name '*.log' -delete", 'find /data -type f -delete', 'find ~ -delete'],
    misses: [
      "find . -name '*.rm'",
      "find . -name '*.o' -exec rm {} \\;",
      'echo "find . -delete"',
      'cat find -delete',
      "find . -name '*.pyc' -delete",
      'find . -name node_modules -exec rm -rf {} +',
      'find dist -type f -delete',
    ],
  },
  {
    id: 'filesystem.disk_write',
    tag: 'dangerous.filesystem',
    severity: 'critical',
    programs: 'dd',
    description: 'Writes over a disk, a partition or a log as raw bytes.',
    safer: 'dd if=/dev/sda of=backup.img bs=4M',
    saw: (command) =>
      command.words.some(
        ({ text }) => text.startsWith('of=') && (isDisk(text.slice(3)) || isLogPath(text.slice(3))),
      ),
    hits: ['dd if=/dev/zero of=/dev/sda bs=1M', 'sudo dd of=/dev/nvme0n1 if=x.iso'],
    misses: ['dd if=/dev/sda of=disk.img', 'tldr dd', 'dd if=/dev/zero of=blank.img count=1'],
  },
  {
    id: 'filesystem.format',
    tag: 'dangerous.filesystem',
    severity: 'critical',
    programs: '*',
    description: 'Makes a new file system or partition table, which loses what was there.',
    safer: 'lsblk -f',
    saw: ({ name, words }) =>
      (/^(?:mkfs(?:\.\w+)?|mke2fs|mkswap|newfs|format)$/.test(name) &&
        words.some(({ text }) => isDisk(text) || /^[a-z]:$/i.test(text))) ||
      /^(?:format-volume|clear-disk|initialize-disk)$/.test(name),
    hits: [
      'mkfs.ext4 /dev/sdb1',
      'sudo mkfs -t xfs /dev/vdb',
      'format d: /q',
      'Clear-Disk -Number 1 -RemoveData',
    ],
    misses: ['printf "mkfs.ext4 /dev/sda"', 'mkfs.ext4 disk.img', 'npm run format', 'format code'],
  },
  {
    id: 'filesystem.partition',
    tag: 'dangerous.filesystem',
    severity: 'high',
    programs:
      'fdisk sfdisk gdisk sgdisk parted cfdisk diskpart diskutil lvremove vgremove pvremove zpool zfs cryptsetup mdadm hdparm nvme',
    description: 'Changes partitions, volumes or pools of a disk.',
    safer: 'fdisk -l',
    saw: (command) =>
      !isHarmlessCall(command) &&
      !hasFlag(command, '-l', '--list') &&
      (/^(?:lv|vg|pv)remove$|^diskpart$/.test(command.name) ||
        command.words.some(({ text }) =>
          /^(?:mklabel|mkpart|rm|erase\w*|destroy|luksFormat|luksErase|--zap-all|-Z|--zero-superblock|reformat|partitionDisk|--security-erase(?:-enhanced)?|sanitize|format)$/i.test(
            text,
          ),
        ) ||
        (/fdisk$/.test(command.name) && listOperands(command).some(isDisk))),
    hits: [
      'parted /dev/sda rm 1',
      'lvremove vg0/data',
      'zpool destroy tank',
      'diskutil eraseDisk JHFS+ X disk2',
    ],
    misses: ['fdisk -l', 'zpool status', 'parted --version', 'diskutil list'],
  },
  {
    id: 'filesystem.truncate',
    tag: 'dangerous.filesystem',
    severity: 'medium',
    programs: 'truncate',
    description: 'Empties a file.',
    safer: 'cp app.log app.log.1',
    saw: (command) => /(?:^| )(?:-s ?|--size[= ])0(?: |$)/.test(joinWords(command)),
    hits: ['truncate -s 0 app.log', 'truncate --size=0 /var/log/syslog', 'truncate -s0 x'],
    misses: ['truncate -s 10M disk.img', 'truncate --help'],
  },
  {
    id: 'filesystem.empty_file',
    tag: 'dangerous.filesystem',
    severity: 'medium',
    programs: '*',
    description: 'Empties a file of keys or data, or replaces it with an empty one.',
    safer: 'mv app.db app.db.old',
    saw: (command) => listEmptiedFiles(command).some((path) => isPrecious(path)),
    hits: [
      '> .env',
      ': > app.db',
      'cp /dev/null ~/.ssh/id_rsa',
      'cat /dev/null > .env',
      'ln -sf /dev/null .env',
    ],
    misses: [
      '> out.txt',
      ': > build/log.txt',
      'echo A=1 > .env',
      'cp .env.example .env',
      'cp /dev/null a.txt',
    ],
  },
  {
    id: 'filesystem.overwrite',
    tag: 'dangerous.filesystem',
    severity: 'critical',
    programs: '*',
    description: 'Sends output over a disk, the kernel or a boot file.',
    safer: 'ls -l /dev',
    saw: ({ redirections, name, words }) =>
      redirections.some(
        ({ operator, target }) =>
          operator.includes('>') &&
          (isDisk(target) || /^\/proc\/(?:sysrq-trigger$|sys\/)|^\/boot\//.test(target)),
      ) ||
      (name === 'tee' && words.some(({ text }) => isDisk(text))) ||
      (/^(?:cp|mv|install|ddrescue|pv)$/.test(name) && isDisk(words.at(-1)?.text ?? '')),
    hits: ['cat image > /dev/sda', 'cp image.iso /dev/sdb', 'echo b > /proc/sysrq-trigger'],
    misses: ['echo x > /dev/null', 'ls /dev/sda*', 'echo hello > out.txt'],
  },
  {
    id: 'filesystem.move_away',
    tag: 'dangerous.filesystem',
    severity: 'high',
    programs: 'mv',
    description: 'Moves files to where nothing is kept, or a system folder away.',
    safer: 'mv src old-src',
    saw: (command) => {
      const operands = listOperands(command);
      return (
        operands.at(-1) === '/dev/null' ||
        operands.slice(0, -1).some((path) => isWholeSystemPath(path) || /^(?:\.\/)?\.git\/?$/.test(path))
      );
    },
    hits: ['mv ~ /dev/null', 'mv /etc /etc.old'],
    misses: ['mv a b', 'mv old.txt new.txt'],
  },
  {
    id: 'filesystem.remove_folder',
    tag: 'dangerous.filesystem',
    severity: 'low',
    programs: 'rmdir',
    description: 'Removes a folder at the top of the file system.',
    safer: 'rmdir empty',
    saw: (command) => listOperands(command).some((path) => /^\/[\w.-]+\/?$/.test(path) && !isTemporary(path)),
    hits: ['rmdir /data'],
    misses: ['rmdir build', 'rmdir /tmp/x', 'rmdir --help'],
  },
  {
    id: 'filesystem.windows_delete',
    tag: 'dangerous.filesystem',
    severity: 'high',
    programs:
      'del erase rd rmdir remove-item ri rm clear-recyclebin trash-empty [io.directory]::delete [system.io.directory]::delete .delete $_.delete',
    description:
      'Deletes folders, file patterns or the recycle bin with all that is in them, without asking.',
    safer: 'Remove-Item notes.txt',
    saw: (command) => {
      const { name } = command;
      if (/^(?:\[|\.|\$_)/.test(name)) return true;
      if (/^(?:clear-recyclebin|trash-empty)$/.test(name)) return !isHarmlessCall(command);
      if (isMisreadPath(command)) return false;
      const text = `${joinWords(command)}${listsTree(command.previous) ? '-recurse ' : ''}`;
      const isRecursive = /(?:^| )(?:\/s|-r(?:ec\w*)?|-recurse)(?: |$)/i.test(text);
      const isQuiet = /(?:^| )(?:\/q|\/f|-fo\w*|-force|-confirm:\$false)(?: |$)/i.test(text);
      const targets = getTargets(command);
      if (targets.length > 0 && targets.every(isSpared)) return false;
      if (name === 'rm') return isQuiet && / ?-recurse/i.test(text);
      return isRecursive && (isQuiet || /^(?:remove-item|ri)$/.test(name));
    },
    hits: [
      'rd /s /q C:\\data',
      'del /s /f /q c:\\*.bak',
      'Remove-Item -Recurse -Force C:\\work',
      'Get-ChildItem C:\\work -Recurse | Remove-Item -Force',
      '[IO.Directory]::Delete("C:\\work", $true)',
      'Clear-RecycleBin -Force',
      'powershell -enc UgBJACAALQByACAALQBmAG8AIABDADoAXAB4AA==',
      "Start-Process cmd -ArgumentList '/c rd /s /q C:\\\\data'",
    ],
    misses: ['del notes.txt', 'Remove-Item a.txt', 'rd empty', 'rmdir build', 'Clear-RecycleBin -WhatIf'],
  },
];

/** Returns the files that a command replaces with nothing. */
function listEmptiedFiles(command: Command): readonly string[] {
  const { name, redirections, words } = command;
  if (redirections.length === 0 && !/^(?:cp|install|ln|clear-content|clc)$/.test(name)) return [];
  const operands = listOperands(command);
  if (/^(?:clear-content|clc)$/.test(name)) return operands;
  if (/^(?:cp|install|ln)$/.test(name)) return operands[0] === '/dev/null' ? operands.slice(1) : [];
  const isSilent = /^(?:|:|true)$/.test(name) || (/^(?:echo|printf)$/.test(name) && isBlank(words));
  if (!isSilent && !(name === 'cat' && operands.every((path) => path === '/dev/null'))) return [];
  return redirections.flatMap(({ operator, target }) => (/^>\|?$/.test(operator) ? target : []));
}

function isBlank(words: readonly ShellWord[]): boolean {
  return words.every(({ text }) => text.trim() === '' || /^-[neE]+$/.test(text));
}

/** Returns whether a pipe carries all files below a folder. */
function listsTree(source: Command | null): boolean {
  return (
    source !== null &&
    /^(?:get-childitem|gci|dir|ls)$/.test(source.name) &&
    source.words.some(({ text }) => /^-r(?:ec\w*)?$/i.test(text))
  );
}

function hasWord({ words }: Command, text: string): boolean {
  return words.some((word) => word.text === text && !word.is_quoted);
}
