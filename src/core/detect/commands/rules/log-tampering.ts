import { isLogPath } from '../../facts/command-paths.ts';
import { hasFlag, isHarmlessCall, joinWords, listOperands } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import type { CommandRule } from './rule.ts';

/** Rules for hiding traces: logs, histories and times. */
export const logTamperingRules: readonly CommandRule[] = [
  {
    id: 'log_tampering.wipe',
    tag: 'dangerous.log_tampering',
    severity: 'high',
    programs: '*',
    description: 'Empties, deletes or changes logs or the history of what was typed.',
    safer: 'tail -n 50 app.log',
    saw: wipesLogs,
    hits: [
      'history -c',
      'unset HISTFILE',
      'export HISTSIZE=0',
      '> /var/log/syslog',
      'ln -sf /dev/null ~/.bash_history',
      'rm ~/.bash_history',
      'journalctl --vacuum-time=1s',
      'auditctl -e 0',
      'truncate -s 0 /var/log/auth.log',
    ],
    misses: [
      'history',
      'tail -f /var/log/syslog',
      'export HISTSIZE=10000',
      'cat ~/notes',
      'journalctl -u app',
    ],
  },
  {
    id: 'log_tampering.times',
    tag: 'dangerous.log_tampering',
    severity: 'medium',
    programs: 'touch setfile date timedatectl timestomp',
    description: 'Gives files another time or the machine another clock, so that traces do not fit.',
    safer: 'touch notes.txt',
    saw: (command) => {
      if (isHarmlessCall(command)) return false;
      if (command.name === 'touch') return hasFlag(command, '-r', '-t', '-d', '--reference', '--date');
      if (command.name === 'date')
        return (
          hasFlag(command, '-s', '--set') ||
          listOperands(command).some((text) => /^\d{8,12}(?:\.\d\d)?$/.test(text))
        );
      return command.name === 'timedatectl'
        ? listOperands(command).some((text) => /^set-/.test(text))
        : command.words.length > 0;
    },
    hits: ['touch -r /bin/ls a', 'touch -t 197001010000.00 a', 'date -s "2001-01-01"'],
    misses: ['touch a', 'date -u', 'date +%s', 'touch .keep'],
  },
];

function wipesLogs(command: Command): boolean {
  const { name, assignments, words, redirections } = command;
  if (
    redirections.some(
      ({ operator, target }) =>
        (operator === '>' || operator === '>|' || operator === '&>') && isLogPath(target),
    )
  )
    return true;
  const pairs = [
    ...assignments.map((pair) => `${pair.name}=${pair.value}`),
    ...(name === 'export' || name === 'set' || name === 'declare' ? words.map(({ text }) => text) : []),
  ];
  if (
    pairs.some((text) =>
      /^(?:HISTFILE=(?:\/dev\/null)?|HIST(?:FILE)?SIZE=0|HISTCONTROL=ignore(?:both|space)|HISTIGNORE=.*)$/.test(
        text,
      ),
    )
  )
    return true;
  const operands = listOperands(command);
  if (name === 'history') return hasFlag(command, '-c', '-w', '-d', '-r', '-p');
  if (name === 'unset') return operands.some((text) => /^HIST/.test(text));
  if (name === 'set' || name === 'shopt')
    return /(?:\+o history|-uo? histappend|-u cmdhist)/.test(joinWords(command));
  if (name === 'journalctl') return words.some(({ text }) => /^--(?:vacuum|rotate|flush)/.test(text));
  if (name === 'auditctl') return hasFlag(command, '-D', '-e');
  if (name === 'dmesg') return hasFlag(command, '-c', '-C');
  if (name === 'logrotate') return hasFlag(command, '-f');
  if (name === 'log') return operands[0] === 'erase';
  if (/^(?:rm|ln|truncate|shred|unlink|srm|mv|sed|tee|chattr|cp|chmod)$/.test(name))
    return (
      (name !== 'cp' || operands[0] === '/dev/null') &&
      (name !== 'sed' || hasFlag(command, '-i')) &&
      operands.some((path) => isLogPath(path)) &&
      !isHarmlessCall(command)
    );
  return name === 'utmpdump' || name === 'logtamper';
}
