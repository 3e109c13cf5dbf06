import { memoize } from '../../../memoize.ts';
import { isStartupPath, isTakeoverPath } from '../../facts/command-paths.ts';
import { hasFlag, isHarmlessCall, joinWords, listOperands } from '../../shell/options.ts';
import { findInput } from '../../shell/output.ts';
import type { Command } from '../../shell/syntax.ts';
import { listPatchOperations } from '../patch-files.ts';
import type { CommandRule } from './rule.ts';

/** Rules for persistence: files, tasks and services that run something later. */
export const persistenceRules: readonly CommandRule[] = [
  {
    id: 'persistence.startup_file',
    tag: 'dangerous.persistence',
    severity: 'high',
    programs: '*',
    description: 'Writes to a file that decides what runs later, who may log in, or what is trusted.',
    safer: 'echo hello >> notes.txt',
    saw: (command) =>
      writtenPaths(command).some(isStartupPath) ||
      (command.name === 'ssh-copy-id' && command.words.length > 0),
    hits: [
      'echo x >> ~/.bashrc',
      'cat > /etc/systemd/system/a.service <<EOF\nx\nEOF',
      'echo k >> ~/.ssh/authorized_keys',
      'cp a /etc/cron.d/a',
      "sed -i '1s/^/x/' /etc/pam.d/su",
      'tee -a /etc/crontab',
    ],
    misses: [
      'cat ~/.bashrc',
      'grep x /etc/crontab',
      'echo hello > out.txt',
      "sed -n '1p' /etc/pam.d/su",
      'cp /etc/hosts .',
    ],
  },
  {
    id: 'persistence.takeover_file',
    tag: 'dangerous.persistence',
    severity: 'critical',
    programs: '*',
    description:
      'Writes to the file of accounts, of rights, of trusted keys or of libraries that all programs load.',
    safer: 'cat notes.txt',
    saw: (command) => writtenPaths(command).some(isTakeoverPath),
    hits: [
      "sudo sh -c 'echo /tmp/a.so > /etc/ld.so.preload'",
      'echo "x ALL=(ALL) NOPASSWD:ALL" >> /etc/sudoers',
      'echo "x::0:0::/:/bin/sh" >> /etc/passwd',
    ],
    misses: ['cat /etc/sudoers.dist', 'ls /etc/sudoers.d', 'echo sudoers'],
  },
  {
    id: 'persistence.schedule',
    tag: 'dangerous.persistence',
    severity: 'high',
    programs: 'crontab at batch schtasks systemd-run register-scheduledtask launchctl anacron',
    description: 'Makes something run later or again and again.',
    safer: 'crontab -l',
    saw: schedulesJob,
    hits: [
      "echo '* * * * * x' | crontab -",
      'crontab evil.txt',
      'at now + 1 minute -f /tmp/p',
      'launchctl load ~/Library/LaunchAgents/a.plist',
      'schtasks /create /tn a /tr b',
      'crontab -r',
    ],
    misses: ['crontab -l', 'atq', 'launchctl list', 'schtasks /query', 'crontab --help'],
  },
  {
    id: 'persistence.service',
    tag: 'dangerous.persistence',
    severity: 'medium',
    // It reads the units again and starts none.
    grade: (command) => (joinWords(command) === ' daemon-reload ' ? 'low' : 'medium'),
    programs:
      'systemctl service chkconfig update-rc.d rc-update sysrc sc new-service launchctl initctl defaults loginctl',
    description: 'Sets up, starts or changes a service that stays.',
    safer: 'systemctl status nginx',
    saw: (command) => {
      const { name } = command;
      const text = joinWords(command);
      if (name === 'systemctl')
        return / (?:enable|daemon-reload|link|edit|set-default|mask|isolate|unmask) /.test(text);
      if (name === 'sc') return /^ (?:\\\\\S+ )?(?:create|config|sdset|failure|delete) /i.test(text);
      if (name === 'launchctl')
        return / (?:load|submit|bootstrap|enable|unload|bootout|remove|disable) /.test(text);
      if (name === 'defaults')
        return / write .*(?:LoginHook|LogoutHook|loginwindow|finder|alf|SoftwareUpdate|Gatekeeper|loginitems|persistent-apps)/i.test(
          text,
        );
      if (name === 'service') return false;
      if (name === 'loginctl') return / enable-linger /.test(text);
      return name === 'new-service' || / (?:on|enable|add|defaults|\w+_enable=)/i.test(text);
    },
    hits: [
      'systemctl enable backdoor',
      'systemctl daemon-reload',
      'loginctl enable-linger ada',
      'sc create x binPath= y',
      'sudo defaults write com.apple.loginwindow LoginHook /x',
    ],
    misses: [
      'systemctl status nginx',
      'systemctl restart app',
      'sc query',
      'service nginx status',
      'defaults read',
    ],
  },
];

const WRITERS = new Set('cp mv install ln gcp copy tee touch visudo sed dd curl wget'.split(' '));

/**
 * Returns the paths that a command writes: redirections, and the targets of `cp`, `tee`, `sed -i` and similar
 * programs.
 */
const writtenPaths = memoize((command: Command): readonly string[] => {
  const { name, redirections } = command;
  const paths = redirections
    .filter(({ operator }) => operator.includes('>') && operator !== '>&')
    .map(({ target }) => target);
  if (name === 'apply_patch' || name === 'applypatch')
    for (const text of [...findInput(command), ...command.words.map((word) => word.text)])
      paths.push(...listPatchOperations(text).flatMap(({ path, kind }) => (kind === 'write' ? path : [])));
  if (!WRITERS.has(name)) return paths;
  const operands = listOperands(command).filter((text) => text.length < 400);
  if (
    name === 'cp' ||
    name === 'mv' ||
    name === 'install' ||
    name === 'ln' ||
    name === 'gcp' ||
    name === 'copy'
  )
    paths.push(operands.at(-1) ?? '');
  else if (name === 'tee' || name === 'touch' || name === 'visudo') paths.push(...operands);
  else if (name === 'sed' && command.words.some(({ text }) => /^-[a-zA-Z]*i|^--in-place/.test(text)))
    paths.push(...operands.slice(1));
  else if (name === 'dd')
    paths.push(...operands.flatMap((text) => (text.startsWith('of=') ? text.slice(3) : [])));
  else if (name === 'curl' || name === 'wget')
    paths.push(
      ...command.words.flatMap(({ text }, at) =>
        /^(?:-o|-O|--output)$/.test(text) ? (command.words[at + 1]?.text ?? []) : [],
      ),
    );
  return paths;
});

function schedulesJob(command: Command): boolean {
  const { name } = command;
  const text = joinWords(command);
  if (isHarmlessCall(command)) return false;
  if (name === 'crontab')
    return (
      !hasFlag(command, '-l', '-V') &&
      (command.words.length > 0 || command.previous !== null || command.redirections.length > 0)
    );
  if (name === 'at')
    return (
      command.words.length > 0 &&
      !hasFlag(command, '-l', '-c', '-V') &&
      (/ (?:now|\d|noon|midnight|tomorrow|teatime|-f )/.test(text) || command.previous !== null)
    );
  if (name === 'batch') return command.previous !== null;
  if (name === 'launchctl') return / (?:load|submit|bootstrap) /.test(text);
  if (name === 'schtasks') return /\/(?:create|change|delete|run)/i.test(text);
  return command.words.length > 0;
}
