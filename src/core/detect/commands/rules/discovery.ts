import { hasFlag, isHarmlessCall, listOperands } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import type { CommandRule } from './rule.ts';

/** Rules for exploration of a machine, as intruders do it. They are low, because each has honest uses too. */
export const discoveryRules: readonly CommandRule[] = [
  {
    id: 'discovery.connections',
    tag: 'dangerous.discovery',
    severity: 'low',
    programs:
      'netstat ss lsof sockstat arp lastlog lsmod kldstat kextstat smbstatus showmount pwpolicy ioreg system_profiler dmidecode launchctl iptables-save getcap ip dscacheutil',
    description: 'Lists connections, users, modules or the make of a machine.',
    safer: 'uname -a',
    saw: (command) => {
      const { name } = command;
      const operands = listOperands(command);
      if (isHarmlessCall(command)) return false;
      if (name === 'netstat')
        return (
          (hasFlag(command, '-a', '-p', '-S', '-r') && !hasFlag(command, '-l')) || command.words.length === 0
        );
      if (name === 'ss') return hasFlag(command, '-p') && !hasFlag(command, '-l');
      if (name === 'lsof') return hasFlag(command, '-i') && !namesPort(command);
      if (name === 'ip')
        return (
          /^(?:n|neigh\w*|tcp_metrics|r|route)$/.test(operands[0] ?? '') &&
          /^(?:show|s)$/.test(operands[1] ?? '')
        );
      if (name === 'arp') return hasFlag(command, '-a', '-n') || command.words.length === 0;
      if (name === 'launchctl') return operands[0] === 'list';
      return true;
    },
    hits: ['netstat -antp', 'lsmod', 'arp -a', 'lsof -i'],
    misses: [
      'uname -a',
      'netstat --help',
      'who am i',
      'ip addr',
      'lsof -i :3000',
      'lsof -ti:3000',
      'ss -tlnp',
    ],
  },
  {
    id: 'discovery.set_user_id',
    tag: 'dangerous.discovery',
    severity: 'medium',
    programs: 'find',
    description: 'Looks for programs that run with the rights of an administrator.',
    safer: "find . -name '*.sh'",
    saw: ({ words }) =>
      words.some(
        ({ text }, at) =>
          text === '-perm' && /^[-/](?:0?[246][0-7]?00|u[=+]s|g=s|u=s,g=s)$/.test(words[at + 1]?.text ?? ''),
      ) && words.some(({ text }) => text.startsWith('/')),
    hits: ['find / -perm -4000 -type f', 'find /usr/bin -perm -2000', 'find / -perm -u=s'],
    misses: ["find . -name '*.sh'", 'find . -perm 644', 'find src -perm -u=x'],
  },
  {
    id: 'discovery.world_writable',
    tag: 'dangerous.discovery',
    severity: 'low',
    programs: 'find',
    description: 'Looks through the whole machine for files or folders that anyone may write.',
    safer: 'find . -type f -perm 644',
    saw: ({ words }) =>
      words.some(
        ({ text }, at) =>
          text === '-perm' &&
          /^[-/](?:[go][=+]w|0?00?2|0?22?2|333|0?777|o=rwx)$/.test(words[at + 1]?.text ?? ''),
      ) && words.some(({ text }) => /^\/(?:|etc|usr|opt|home|var)\/?$/.test(text)),
    hits: ['find / -type d -perm -o+w', 'find / -xdev -perm -0002 -type f'],
    misses: ['find /tmp -type f -perm -002', 'find . -perm -222', 'find . -perm -444 -perm /222'],
  },
  {
    id: 'discovery.private_folders',
    tag: 'dangerous.discovery',
    severity: 'low',
    programs: 'ls ps pgrep grep egrep id cat less head tail awk cut',
    description:
      'Looks into the home of the administrator, for the machines of another login, or for guards that run.',
    safer: 'ls -la',
    saw: (command) => {
      const operands = listOperands(command);
      if (/^(?:cat|less|head|tail|awk|cut)$/.test(command.name))
        return operands.some((path) =>
          /(?:^~|^\$HOME|^\/root|^\/home\/[\w.-]+|^\/Users\/[\w.-]+)\/\.ssh\/known_hosts$/.test(path),
        );
      if (command.name === 'ls')
        return operands.some((path) => /^\/root(?:\/|$)|\/\.ssh(?:\/|$)|^\/proc\/\d+/.test(path));
      if (command.name === 'id')
        return command.within.some((name) => name !== '$()' && name !== 'sudo') && command.words.length === 0;
      const pattern = operands[0] ?? '';
      const isListing =
        command.name === 'pgrep' ||
        command.previous?.name === 'ps' ||
        command.previous?.name === 'systemctl' ||
        command.previous?.name === 'launchctl';
      return (
        isListing &&
        /falco|auditd|wazuh|crowdstrike|cbagent|osquery|filebeat|packetbeat|sysmon|nessus|splunk|defender|antivirus|secret|passw|token|little ?snitch|td-agent/i.test(
          pattern,
        )
      );
    },
    hits: [
      'cat ~/.ssh/known_hosts',
      'ls -la /root',
      "ps aux | grep -E 'falcond|auditd'",
      'bash -c id',
      'pgrep -l osqueryd',
    ],
    misses: ['cat a/known_hosts', 'ls -la', 'docker ps', 'docker ps -a', 'ps aux | grep node', 'id'],
  },
  {
    id: 'discovery.sandbox',
    tag: 'dangerous.discovery',
    severity: 'low',
    programs: 'grep egrep sysctl cat systemd-detect-virt csrutil dmesg curl wget',
    description: 'Asks whether the machine is a virtual one, or what its public address is.',
    safer: 'uname -a',
    saw: (command) => {
      const text = command.words
        .map((word) => word.text)
        .join(' ')
        .slice(0, 2000);
      if (command.name === 'systemd-detect-virt') return true;
      if (/^(?:curl|wget)$/.test(command.name))
        return /(?:^|[ /.])(?:ipinfo\.io|ifconfig\.me|icanhazip\.com|api\.ipify\.org|ipecho\.net|checkip\.amazonaws\.com|ident\.me|ip-api\.com)(?:$|[ /])/.test(
          text,
        );
      const places = listOperands(command).slice(1);
      const looksAtMachine =
        command.previous !== null || places.some((path) => /^\/(?:sys|proc|etc|var|dev)\b/.test(path));
      if (/grep$/.test(command.name) && !looksAtMachine) return false;
      return (
        /vmware|virtualbox|vbox|vboxsf|vmw_|hypervisor|qemu|hw\.model|hv_vendor|bios_version|sys\/class\/dmi|Oracle\|/i.test(
          text,
        ) && !/\.(?:md|txt|ts|js|py)\b/.test(text)
      );
    },
    hits: [
      'systemd-detect-virt',
      'lsmod | grep -i vboxsf',
      'curl https://ipinfo.io/',
      'cat /sys/class/dmi/id/bios_version',
    ],
    misses: ['uname -a', 'grep -r vmware docs.md', 'curl https://api.test/ip', 'sysctl -n hw.ncpu'],
  },
];

/** Returns whether `lsof -i` queries one port: `-i :3000`, `-ti:3000`, `-i tcp:3000`. */
function namesPort({ words }: Command): boolean {
  return words.some(({ text }) => /^(?:-[a-zA-Z]*i)?(?:tcp|udp|[46])?(?:@[\w.]+)?:\d/i.test(text));
}
